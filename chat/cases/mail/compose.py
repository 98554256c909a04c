"""Writes the mails to students: plain text with a small HTML alternative that loads nothing."""

import re
from email.utils import formataddr, parseaddr
from uuid import uuid4

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from chat.cases.mail import signing
from chat.models import Case, CaseMail, CaseMessage
from knowledge.rendering import render_markdown

#: Earlier mails that a mail names, so that mail programs show them together.
REFERENCES = 20
MAIL_ID = re.compile(r"<[^<>\s]{1,240}>")
#: By which we know our own mails, should one come back.
OWN_HEADER = "X-MarcelCMS-Case"


def compose(mail: CaseMail, connection: BaseEmailBackend) -> EmailMultiAlternatives:
    """Return the mail, in the language of its case. Raise ValueError if its address is none."""
    with translation.override(mail.address.case.language):
        return _confirmation(mail, connection) if mail.kind == CaseMail.Kind.CONFIRM else _reply(mail, connection)


def office_name(case: Case) -> str:
    """Return what a student calls who answers, in one line."""
    name = case.office.name_in(case.language) if case.office else case.assistant.name if case.assistant else ""
    return " ".join(name.split())


def _confirmation(mail: CaseMail, connection: BaseEmailBackend) -> EmailMultiAlternatives:
    before = [
        _("Somebody asked for replies of %(office)s to be sent to this e-mail address too.")
        % {"office": office_name(mail.address.case)},
        _("If that was you, open this page within three days and press “Confirm address”:"),
    ]
    link = _link("case-mail-confirm", signing.CONFIRM, mail)
    after = [_("If not, do nothing: no other e-mail is sent here, and the address is deleted with the question.")]
    return _message(
        mail,
        connection,
        subject=_("Please confirm your e-mail address"),
        text="\n\n".join([*before, link, *after]),
        context={"before": before, "link": link, "after": after},
        headers={},
    )


def _reply(mail: CaseMail, connection: BaseEmailBackend) -> EmailMultiAlternatives:
    case, takes_replies = mail.address.case, signing.takes_replies()
    link = _link("case-mail-stop", signing.STOP, mail)
    after = [_how_to_answer(takes_replies)]
    if case.state == Case.State.CLOSED:
        said = _("%(office)s has closed your question. If you write again, it is open again.")
        after.insert(0, said % {"office": office_name(case)})
    stop = _("No more e-mails about this question:")
    words = mail.message.text if mail.message else ""
    headers = {
        "List-Unsubscribe": f"<{link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }
    if earlier := _earlier(mail):
        headers |= {"In-Reply-To": earlier[-1], "References": " ".join(earlier)}
    before = [_("%(office)s writes about your question:") % {"office": office_name(case)}] if words else []
    return _message(
        mail,
        connection,
        subject=_("Your question to %(office)s (#%(number)d)") % {"office": office_name(case), "number": case.pk},
        text="\n\n".join([*before, *([words] if words else []), "-- \n" + "\n".join([*after, f"{stop} {link}"])]),
        context={
            "before": before,
            "words": render_markdown(words, breaks=True),
            "after": after,
            "stop": stop,
            "link": link,
        },
        headers=headers,
    )


def _how_to_answer(takes_replies: bool) -> str:
    if takes_replies:
        return _("To answer, reply to this e-mail or write in the chat. Attachments are not taken.")
    return _("To answer, write in the chat where you asked. Replies to this e-mail are not read.")


def _earlier(mail: CaseMail) -> list[str]:
    """Return the Message-IDs of the case's mails before this one, in the order of time."""
    case = mail.address.case
    sent = mail.address.mails.filter(state=CaseMail.State.SENT, pk__lt=mail.pk).exclude(kind=CaseMail.Kind.CONFIRM)
    taken = CaseMessage.objects.filter(case=case).exclude(mail_id="").values_list("created_at", "mail_id")
    dated = [(at, signing.message_id("mail", pk)) for at, pk in sent.values_list("sent_at", "pk")]
    dated += [(at, found) for at, found in taken if MAIL_ID.fullmatch(found)]
    return [found for _at, found in sorted(dated)][-REFERENCES:]


def _link(page: str, purpose: str, mail: CaseMail) -> str:
    path = reverse(page, args=[signing.sign_link(purpose, mail.address_id)])
    return f"{settings.PUBLIC_URL}{path}"


def _message(
    mail: CaseMail,
    connection: BaseEmailBackend,
    *,
    subject: str,
    text: str,
    context: dict[str, object],
    headers: dict[str, str],
) -> EmailMultiAlternatives:
    case = mail.address.case
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    takes_replies = signing.takes_replies()
    if takes_replies and mail.kind != CaseMail.Kind.CONFIRM:
        headers["Reply-To"] = signing.reply_address(case.pk)
    message = EmailMultiAlternatives(
        subject,
        f"{text}\n",
        # Where it comes back to, which tells whose address cannot be reached.
        signing.bounce_address(mail.address_id) if takes_replies else sender,
        [mail.address.email],
        connection=connection,
        headers={
            "From": formataddr((office_name(case), sender)),
            "Message-ID": signing.message_id("mail", mail.pk),
            "Auto-Submitted": "auto-generated",
            OWN_HEADER: "1",
            **headers,
        },
    )
    html = render_to_string("chat/case_mail.html", {**context, "language": case.language, "title": subject})
    message.attach_alternative(html, "text/html")
    return message


def compose_answer(
    *, to: str, language: str, said: str, in_reply_to: str, connection: BaseEmailBackend
) -> EmailMultiAlternatives:
    """Return the answer to a mail that was not taken: `said` is why and what to do, in this language."""
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    headers = {
        "Message-ID": signing.message_id("answer", uuid4().hex),
        "Auto-Submitted": "auto-replied",
        OWN_HEADER: "1",
    }
    if MAIL_ID.fullmatch(in_reply_to):
        headers |= {"In-Reply-To": in_reply_to, "References": in_reply_to}
    with translation.override(language):
        subject = _("Your e-mail was not taken")
    return EmailMultiAlternatives(subject, f"{said}\n", sender, [to], connection=connection, headers=headers)

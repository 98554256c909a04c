"""E-mails to staff about what there is to do. They hold no word of a student: how many things, whose names, which days,
and links."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.inbox.colleagues import colleagues
from analytics.inbox.notices import describe, unread_notices, with_names
from analytics.inbox.preferences import preferences_of
from analytics.mails import address, mail_each, send
from analytics.models import Gap, Notice, Review
from chat.models import Case

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: What is assigned or commented soon after a mail to the same reader comes with the next one.
BETWEEN_MAILS = timedelta(minutes=10)
#: What is older is no news: the mail server was away over a weekend, or mails were off.
NEWS = timedelta(days=3)
#: The preference that turns off the mails of a kind of notice.
WISHES = {
    Notice.Kind.ASSIGNED: "mails_assignments",
    Notice.Kind.COMMENT: "mails_comments",
    Notice.Kind.NEW_CASE: "mails_cases",
    Notice.Kind.CASE_MESSAGE: "mails_cases",
    Notice.Kind.LATE_CASE: "mails_cases",
}
#: Items that a mail names.
NAMED = 50


def mailed_workers(wish: str) -> "QuerySet[User]":
    """Return who may be mailed: has an address, and did not switch off the `wish` of the preferences."""
    return colleagues(Gap, Review, Case).filter(_wants(wish)).exclude(email="")


def _wants(wish: str) -> Q:
    return Q(inbox_preferences=None) | Q(**{f"inbox_preferences__{wish}": True})


def mail_notices() -> int:
    """Mail everybody what they were told and have not read, several items in one mail; return how many mails."""
    now = timezone.now()
    waiting = Notice.objects.filter(mailed_at=None, read_at=None, created_at__gte=now - NEWS)
    just_mailed = Notice.objects.filter(user=OuterRef("pk"), mailed_at__gt=now - BETWEEN_MAILS)
    wanted = Q(pk__in=[])
    for kind, wish in WISHES.items():
        wanted |= Q(_wants(wish), pk__in=waiting.filter(kind=kind).values("user"))
    readers = colleagues(Gap, Review, Case).filter(wanted).exclude(email="")
    return mail_each(readers.exclude(Exists(just_mailed)), _mail_news)


def _mail_news(connection: BaseEmailBackend, reader: "User") -> bool:
    preferences = preferences_of(reader)
    kinds = [kind for kind, wish in WISHES.items() if getattr(preferences, wish)]
    unread = unread_notices(reader).filter(mailed_at=None, created_at__gte=timezone.now() - NEWS, kind__in=kinds)
    notices = with_names(unread)
    if not notices:
        return False
    lines = [*_counted(notices), ""]
    for notice in notices[:NAMED]:
        lines += [f"- {describe(notice, _name(notice))}", f"  {_page_of(notice)}"]
    if len(notices) > NAMED:
        lines += ["", _("The others are in the list:"), address("to-do", who="me")]
    is_settled = send(connection, reader, _subject(notices), lines)
    if is_settled:
        about = Q(pk__in=[])
        for item in ("gap", "review", "case"):
            about |= Q(**{f"{item}__in": [getattr(each, f"{item}_id") for each in notices]})
        newest = max(each.pk for each in notices)
        told = Notice.objects.filter(about, user=reader.pk, kind__in=kinds, mailed_at=None, pk__lte=newest)
        told.update(mailed_at=timezone.now())
    return is_settled


def _page_of(notice: Notice) -> str:
    if notice.case_id:
        return address("admin:chat_case_change", notice.case_id)
    item, screen = (notice.gap_id, "gap") if notice.gap_id else (notice.review_id, "review")
    return address(f"admin:analytics_{screen}_change", item)


def _name(notice: Notice) -> str:
    """Name what the notice is about; a topic by the name that staff gave it, because any other has students' words."""
    if notice.case:
        office = notice.case.office.name if notice.case.office else "–"
        return _("A case for %(office)s") % {"office": office}
    if notice.gap is None:
        return _("An answer to review")
    if notice.gap.named_by == Gap.NamedBy.STAFF:
        return _("The topic “%(name)s”") % {"name": notice.gap.name}
    return _("A topic")


def _subject(notices: Sequence[Notice]) -> str:
    kinds = {notice.kind for notice in notices}
    if Notice.Kind.LATE_CASE in kinds:
        return _("Students wait for a reply in MarcelCMS")
    if Notice.Kind.NEW_CASE in kinds or Notice.Kind.CASE_MESSAGE in kinds:
        return _("News of cases in MarcelCMS")
    is_assigned = Notice.Kind.ASSIGNED in kinds
    return _("Assigned to you in MarcelCMS") if is_assigned else _("New comments in MarcelCMS")


def _counted(notices: Sequence[Notice]) -> list[str]:
    """Say how much is assigned and commented, without a word of what it is about."""
    said = {
        Notice.Kind.LATE_CASE: _("Wait for too long: %(counts)s."),
        Notice.Kind.NEW_CASE: _("New: %(counts)s."),
        Notice.Kind.CASE_MESSAGE: _("The student wrote again: %(counts)s."),
        Notice.Kind.ASSIGNED: _("Assigned to you: %(counts)s."),
        Notice.Kind.COMMENT: _("Commented: %(counts)s."),
    }
    lines = []
    for kind, sentence in said.items():
        of_kind = [notice for notice in notices if notice.kind == kind]
        topics = sum(1 for notice in of_kind if notice.gap_id)
        cases = sum(1 for notice in of_kind if notice.case_id)
        answers = len(of_kind) - topics - cases
        counts = [
            ngettext("%d unanswered topic", "%d unanswered topics", topics) % topics if topics else "",
            ngettext("%d answer to review", "%d answers to review", answers) % answers if answers else "",
            ngettext("%d case", "%d cases", cases) % cases if cases else "",
        ]
        if of_kind:
            lines.append(sentence % {"counts": ", ".join(filter(None, counts))})
    return lines

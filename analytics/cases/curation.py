"""Makes a reply of use to the next student: an FAQ of it, or the question as a phrasing of one that exists."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.privacy import mask_pii
from chat.models import Case, CaseMessage
from core.access import Staff, sees_everything
from faqs.models import FAQ, FAQVersion, Phrasing
from faqs.models.faqs import MOST_ANSWER_CHARACTERS
from faqs.services import index_saved_faq
from faqs.tasks import index_faq
from faqs.versions.history import recording
from knowledge.models import Collection

MOST_QUESTION_CHARACTERS = 1000


@transaction.atomic
def draft_faq(*, case: Case, by: Staff) -> FAQ:
    """Draft an FAQ with the question and the office's last reply, names and numbers masked; return the one there is.

    Raise ValidationError if the office has not replied.
    """
    row = Case.objects.select_for_update(of=("self",), no_key=True).select_related("office", "faq").get(pk=case.pk)
    if row.faq is not None:
        return row.faq
    reply = row.messages.filter(by=CaseMessage.By.OFFICE).last()
    if reply is None:
        raise ValidationError(_("Reply first: the FAQ begins with what you wrote."))
    language = row.language
    office = row.office.name_in(language) if row.office else ""
    faq = FAQ(
        question=question_of(row),
        language=language,
        status=FAQ.Status.DRAFT,
        collection=_collection(row, by),
        answer_checked_on=timezone.localdate(),
        **{f"answer_{language}": mask_pii(reply.text)[:MOST_ANSWER_CHARACTERS], f"office_{language}": office},
    )
    faq.full_clean()
    with recording([], by=by, reason=FAQVersion.Reason.CASE) as touched:
        faq.save()
        touched.append(faq.pk)
        index_saved_faq(faq=faq)
    Case.objects.filter(pk=row.pk).update(faq=faq)
    return faq


@transaction.atomic
def add_phrasing(*, case: Case, faq: FAQ, by: Staff) -> None:
    """Add the question to an FAQ as another way to ask it, names and numbers masked. Raise ValidationError."""
    faq = FAQ.objects.select_for_update(no_key=True).get(pk=faq.pk)
    if faq.status == FAQ.Status.PUBLISHED and not by.has_perm("faqs.publish_faq"):
        raise ValidationError(_("This FAQ is published: ask somebody who may publish FAQs to add the phrasing."))
    text = question_of(case)
    if text in {faq.question, *faq.phrasings.values_list("text", flat=True)}:
        raise ValidationError(_("The FAQ has this phrasing already."))
    with recording([faq.pk], by=by, reason=FAQVersion.Reason.CASE):
        Phrasing.objects.create(faq=faq, text=text)
        faq.save(update_fields=["updated_at"])
        index_faq.delay_on_commit(faq.pk)
    Case.objects.filter(pk=case.pk, faq=None).update(faq=faq)


def question_of(case: Case) -> str:
    """Return what the student asked, without names, addresses and numbers, on one line.

    What was asked in the chat comes first: for the office a student adds who they are and what it is about.
    """
    asked = case.about.question if case.about else None
    return " ".join(mask_pii(asked.text if asked else case.question).split())[:MOST_QUESTION_CHARACTERS]


def _collection(case: Case, by: Staff) -> Collection | None:
    """Return the first of the assistant's collections that the member of staff works on."""
    own = Collection.objects.visible_to(by)
    chosen = own.filter(assistant=case.assistant_id).order_by("pk").first() if case.assistant_id else None
    return chosen or (None if sees_everything(by) else own.first())

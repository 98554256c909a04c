"""Actions of staff on FAQs: check, save, queue after commit; every change leaves a version."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from faqs.answers.changes import list_unsigned
from faqs.answers.pages import sync_pages
from faqs.duplicates import dismiss
from faqs.importexport.bulk_save import bulk_save
from faqs.importexport.files import Table
from faqs.importexport.resource import FAQResource, PlannedRow
from faqs.matching.changes import collections_of
from faqs.matching.confirmed import Confirmation, confirm, forget
from faqs.matching.refit import use_fit, wants
from faqs.models import ANSWER_FIELDS, FAQ, ConfirmedQuestion, FAQVersion, Matcher, MatcherFit, SimilarPair
from faqs.tasks import fit_matcher, index_faq, index_pending_faqs
from faqs.versions.history import Reason, recording, restore, set_phrasings, set_sources

if TYPE_CHECKING:
    from core.access import Staff

Status = FAQ.Status
#: Beyond so many, one task indexes what an import changed.
QUEUED_ONE_BY_ONE = 50


@transaction.atomic
def index_saved_faq(*, faq: FAQ) -> None:
    """Queue the indexing of an FAQ that a form saved; call it once, after its phrasings and sources are saved.

    Whoever saved it saw its documents, and the FAQ that it translates, as they are now.
    """
    now = timezone.now()
    faq.sources.update(verified_at=now)
    FAQ.objects.filter(pk=faq.pk).update(reviewed_at=now)
    _index(faq)


def _index(faq: FAQ) -> None:
    sync_pages([faq.pk])
    index_faq.delay_on_commit(faq.pk)


@transaction.atomic
def confirm_faq(*, faq: FAQ, by: "Staff | None") -> None:
    """Record that staff checked it today: it is right with its documents and its original as they are now."""
    with recording([faq.pk], by=by, reason=Reason.CHECK):
        if faq.written_answers:
            FAQ.objects.filter(pk=faq.pk).update(answer_checked_on=timezone.localdate())
        index_saved_faq(faq=faq)


@transaction.atomic
def set_faq_status(*, faqs: Iterable[FAQ], status: str, by: "Staff | None" = None, reason: str = Reason.STATUS) -> int:
    """Publish, retire or send back FAQs; matching uses the status at once. Return how many changed.

    Raise ValidationError if one to be published has neither an answer nor a document that is no draft, or an answer
    that no office signs; nothing is changed then.
    """
    changed = [faq for faq in faqs if faq.status != status]
    with recording([faq.pk for faq in changed], by=by, reason=reason):
        for faq in changed:
            if status == Status.PUBLISHED and not faq.has_answer:
                said = (
                    _("“%(faq)s” links only drafts: publish one of these documents first.")
                    if faq.sources.exists()
                    else _("“%(faq)s” has no answer yet: write one or link a document, then publish it.")
                )
                raise ValidationError(said % {"faq": faq})
            if status == Status.PUBLISHED and list_unsigned(faq):
                said = _("No office signs the answer of “%(faq)s”: write which office answers, then publish it.")
                raise ValidationError(said % {"faq": faq})
            faq.status = status
            faq.save(update_fields=["status", "updated_at"])
            index_faq.delay_on_commit(faq.pk)
        sync_pages([faq.pk for faq in changed])
    return len(changed)


@transaction.atomic
def restore_version(*, version: FAQVersion, by: "Staff | None") -> FAQ:
    """Restore an earlier version; the present one is kept as a version too. Raise ValidationError."""
    with recording([version.faq_id], by=by, reason=Reason.RESTORE):
        faq = restore(version)
        # Nobody has checked it today: neither with its documents, nor with the FAQ that it translates.
        FAQ.objects.filter(pk=faq.pk).update(reviewed_at=version.made_at)
        _index(faq)
    return faq


@transaction.atomic
def merge_faqs(*, keep: FAQ, other: FAQ, with_answer: bool, by: "Staff | None") -> FAQ:
    """Give the question, phrasings and documents of `other` to `keep`, and retire `other`.

    `with_answer` gives it the answer of `other` in staff's own words too, signed as it is, if `keep` has none.

    Raise ValidationError if they are the same FAQ, or one of them is retired.
    """
    if keep.pk == other.pk:
        raise ValidationError(_("These are one and the same FAQ."))
    locked = FAQ.objects.select_for_update(no_key=True).order_by("pk").in_bulk([keep.pk, other.pk])
    keep, other = locked[keep.pk], locked[other.pk]
    if Status.RETIRED in {keep.status, other.status}:
        raise ValidationError(_("One of the two is retired already: there is nothing to merge."))
    with recording([keep.pk, other.pk], by=by, reason=Reason.MERGE):
        own = list(keep.phrasings.values_list("text", flat=True))
        more = [other.question, *other.phrasings.values_list("text", flat=True)]
        set_phrasings(keep, [text for text in [*own, *more] if text != keep.question])
        documents = [*keep.sources.values_list("document_id", flat=True)]
        set_sources(keep, [*documents, *other.sources.values_list("document_id", flat=True)])
        if with_answer and not keep.written_answers:
            for name in ANSWER_FIELDS:
                setattr(keep, name, getattr(other, name))
        keep.save(update_fields=["updated_at", *ANSWER_FIELDS])
        other.status = Status.RETIRED
        other.save(update_fields=["status", "updated_at"])
        SimilarPair.objects.of(other.pk).filter(dismissed_at=None).delete()
        sync_pages([keep.pk, other.pk])
        index_faq.delay_on_commit(keep.pk)
        index_faq.delay_on_commit(other.pk)
    return keep


@transaction.atomic
def dismiss_pair(*, pair: SimilarPair, by: "Staff | None") -> None:
    """Record that these two are no duplicates; they are not shown as a pair again."""
    dismiss(pair, by=by.pk if by else None)


@transaction.atomic
def save_planned(*, planned: Iterable[PlannedRow], by: "Staff | None") -> tuple[list[FAQ], list[FAQ]]:
    """Save the new and the changed FAQs, all or nothing, without indexing them. Return (new, changed)."""
    rows = list(planned)
    new = [each.faq for each in rows if each.kind == "new"]
    changed = [each.faq for each in rows if each.kind == "changed"]
    with recording([faq.pk for faq in changed], by=by, reason=Reason.IMPORT) as touched:
        bulk_save(new, changed)
        touched += [faq.pk for faq in new]
        sync_pages(touched)
    return new, changed


@transaction.atomic
def import_planned(*, planned: Iterable[PlannedRow], by: "Staff | None") -> tuple[list[FAQ], list[FAQ]]:
    """Save the new and the changed FAQs and queue their indexing. Return (new, changed)."""
    new, changed = save_planned(planned=planned, by=by)
    if len(new) + len(changed) > QUEUED_ONE_BY_ONE:
        index_pending_faqs.delay_on_commit()
    else:
        for faq in (*changed, *new):
            index_faq.delay_on_commit(faq.pk)
    return new, changed


@transaction.atomic
def import_table(*, table: Table, resource: FAQResource) -> list[PlannedRow]:
    """Import a file's rows for an operator, who indexes them afterwards. Raise BadTable."""
    planned = resource.plan(table, lock=True)
    save_planned(planned=planned, by=None)
    return planned


@transaction.atomic
def confirm_questions(*, confirmations: Sequence[Confirmation], by: "Staff | None") -> list[ConfirmedQuestion]:
    """Save what questions mean, so that the next like ones are matched so."""
    questions = confirm(confirmations, by=by)
    led_to = collections_of([each.faq.pk for each in confirmations if each.faq])
    _fit_again(sorted({*led_to, *(pk for each in confirmations for pk in each.collections)}))
    return questions


def confirm_question(
    *, text: str, faq: FAQ | None, collections: Iterable[int], by: "Staff | None"
) -> ConfirmedQuestion:
    """Save that a question means this FAQ, or none in these collections (ids); the next like question is matched so."""
    (question,) = confirm_questions(confirmations=[Confirmation(text, faq, list(collections))], by=by)
    return question


@transaction.atomic
def forget_question(*, question: ConfirmedQuestion) -> None:
    """Delete a confirmed question, so that nothing is learned from it any more."""
    _fit_again(forget(question))


def _fit_again(collections: Iterable[int]) -> None:
    for collection_id in collections:
        fit_matcher.delay_on_commit(collection_id)


@transaction.atomic
def choose_matching(*, matcher: Matcher, choice: str) -> None:
    """Set how a collection's FAQs are matched, from the next question on. Raise ValidationError.

    What was brought back is no longer held then: the newest fit counts.
    """
    if choice not in Matcher.Choice.values:
        raise ValidationError(_("Choose one of the ways."))
    matcher = Matcher.objects.select_for_update(no_key=True).get(pk=matcher.pk)
    matcher.choice, matcher.is_pinned = Matcher.Choice(choice), False
    newest = matcher.fits.filter(state=MatcherFit.State.READY).first()
    matcher.fit = newest if newest and wants(matcher, newest) else None
    matcher.save(update_fields=["choice", "is_pinned", "fit"])


@transaction.atomic
def bring_back_fit(*, fit: MatcherFit) -> None:
    """Match a collection's FAQs by this fit, one that waits for staff or an earlier one. Raise ValidationError.

    An earlier one stays in use until somebody chooses another way. FAQs that it does not know are matched by their
    nearest phrasing, and what staff confirm from now on counts beside it.
    """
    if fit.learned_rank is None:
        raise ValidationError(_("This fit could not be checked, so it cannot be used."))
    use_fit(fit)

"""Services for gaps: check, save, queue after commit."""

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.gaps.suggestions import collect_phrasings
from analytics.inbox.items import lock, save
from analytics.models import Gap, GapRun
from analytics.tasks import find_gaps
from core.access import Staff, sees_everything
from faqs.models import FAQ, FAQSource, FAQVersion, Phrasing
from faqs.services import index_saved_faq
from faqs.tasks import index_faq
from faqs.versions.history import recording
from knowledge.models import Collection, Document


@transaction.atomic
def look_for_gaps(*, by: AbstractBaseUser | None = None) -> GapRun | None:
    """Start a gap run; return None if one waits or runs already."""
    run = GapRun.objects.enqueue(requested_by_id=by.pk if by else None)
    if run:
        find_gaps.delay_on_commit(run.pk)
    return run


@transaction.atomic
def rename_gap(*, gap: Gap, version: int, name: str, by: AbstractBaseUser) -> Gap:
    """Name a gap for good; return it as it is saved. Raise ValidationError, OutOfDate."""
    name = " ".join(name.split())
    if not name:
        raise ValidationError(_("Give it a name."))
    row = lock(gap, version)
    if name == row.name:
        return row
    row.name = name
    row.clean_fields(exclude=[field.name for field in row._meta.fields if field.name != "name"])
    return save(row, by=by, name=name, named_by=Gap.NamedBy.STAFF)


def is_being_filled(gap: Gap) -> bool:
    """Return whether an FAQ is meant to answer the gap."""
    return gap.faq is not None and gap.faq.status != FAQ.Status.RETIRED


@transaction.atomic
def draft_faq(*, by: Staff, gap: Gap, question: str, phrasings: Sequence[int], documents: Sequence[int]) -> FAQ:
    """Draft an FAQ with the gap's chosen phrasings (ids of its questions) and documents, best first.

    It belongs to the first document's collection, else to one of `by`'s. The gap is in work then.
    Raise ValidationError, also if the gap has an FAQ that is not retired.
    """
    gap = Gap.objects.select_for_update(of=["self"]).select_related("faq").get(pk=gap.pk)
    if is_being_filled(gap):
        raise ValidationError(_("There is an FAQ for this topic already: open that one."))
    question = " ".join(question.split())
    if not question:
        raise ValidationError(_("Write the question that the FAQ answers."))
    own = Document.objects.visible_to(by).of_university().exclude(status=Document.Status.ARCHIVED)
    there = own.select_related("collection").defer("text").in_bulk(list(documents))
    faq = FAQ(question=question, language=gap.language, status=FAQ.Status.DRAFT)
    first = next((there[pk] for pk in documents if pk in there), None)
    if first is not None:
        faq.collection = first.collection
    elif not sees_everything(by):
        faq.collection = Collection.objects.visible_to(by).first()
    faq.full_clean()
    with recording([], by=by, reason=FAQVersion.Reason.GAP) as touched:
        faq.save()
        touched.append(faq.pk)
        _add(faq, gap, phrasings)
        FAQSource.objects.bulk_create(
            FAQSource(faq=faq, document=there[pk], position=position)
            for position, pk in enumerate(pk for pk in dict.fromkeys(documents) if pk in there)
        )
        index_saved_faq(faq=faq)
    _link(gap, faq, by)
    return faq


@transaction.atomic
def add_phrasings(*, by: Staff, gap: Gap, faq: FAQ, phrasings: Sequence[int]) -> int:
    """Add the gap's chosen phrasings (ids of its questions) to an FAQ; return how many are new.

    Raise ValidationError.
    """
    faq = FAQ.objects.select_for_update(no_key=True).get(pk=faq.pk)
    gap = Gap.objects.select_for_update(no_key=True).get(pk=gap.pk)
    if faq.status == FAQ.Status.PUBLISHED and not by.has_perm("faqs.publish_faq"):
        raise ValidationError(_("This FAQ is published: ask somebody who may publish FAQs to add the phrasing."))
    with recording([faq.pk], by=by, reason=FAQVersion.Reason.GAP):
        added = _add(faq, gap, phrasings)
        if not added:
            raise ValidationError(_("Tick a phrasing that the FAQ does not have yet."))
        faq.save(update_fields=["updated_at"])
        index_faq.delay_on_commit(faq.pk)
    _link(gap, faq, by)
    return added


def _add(faq: FAQ, gap: Gap, phrasings: Sequence[int]) -> int:
    questions = gap.questions.filter(pk__in=list(phrasings)).select_related("message__answer")
    chosen = [each for question in questions.order_by("-centrality", "pk") for each in collect_phrasings([question])]
    known = {faq.question, *faq.phrasings.values_list("text", flat=True)}
    texts = [text for text in dict.fromkeys(each.text for each in chosen) if text not in known]
    Phrasing.objects.bulk_create(Phrasing(faq=faq, text=text) for text in texts)
    return len(texts)


def _link(gap: Gap, faq: FAQ, by: Staff) -> None:
    is_taken_on = gap.state == Gap.State.OPEN
    taken_on = {"state": Gap.State.IN_WORK, "state_at": timezone.now()} if is_taken_on else {}
    save(gap, by=by if isinstance(by, AbstractBaseUser) else None, faq=faq, **taken_on)

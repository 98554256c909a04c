"""Versions of an FAQ: saved before and after each change, and restored."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _

from faqs.matching.changes import collections_of, count_edit
from faqs.models import ANSWER_FIELDS, FAQ, Category, FAQSource, FAQVersion, Phrasing
from faqs.versions.snapshots import Content, fingerprint_content, read_answer, read_content, says_the_same
from knowledge.models import Collection, Document

if TYPE_CHECKING:
    from core.access import Staff

Reason = FAQVersion.Reason
BATCH = 500
#: Sent with `faq_ids`, in the transaction that publishes them.
faqs_published = Signal()


@contextmanager
def recording(faqs: Iterable[int], *, by: "Staff | None", reason: str) -> Iterator[list[int]]:
    """Save a version of each of these FAQs (ids), and of those appended to the yielded list, that the block changes.

    A state that has no version yet, such as one saved from a shell, gets one first.
    """
    touched = list(faqs)
    with transaction.atomic():
        before = _contents(touched)
        _catch_up(before)
        led_to = collections_of(touched)
        yield touched
        after = _contents(touched)
        now = timezone.now()
        changed = {pk: content for pk, content in after.items() if _differ(before.get(pk), content)}
        FAQVersion.objects.bulk_create(
            (
                FAQVersion(
                    faq_id=pk,
                    made_at=now,
                    made_by_id=by.pk if by else None,
                    reason=reason,
                    content=content,
                    fingerprint=fingerprint_content(content),
                )
                for pk, content in changed.items()
            ),
            batch_size=BATCH,
        )
        published = [pk for pk, content in changed.items() if _is_published(content, before.get(pk))]
        if published:
            faqs_published.send(sender=FAQ, faq_ids=published)
        if changed:
            count_edit({*led_to, *collections_of(changed)})
        altered = [pk for pk, content in changed.items() if pk in before and not says_the_same(before[pk], content)]
        FAQ.objects.filter(pk__in=altered).update(altered_at=now)
        _keep_translations({pk: after[pk] for pk in altered}, now)


def restore(version: FAQVersion) -> FAQ:
    """Give the FAQ the content of that version; deleted documents, category and collection are left out, and
    its status stays as it is.

    Call it inside `recording`. Raise ValidationError.
    """
    content = version.content
    faq = FAQ.objects.select_for_update().get(pk=version.faq_id)
    for name in ("question", "language", "reference_answer", "external_id"):
        setattr(faq, name, content[name])
    faq.valid_from, faq.valid_until = _day(content["valid_from"]), _day(content["valid_until"])
    answer = read_answer(content)
    for name in ANSWER_FIELDS[:-1]:
        setattr(faq, name, answer[name])
    # Of an undated answer the day is known on which it was saved; today nobody checked it.
    faq.answer_checked_on = _day(answer["answer_checked_on"]) or timezone.localdate(version.made_at)
    faq.category_id = _present(Category, content["category"])
    faq.collection_id = _present(Collection, content["collection"])
    faq.translation_of_id = _present(FAQ, content["translation_of"])
    faq.full_clean()
    faq.save()
    set_phrasings(faq, content["phrasings"])
    wanted = [source["id"] for source in content["sources"]]
    there = Document.objects.filter(pk__in=wanted).exclude(status=Document.Status.ARCHIVED)
    kept = set(there.values_list("pk", flat=True))
    if faq.status == FAQ.Status.PUBLISHED and not kept and not faq.written_answers:
        raise ValidationError(
            _("None of that version’s documents is there any more, and a published FAQ needs one or an answer.")
        )
    set_sources(faq, [pk for pk in wanted if pk in kept])
    return faq


def set_phrasings(faq: FAQ, texts: Iterable[str]) -> None:
    """Replace the phrasings; those that stay keep their rows."""
    wanted = list(dict.fromkeys(texts))
    faq.phrasings.exclude(text__in=wanted).delete()
    there = set(faq.phrasings.values_list("text", flat=True))
    Phrasing.objects.bulk_create(Phrasing(faq=faq, text=text) for text in wanted if text not in there)


def set_sources(faq: FAQ, documents: Iterable[int]) -> None:
    """Link the documents (ids) that answer it, best first; those linked already keep the time of their check."""
    wanted = list(dict.fromkeys(documents))
    faq.sources.exclude(document__in=wanted).delete()
    FAQSource.objects.bulk_create(
        (FAQSource(faq=faq, document_id=document, position=position) for position, document in enumerate(wanted)),
        update_conflicts=True,
        unique_fields=["faq", "document"],
        update_fields=["position"],
    )


def present_fingerprint(faq_id: int) -> str | None:
    """Return the fingerprint of the FAQ's content, or None if it was deleted. Lock it until the transaction ends."""
    if not hold([faq_id]):
        return None
    return fingerprint_content(read_content(FAQ.objects.with_parts().get(pk=faq_id)))


def hold(faqs: Iterable[int]) -> list[int]:
    """Lock the FAQs until the transaction ends; return the ids of those that exist."""
    held = FAQ.objects.select_for_update(no_key=True).filter(pk__in=list(faqs)).order_by("pk")
    return list(held.values_list("pk", flat=True))


def _keep_translations(originals: dict[int, Content], now: datetime) -> None:
    """Let translations count as up to date whose original says again what it said when they were last checked."""
    checked = Coalesce(OuterRef("reviewed_at"), OuterRef("created_at"))
    made_from = FAQVersion.objects.filter(faq=OuterRef("translation_of"), made_at__lte=checked).order_by("-pk")
    translations = FAQ.objects.filter(translation_of__in=originals).annotate(
        original_was=Subquery(made_from.values("content")[:1])
    )
    kept = [
        pk
        for pk, original, was in translations.values_list("pk", "translation_of", "original_was")
        if original and was and says_the_same(was, originals[original])
    ]
    FAQ.objects.filter(pk__in=kept).update(reviewed_at=now)


def _contents(faqs: list[int]) -> dict[int, Content]:
    return {faq.pk: read_content(faq) for faq in FAQ.objects.with_parts().filter(pk__in=faqs).order_by("pk")}


def _catch_up(contents: dict[int, Content]) -> None:
    """Save a version of each FAQ that differs from its last one."""
    newest = FAQVersion.objects.filter(faq=OuterRef("pk")).order_by("-pk").values("fingerprint")[:1]
    known = (
        FAQ.objects.filter(pk__in=contents).annotate(newest=Subquery(newest)).values_list("pk", "newest", "updated_at")
    )
    FAQVersion.objects.bulk_create(
        (
            FAQVersion(
                faq_id=pk,
                made_at=updated_at,
                reason=Reason.FOUND,
                content=contents[pk],
                fingerprint=fingerprint_content(contents[pk]),
            )
            for pk, newest_known, updated_at in known
            if newest_known != fingerprint_content(contents[pk])
        ),
        batch_size=BATCH,
    )


def _is_published(content: Content, before: Content | None) -> bool:
    """Return whether the change publishes it."""
    return content["status"] == FAQ.Status.PUBLISHED and (before is None or before["status"] != content["status"])


def _differ(before: Content | None, after: Content) -> bool:
    return before is None or fingerprint_content(before) != fingerprint_content(after)


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


def _present(model: type[Model], named: dict[str, int] | None) -> int | None:
    """Return the id of a named row if it still exists."""
    return model._default_manager.filter(pk=named["id"]).values_list("pk", flat=True).first() if named else None

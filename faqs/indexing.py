"""Keeps the vectors of questions and phrasings equal to the FAQs."""

from collections.abc import Callable

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from faqs.models import FAQ, FAQVector, Phrasing
from faqs.querysets import FAQQuerySet
from knowledge.inference.embedder import Embedder, get_embedder


def sync_faq(faq_id: int, *, embedder: Embedder | None = None) -> int:
    """Brings one FAQ's vectors up to date and returns how many texts were embedded; unchanged ones keep theirs."""
    embedder = embedder or get_embedder()
    faq = FAQ.objects.filter(pk=faq_id).prefetch_related("phrasings").first()
    if faq is None:
        return 0
    texts = {faq.question, *(phrasing.text for phrasing in faq.phrasings.all())}
    known = set(faq.vectors.filter(recipe=embedder.recipe).values_list("text", flat=True))
    missing = sorted(texts - known)
    vectors = embedder.embed(missing)
    with transaction.atomic():
        # The lock keeps two workers from adding the same vectors twice.
        if not FAQ.objects.select_for_update().filter(pk=faq_id).exists():
            return 0
        faq.vectors.exclude(recipe=embedder.recipe, text__in=texts).delete()
        there = set(faq.vectors.values_list("text", flat=True))
        FAQVector.objects.bulk_create(
            FAQVector(faq=faq, text=text, embedding=vector, recipe=embedder.recipe)
            for text, vector in zip(missing, vectors, strict=True)
            if text not in there
        )
    return len(missing)


def needing_index(recipe: str) -> FAQQuerySet:
    """FAQs with a text that has no vector of this recipe, or with a vector whose text is gone."""
    current = FAQVector.objects.filter(recipe=recipe)
    same_text = {"faq": OuterRef("faq"), "text": OuterRef("text")}
    asked = current.filter(faq=OuterRef("pk"), text=OuterRef("question"))
    unindexed = Phrasing.objects.filter(~Exists(current.filter(**same_text)), faq=OuterRef("pk"))
    orphaned = FAQVector.objects.filter(
        ~Exists(Phrasing.objects.filter(**same_text)) & ~Q(text=F("faq__question")), faq=OuterRef("pk")
    )
    return FAQ.objects.filter(~Exists(asked) | Exists(unindexed) | Exists(orphaned))


def sync_pending(*, progress: Callable[[int, int], None] | None = None) -> int:
    """Brings every FAQ that needs it up to date; returns how many. `progress` gets (done, of)."""
    embedder = get_embedder()
    pending = list(needing_index(embedder.recipe).order_by("pk").values_list("pk", flat=True))
    for done, faq_id in enumerate(pending, start=1):
        sync_faq(faq_id, embedder=embedder)
        if progress:
            progress(done, len(pending))
    return len(pending)

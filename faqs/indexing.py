"""Vectors of questions, phrasings and reference answers, kept equal to the FAQs."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from core.inference.embeddings import Embedder
from faqs.matching.changes import collections_of, count_edit
from faqs.models import FAQ, FAQQuerySet, FAQVector, Phrasing
from knowledge.indexing.generations import active_generations, live_generation, load_embedder
from knowledge.models import Generation
from knowledge.services.verification import SAMPLE, Part, check_shapes, compare_vectors, sample_rows

ASKS, ANSWERS = FAQVector.Kind.ASKS.value, FAQVector.Kind.ANSWERS.value
#: By kind and text.
Vectors = dict[tuple[str, str], Any]


def sync_faq(faq_id: int) -> int:
    """Update one FAQ's vectors in every active generation; return how many texts were embedded."""
    return sum(sync_in(faq_id, generation, load_embedder(generation)) for generation in active_generations())


def sync_in(faq_id: int, generation: Generation, embedder: Embedder) -> int:
    """Update one FAQ's vectors in one generation; unchanged texts keep theirs."""
    made: Vectors = {}
    while True:
        faq = FAQ.objects.filter(pk=faq_id).prefetch_related("phrasings").first()
        if faq is None:
            return 0
        texts = _texts(faq)
        known = set(faq.vectors.filter(generation=generation).values_list("kind", "text"))
        made |= _embedded(sorted(texts - known - made.keys()), embedder)
        with transaction.atomic():
            # The lock keeps two workers from adding the same vectors twice.
            now = FAQ.objects.select_for_update().filter(pk=faq_id).prefetch_related("phrasings").first()
            if now is None:
                return 0
            if _texts(now) == texts:  # else it was edited meanwhile
                return _keep(now, {key: made[key] for key in texts - known}, texts, generation)


def _embedded(texts: Sequence[tuple[str, str]], embedder: Embedder) -> Vectors:
    asks, answers = ([text for kind, text in texts if kind == each] for each in (ASKS, ANSWERS))
    vectors = {(ASKS, text): vector for text, vector in zip(asks, embedder.embed_questions(asks), strict=True)}
    return vectors | {(ANSWERS, text): vector for text, vector in zip(answers, embedder.embed(answers), strict=True)}


def _keep(faq: FAQ, vectors: Vectors, texts: set[tuple[str, str]], generation: Generation) -> int:
    """Add the missing vectors, delete those of other texts; return how many were made."""
    there, is_other = set(), False
    for vector in faq.vectors.filter(generation=generation).defer("embedding"):
        if (vector.kind, vector.text) in texts:
            there.add((vector.kind, vector.text))
        else:
            vector.delete()
            is_other = True
    if is_other or vectors:
        FAQ.objects.filter(pk=faq.pk).update(compared_in=None)
    FAQVector.objects.bulk_create(
        FAQVector(faq=faq, kind=kind, text=text, embedding=vectors[kind, text], generation=generation)
        for kind, text in sorted(vectors.keys() - there)
    )
    if is_other or vectors:
        count_edit(collections_of([faq.pk]))
    return len(vectors)


def _texts(faq: FAQ) -> set[tuple[str, str]]:
    """Return the texts of an FAQ that have a vector: (kind, text)."""
    asks = {faq.question, *(phrasing.text for phrasing in faq.phrasings.all())}
    answers = {faq.reference_answer} - {""}
    return {(ASKS, text) for text in asks} | {(ANSWERS, text) for text in answers}


def needing_index(generation_id: int) -> FAQQuerySet:
    """Return FAQs with a text that has no vector in this generation, or a vector whose text was deleted."""
    current = FAQVector.objects.filter(generation=generation_id)
    asking, answering = current.filter(kind=FAQVector.Kind.ASKS), current.filter(kind=FAQVector.Kind.ANSWERS)
    same_text = {"faq": OuterRef("faq"), "text": OuterRef("text")}
    asked = asking.filter(faq=OuterRef("pk"), text=OuterRef("question"))
    answered = answering.filter(faq=OuterRef("pk"), text=OuterRef("reference_answer"))
    unindexed = Phrasing.objects.filter(~Exists(asking.filter(**same_text)), faq=OuterRef("pk"))
    own = Q(kind=FAQVector.Kind.ASKS, text=F("faq__question")) | Q(
        kind=FAQVector.Kind.ANSWERS, text=F("faq__reference_answer")
    )
    phrased = Q(kind=FAQVector.Kind.ASKS) & Exists(Phrasing.objects.filter(**same_text))
    orphaned = current.filter(~own & ~phrased, faq=OuterRef("pk"))
    unanswered = ~Q(reference_answer="") & ~Exists(answered)
    return FAQ.objects.filter(~Exists(asked) | unanswered | Exists(unindexed) | Exists(orphaned))


def sync_pending(*, progress: Callable[[int, int], None] | None = None) -> int:
    """Update the vectors of every FAQ that needs it in the live generation; return how many.

    `progress` gets (done, of).
    """
    return sync_generation(live_generation(), progress=progress)


def sync_generation(
    generation: Generation,
    *,
    embedder: Embedder | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Update the vectors of every FAQ that needs it in this generation; return how many."""
    embedder = embedder or load_embedder(generation)
    pending = list(needing_index(generation.pk).order_by("pk").values_list("pk", flat=True))
    for done, faq_id in enumerate(pending, start=1):
        sync_in(faq_id, generation, embedder)
        if progress:
            progress(done, len(pending))
    return len(pending)


def build_in(*, generation: Generation, **_: object) -> int:
    """Receive `generation_built`: a new generation of the index needs the FAQs' vectors too."""
    return sync_generation(generation)


def verify(generation: Generation, *, every_vector: bool = False) -> Part:
    """Compare FAQs and vectors as `knowledge.services.verification.verify` does, in the same transaction."""
    part, embedder = Part("FAQ vectors"), load_embedder(generation)
    for pk in needing_index(generation.pk).values_list("pk", flat=True):
        part.report(f"FAQ {pk}: its vectors are not of what it says now")
    vectors = FAQVector.objects.filter(generation=generation)
    twice = vectors.values("faq", "kind", "text").annotate(count=Count("pk")).filter(count__gt=1)
    for row in twice:
        part.report(f"FAQ {row['faq']}: a vector is there {row['count']} times")
    check_shapes(part, FAQVector._meta.db_table, generation)
    embeds: Sequence[tuple[str, Callable[[Sequence[str]], Any]]] = (
        (FAQVector.Kind.ASKS, embedder.embed_questions),
        (FAQVector.Kind.ANSWERS, embedder.embed),
    )
    for kind, embed in embeds:
        for batch in sample_rows(vectors.filter(kind=kind), None if every_vector else SAMPLE):
            compare_vectors(part, "FAQ vector", batch, [each.text for each in batch], embed)
    return part

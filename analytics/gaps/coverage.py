"""Coverage of a gap by an FAQ or a document that changed after its last question."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Max

from analytics.models import Gap
from chat.pipeline.question import build_question
from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.retrieval.profiles import Profile, retrieve_with
from chat.pipeline.retrieval.search import SIMILARITIES, measure_evidence
from faqs.models import FAQ
from faqs.retriever import confidence, match
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Scope

#: How far a curated question must be able to steer (`faqs.retriever.confidence`) to count as the same.
SURE = 0.5
FAQS = 3


@dataclass(frozen=True, slots=True)
class Cover:
    """The FAQ or document that covers a gap, and when it last changed."""

    at: datetime
    faq_id: int | None = None
    document_id: int | None = None


def newest_change() -> datetime | None:
    """Return when a published FAQ or document last changed; a gap asked about since cannot be covered."""
    changes = (
        FAQ.objects.published().aggregate(at=Max("updated_at"))["at"],
        Document.objects.published().aggregate(at=Max("created_at"))["at"],
        Document.objects.published().aggregate(at=Max("altered_at"))["at"],
    )
    return max((at for at in changes if at), default=None)


def find_cover(gap: Gap, question: str) -> Cover | None:
    """Find what would answer `question`, the gap's most central one, and was changed after the gap's last question.

    It is looked up with the assistant's own profile.
    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection.
    """
    ask = build_question(gap.assistant, question, gap.language)
    scope = build_scope(ask.collections)
    retrieval = retrieve_with(ask.profile, question, scope=scope, k=ask.profile.sources)
    return _by_faq(gap, retrieval, scope) or _by_document(gap, question, retrieval, ask.profile)


def _by_faq(gap: Gap, retrieval: Retrieval, scope: Scope) -> Cover | None:
    if not len(retrieval.query.vector):  # a profile of words alone matches no FAQs
        return None
    sure = [
        found.faq_id for found in match(retrieval.query, scope=scope, faqs=FAQS) if confidence(found.similarity) >= SURE
    ]
    changed = FAQ.objects.filter(pk__in=sure, updated_at__gt=gap.last_asked).order_by("updated_at").first()
    return Cover(changed.updated_at, faq_id=changed.pk) if changed else None


def _by_document(gap: Gap, question: str, retrieval: Retrieval, profile: Profile) -> Cover | None:
    candidates = load_candidates(retrieval.hits)
    changed = _changed({each.document_id for each in candidates}, gap.last_asked)
    if not changed:
        return None
    # A document that existed and did not help then does not cover the gap now.
    evidence, best = max(
        ((_evidence(question, retrieval, each), each.document_id) for each in candidates), key=lambda pair: pair[0]
    )
    return Cover(changed[best], document_id=best) if best in changed and evidence >= profile.threshold else None


def _changed(document_ids: set[int], since: datetime) -> Mapping[int, datetime]:
    rows = Document.objects.filter(pk__in=document_ids).values_list("pk", "created_at", "altered_at")
    last = {pk: max(created, altered or created) for pk, created, altered in rows}
    return {pk: at for pk, at in last.items() if at > since}


def _evidence(question: str, retrieval: Retrieval, candidate: Candidate) -> float:
    """Return the evidence that the assistant would see in this document alone; 0 if only its words were found."""
    compares = any(origin in retrieval.runs for origin in SIMILARITIES)
    runs = {
        origin: [hit for hit in run if hit.document_id == candidate.document_id]
        for origin, run in retrieval.runs.items()
    }
    if compares and not any(runs.get(origin) for origin in SIMILARITIES):
        return 0.0
    return measure_evidence(question, replace(retrieval, runs=runs), [candidate])

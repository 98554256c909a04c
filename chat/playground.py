"""A question as staff try it: every ranking on the way, and the answer that a student would get. Stores nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from asgiref.sync import async_to_sync

from chat.answering import SOURCES, Ask
from chat.profiles import get_profile, retrieve_with
from chat.replies import Reply, collect
from chat.sources import plain
from faqs.matching import FAQRetriever, confidence
from faqs.matching import match as match_faqs
from knowledge.models import Passage
from knowledge.retrieval.contracts import Hit, Origin, Scope
from knowledge.retrieval.hybrid import Fused, Leg, Retrieval, scope_of

#: Rows shown of each ranking.
SHOWN = 10
#: FAQs shown: the one that steers, and those that came close.
FAQS_SHOWN = 3
#: The c of `knowledge.retrieval.fusion.weighted_rrf`.
RRF_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class Share:
    """What one retriever added to a passage's fused score: weight × confidence / (60 + rank)."""

    origin: Origin
    rank: int
    weight: float
    confidence: float

    @property
    def value(self) -> float:
        return self.weight * self.confidence / (RRF_CONSTANT + self.rank)


@dataclass(frozen=True, slots=True)
class Row:
    """A ranked passage; `is_given` says whether the answer is made from it."""

    rank: int
    score: float
    document_id: int
    title: str
    heading: str
    text: str
    shares: tuple[Share, ...] = ()
    is_given: bool = False

    @property
    def excerpt(self) -> str:
        return plain(self.text.replace("---", ""))  # a table's rule says nothing


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's list: its first rows, and how many passages it found."""

    origin: Origin
    weight: float
    found: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class NearFAQ:
    """A curated question close to the one asked; `steers` says whether it lifts its documents."""

    faq_id: int
    question: str
    similarity: float
    confidence: float
    steers: bool


@dataclass(frozen=True, slots=True)
class Trial:
    rankings: Sequence[Ranking]
    faqs: Sequence[NearFAQ]
    matches_faqs: bool
    steers_softly: bool
    fused: Sequence[Row]
    reply: Reply


def try_question(ask: Ask) -> Trial:
    """Raises UnknownProfile, UnknownCollection, EmbeddingUnavailable."""
    profile, scope = get_profile(ask.profile), scope_of(ask.collections)
    retrieval = retrieve_with(profile, ask.text, scope=scope, k=SHOWN)
    passages = _load(retrieval)
    matcher = next((leg.retriever for leg in profile.legs if isinstance(leg.retriever, FAQRetriever)), None)
    return Trial(
        rankings=[_ranking(leg, retrieval.runs[leg.retriever.origin], passages) for leg in profile.legs],
        faqs=_near_faqs(matcher, retrieval, scope) if matcher else [],
        matches_faqs=matcher is not None,
        steers_softly=matcher is not None and matcher.steering,
        fused=list(_fused(retrieval, profile.legs, passages)),
        reply=async_to_sync(collect)(ask),
    )


def _near_faqs(matcher: FAQRetriever, retrieval: Retrieval, scope: Scope) -> list[NearFAQ]:
    """Closest first: those that steer, and those that came close."""
    near: dict[int, NearFAQ] = {}
    for found in match_faqs(retrieval.query, scope=scope, faqs=max(FAQS_SHOWN, matcher.faqs)):
        if found.faq_id not in near:
            sure = confidence(found.similarity) if matcher.steering else 1.0
            steers = len(near) < matcher.faqs and sure > 0
            near[found.faq_id] = NearFAQ(found.faq_id, found.question, found.similarity, sure, steers)
    return list(near.values())


def _load(retrieval: Retrieval) -> Mapping[int, Passage]:
    """The passages of all rows that are shown, in one query."""
    ids = {hit.passage_id for run in retrieval.runs.values() for hit in run[:SHOWN]}
    ids |= {hit.passage_id for hit in retrieval.hits}
    rows = Passage.objects.select_related("document").only(
        "heading_path", "text", "document__title", "document__url", "document__status"
    )
    return rows.in_bulk(ids)


def _ranking(leg: Leg, run: Sequence[Hit], passages: Mapping[int, Passage]) -> Ranking:
    rows = tuple(_row(hit, passages[hit.passage_id]) for hit in run[:SHOWN] if hit.passage_id in passages)
    return Ranking(leg.retriever.origin, leg.weight, len(run), rows)


def _fused(retrieval: Retrieval, legs: Sequence[Leg], passages: Mapping[int, Passage]) -> Iterable[Row]:
    weights = {leg.retriever.origin: leg.weight for leg in legs}
    confidences = {(origin, hit.passage_id): hit.confidence for origin, run in retrieval.runs.items() for hit in run}
    for hit in retrieval.hits:
        if hit.passage_id in passages:
            shares = tuple(
                Share(origin, rank, weights[origin], confidences[origin, hit.passage_id])
                for origin, rank in hit.ranks.items()
            )
            yield _row(hit, passages[hit.passage_id], shares, is_given=hit.rank <= SOURCES)


def _row(hit: Hit | Fused, passage: Passage, shares: tuple[Share, ...] = (), *, is_given: bool = False) -> Row:
    document = passage.document
    heading = " › ".join(part for part in passage.heading_path if part != document.title)
    return Row(hit.rank, hit.score, document.pk, document.title, heading, passage.text, shares, is_given)

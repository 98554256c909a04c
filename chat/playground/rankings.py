"""Rankings of a retrieval, to be read: each retriever's, the fused one with its arithmetic, close FAQs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from chat.pipeline.retrieval.profiles import Profile
from faqs.retriever import FAQRetriever
from faqs.retriever import match as match_faqs
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Passage
from knowledge.retrieval.fusion import Fusion
from knowledge.retrieval.search import RankedPassage, Retrieval, RetrieverConfig
from knowledge.retrieval.tuning import RRF_CONSTANT
from knowledge.retrieval.types import Hit, Scope, matched_parts


class Direction(StrEnum):
    """The place of a passage, seen from the other ranking."""

    UP = "up"
    DOWN = "down"
    SAME = "same"
    ONLY_HERE = "only-here"


@dataclass(frozen=True, slots=True)
class Move:
    """`places` is how far up or down it is from its rank in the other ranking."""

    direction: Direction
    places: int = 0


def rank_change(passage_id: int, rank: int, others: Mapping[int, int]) -> Move:
    """`others` are the other ranking's ranks by passage, all of them, not only those that are shown."""
    other = others.get(passage_id)
    if other is None:
        return Move(Direction.ONLY_HERE)
    if rank == other:
        return Move(Direction.SAME)
    return Move(Direction.UP if rank < other else Direction.DOWN, abs(other - rank))


#: Rows shown of each ranking.
SHOWN = 10
#: FAQs shown: the one that steers, and those that came close.
FAQS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Share:
    """The part that one retriever added to a passage's fused score.

    It is weight × confidence, times `relative`, its score as a share of the retriever's best, or, where rankings are
    merged by rank, divided by 60 + rank.
    """

    origin: str
    rank: int
    weight: float
    confidence: float
    relative: float | None

    @property
    def value(self) -> float:
        counts = 1 / (RRF_CONSTANT + self.rank) if self.relative is None else self.relative
        return self.weight * self.confidence * counts


@dataclass(frozen=True, slots=True)
class Row:
    """A ranked passage; `is_given` says whether the answer is made from it, `matched` what of it was compared with the
    question where that was a finer part, `move` where another profile has it."""

    passage_id: int
    rank: int
    score: float
    document_id: int
    title: str
    heading: str
    text: str
    shares: tuple[Share, ...] = ()
    is_given: bool = False
    matched: str = ""
    move: Move | None = None

    @property
    def excerpt(self) -> str:
        return make_plain(self.matched or self.text)

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before, in and after the sentence that was matched; a proposition stands nowhere in it."""
        return self.text.partition(self.matched) if self.matched else (self.text, "", "")


@dataclass(frozen=True, slots=True)
class Ranking:
    """One retriever's list: its first rows, and how many passages it found."""

    origin: str
    weight: float
    found: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class NearFAQ:
    """A curated question close to the one asked; `steers` says whether it lifts its documents.

    `probability` is how likely it is meant, `is_learned` whether that was learned from its phrasings.
    """

    faq_id: int
    question: str
    similarity: float
    confidence: float
    steers: bool
    probability: float
    is_learned: bool


def faq_retriever(profile: Profile) -> FAQRetriever | None:
    return next((leg.retriever for leg in profile.legs if isinstance(leg.retriever, FAQRetriever)), None)


def near_faqs(matcher: FAQRetriever, retrieval: Retrieval, scope: Scope) -> list[NearFAQ]:
    """Closest first: those that steer, and those that came close."""
    near: dict[int, NearFAQ] = {}
    best = -1.0
    shown = max(FAQS_SHOWN, matcher.faqs)
    for found in match_faqs(retrieval.query, scope=scope, faqs=shown, learned=matcher.learned):
        if found.faq_id not in near:
            best = max(best, found.similarity)
            sure = matcher.weight(found, best)
            steers = len(near) < matcher.faqs and sure > 0
            near[found.faq_id] = NearFAQ(
                found.faq_id, found.question, found.similarity, sure, steers, found.probability, found.is_learned
            )
    return list(near.values())


def load_passages(retrieval: Retrieval, fused_shown: int) -> Mapping[int, Passage]:
    """Fetch the passages of all rows that are shown, in one query."""
    ids = {hit.passage_id for run in retrieval.runs.values() for hit in run[:SHOWN]}
    ids |= {hit.passage_id for hit in retrieval.hits[:fused_shown]}
    rows = Passage.objects.select_related("document").only(
        "heading_path", "text", "document__title", "document__url", "document__status"
    )
    return rows.in_bulk(ids)


def build_ranking(leg: RetrieverConfig, run: Sequence[Hit], passages: Mapping[int, Passage]) -> Ranking:
    rows = tuple(_row(hit, passages[hit.passage_id], hit.matched) for hit in run[:SHOWN] if hit.passage_id in passages)
    return Ranking(leg.retriever.origin, leg.weight, len(run), rows)


def fused_rows(
    retrieval: Retrieval, profile: Profile, passages: Mapping[int, Passage], given: Collection[int], fused_shown: int
) -> Iterable[Row]:
    """`given` are the passages that the answer is made from."""
    shares = fusion_shares(retrieval, profile)
    matched = matched_parts(retrieval.runs.values())
    for hit in retrieval.hits[:fused_shown]:
        if hit.passage_id in passages:
            row = _row(hit, passages[hit.passage_id], matched.get(hit.passage_id, ""))
            yield replace(row, shares=tuple(shares[hit.passage_id]), is_given=hit.passage_id in given)


def fusion_shares(retrieval: Retrieval, profile: Profile) -> Mapping[int, list[Share]]:
    """By the passage's id."""
    by_score = profile.plan.fusion == Fusion.SCORES
    shares: dict[int, list[Share]] = defaultdict(list)
    for leg in profile.legs:
        run = retrieval.runs[leg.retriever.origin]
        best = max((hit.score for hit in run), default=0.0)
        for hit in run:
            relative = (max(0.0, hit.score) / best if best > 0 else 0.0) if by_score else None
            share = Share(hit.origin, hit.rank, leg.weight, hit.confidence, relative)
            shares[hit.passage_id].append(share)
    return shares


def _row(hit: Hit | RankedPassage, passage: Passage, matched: str) -> Row:
    document = passage.document
    heading = " › ".join(part for part in passage.heading_path if part != document.title)
    return Row(hit.passage_id, hit.rank, hit.score, document.pk, document.title, heading, passage.text, matched=matched)

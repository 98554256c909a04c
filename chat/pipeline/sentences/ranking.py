"""Ranks the pages' sentences, list items and table rows by how well they answer a question.

A linear model over a few features, fitted by `benchmarks.sentence_ranking` to judged questions: a softmax
over the sentences of each question (listwise, as ListNet of Cao et al. 2007), so only differences of scores count.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chat.pipeline.retrieval.candidates import BETWEEN, Candidate
from chat.pipeline.sentences.labelled import AskedLabels, read_labels
from chat.pipeline.sentences.ordinals import keys_of, read_ordinals, with_ordinals
from chat.pipeline.sentences.parts import split_question
from chat.pipeline.sentences.plans import read_plan
from chat.pipeline.sentences.quotable import LONGEST, Quotable, quotable
from chat.pipeline.sentences.sorts import asked_sorts, has_sort
from chat.pipeline.sentences.unit_vectors import embed_english
from chat.pipeline.tuning import (
    ASKED_BONUS,
    ASKED_SIMILARITY,
    HINT_BONUS,
    LABEL_BONUS,
    LEAST_FAQ_SIMILARITY,
    LEAST_TOPIC_CLOSENESS,
    PERIOD_BONUS,
)
from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.facts import read_facts
from chat.pipeline.verification.verify import Embed
from core.inference.embeddings.language_means import centre
from core.language import detect_language
from core.terms import content_words
from knowledge.chunking import periods
from knowledge.chunking.period_match import grade_sentences
from knowledge.chunking.periods import Grade, Period, without_periods
from knowledge.retrieval.types import Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray

FITTED = Path(__file__).parent / "fitted_ranking.json"
SHORTEST = 20
FEATURES = (
    *("closeness", "passage_closeness", "english", "is_english"),
    *("words", "passage_words", "fits", "length", "figures"),
)


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A quote of a candidate; `passage` and `place` say where it stands, `score` how well it answers.

    `closeness` is the cosine of its vector with the question's as they are, `centred` that without what texts of a
    language have in common; both are 0 without vectors.
    """

    candidate: Candidate
    quote: Quotable
    passage: int
    place: int
    score: float
    closeness: float = 0.0
    centred: float = 0.0


@dataclass(frozen=True, slots=True)
class Compared:
    """Cosines of units with a question, of shape (units,) each.

    `closeness` is that of their multilingual vectors as they are, `centred` without what texts of a language have in
    common, `english` that of the English model where both are English: there `is_english` is true.
    """

    closeness: "NDArray[np.float32]"
    centred: "NDArray[np.float32]"
    english: "NDArray[np.float32]"
    is_english: "NDArray[np.bool_]"


@dataclass(frozen=True, slots=True)
class _Unit:
    candidate: Candidate
    quote: Quotable
    grade: Grade
    passage: int
    place: int
    #: It is a row of a plan that has what is asked for.
    is_of_plan: bool


def rank_sentences(
    question: str, candidates: Sequence[Candidate], *, embed: Embed | None, curated: Mapping[int, Hit]
) -> list[RankedSentence]:
    """Return the sentences of all candidates, best first.

    `embed` returns unit vectors; without it words alone count. `curated` holds the hits of passages that a FAQ points
    to: staff know best, and what they wrote as a good answer tells which sentence is meant. A FAQ whose pages say
    nothing about the question raises none of their sentences.
    """
    return _rank(question, candidates, embed=embed, curated=curated, labels=read_labels(question))


def rank_parts(
    question: str, candidates: Sequence[Candidate], *, embed: Embed | None, curated: Mapping[int, Hit]
) -> list[list[RankedSentence]]:
    """Rank the sentences for each part of a question that asks for several things; as `rank_sentences`.

    A part alone does not say what it is about, so the whole question's scores are added, and the whole question names
    the section that a label stands in.
    """
    parts = split_question(question)
    if len(parts) == 1:
        return [rank_sentences(question, candidates, embed=embed, curated=curated)]
    whole = _rank(question, candidates, embed=embed, curated=curated, labels=AskedLabels())
    of_all = {(each.passage, each.place): each.score for each in whole}
    rankings = []
    for part in parts:
        labels = read_labels(part, within=question)
        ranked = _rank(part, candidates, embed=embed, curated={}, labels=labels)
        added = [
            replace(each, score=each.score + of_all[each.passage, each.place])
            for each in ranked
            if (each.passage, each.place) in of_all
        ]
        rankings.append(sorted(added, key=lambda each: -each.score))
    return rankings


def _rank(
    question: str,
    candidates: Sequence[Candidate],
    *,
    embed: Embed | None,
    curated: Mapping[int, Hit],
    labels: AskedLabels,
) -> list[RankedSentence]:
    wanted, plan = periods.asked(question), read_plan(question)
    units = [
        _Unit(candidate, row or quote, grade, passage, place, is_of_plan=row is not None)
        for passage, candidate in enumerate(candidates)
        for place, (quote, grade) in enumerate(_graded(candidate, wanted))
        if SHORTEST <= len(quote.text) <= LONGEST and grade != Grade.OTHER
        for row in [plan.shorten(candidate, quote)]
    ]
    if not units:
        return []
    planned = _of_one_plan(units)
    pairs = [(unit.candidate, unit.quote) for unit in units]
    compared = compare(question, pairs, embed)
    scores = score_features(compute_features(question, pairs, compared))
    ranked = [
        RankedSentence(unit.candidate, unit.quote, unit.passage, unit.place, *map(float, measured))
        for unit, *measured in zip(units, scores, compared.closeness, compared.centred, strict=True)
    ]
    off_topic = list_off_topic(ranked, curated.values()) if embed else frozenset()
    backed = {passage: hit for passage, hit in curated.items() if hit.faq_id not in off_topic}
    raised = [
        replace(
            each,
            score=each.score + _bonus(unit, wanted, backed, labels) + (LABEL_BONUS if unit in planned else 0.0),
        )
        for unit, each in zip(units, ranked, strict=True)
    ]
    return sorted(raised, key=lambda each: -each.score)


def is_off_topic(ranked: Sequence[RankedSentence]) -> bool:
    """Return whether none of these sentences, compared by vectors, is about the question."""
    return max(each.centred for each in ranked) < LEAST_TOPIC_CLOSENESS


def list_off_topic(ranked: Sequence[RankedSentence], hits: Iterable[Hit]) -> frozenset[int]:
    """Return the ids of FAQs of whose pages sentences were compared with the question, and none is about it."""
    faqs = {hit.passage_id: hit.faq_id for hit in hits if hit.faq_id is not None}
    sentences: dict[int, list[RankedSentence]] = {}
    for each in ranked:
        if (faq_id := faqs.get(each.candidate.passage_id)) is not None:
            sentences.setdefault(faq_id, []).append(each)
    return frozenset(faq_id for faq_id, own in sentences.items() if is_off_topic(own))


def _of_one_plan(units: Sequence[_Unit]) -> list[_Unit]:
    """Return the rows of the plan that has most of what is asked for, the first of those: others repeat it."""
    plans: dict[tuple[int, str], list[_Unit]] = {}
    for unit in units:
        if unit.is_of_plan:
            plans.setdefault((unit.candidate.document_id, unit.candidate.heading), []).append(unit)
    return max(plans.values(), key=len, default=[])


def compare(question: str, units: Sequence[tuple[Candidate, Quotable]], embed: Embed | None) -> Compared:
    """Compare each unit with the question by its vectors; without `embed` all cosines are 0."""
    language = detect_language(question)
    said = [candidate.language for candidate, _quote in units]
    is_english = np.array([language == each == "en" for each in said])
    english = np.zeros(len(units), np.float32)
    if embed is None:
        return Compared(english, english, english, np.zeros(len(units), np.bool_))
    # The heading belongs to the sentence: "By 15 July." says nothing without "Application deadline".
    texts = [f"{candidate.label}: {quote.text}" for candidate, quote in units]
    vectors = embed([question, *texts])
    centred = centre(vectors, [language, *said])
    asked = [text for text, is_asked in zip(texts, is_english, strict=True) if is_asked]
    if asked and (found := embed_english([question, *asked])) is not None:
        english[is_english] = found[1:] @ found[0]
    else:
        is_english = np.zeros(len(units), np.bool_)
    return Compared(vectors[1:] @ vectors[0], centred[1:] @ centred[0], english, is_english)


def compute_features(
    question: str, units: Sequence[tuple[Candidate, Quotable]], compared: Compared
) -> "NDArray[np.float64]":
    """Return the features of each unit, of shape (units, FEATURES)."""
    text = without_periods(question)
    ordinals = read_ordinals(text)
    asked = with_ordinals(read_facts(text).content, ordinals)
    sorts = asked_sorts(question)
    facts = [(_read(quote.shown), _read(f"{candidate.label}. {quote.shown}")) for candidate, quote in units]
    said = [
        (own.keys | keys_of(own.text, ordinals), whole.keys | keys_of(whole.text, ordinals)) for own, whole in facts
    ]
    # A word that few of the sentences have tells more than one that all of them have.
    rarity = [math.log(1 + len(said) / (sum(has_word(word, own) for own, _ in said) + 0.5)) for word in asked]
    total = sum(rarity) or 1.0

    def share(keys: frozenset[str]) -> float:
        return sum(weight for weight, word in zip(rarity, asked, strict=True) if has_word(word, keys)) / total

    of_passage: dict[int, frozenset[str]] = {}
    closest: dict[int, float] = {}
    for (candidate, _quote), (own_keys, _), close in zip(units, said, compared.centred, strict=True):
        passage = candidate.passage_id
        of_passage[passage] = of_passage.get(passage, frozenset()) | own_keys
        closest[passage] = max(closest.get(passage, -1.0), float(close))
    words = {passage: share(keys) for passage, keys in of_passage.items()}
    rows = []
    for place, ((candidate, quote), (own, _whole)) in enumerate(zip(units, facts, strict=True)):
        rows.append(
            (
                compared.centred[place],
                closest[candidate.passage_id],
                compared.english[place],
                compared.is_english[place],
                share(said[place][1]),
                words[candidate.passage_id],
                sum(has_sort(sort, own, quote.shown) for sort in sorts) / len(sorts) if sorts else 0.0,
                math.log(len(quote.shown) / 100),
                bool(own.figures),
            )
        )
    return np.array(rows, dtype=np.float64)


#: Facts of pages' sentences, which the next question is compared with too. A question's own are never kept.
_read = lru_cache(maxsize=4096)(read_facts)


def score_features(features: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return one score a row."""
    weights = _weights()
    scores: NDArray[np.float64] = features @ weights
    return scores


@cache
def _weights() -> "NDArray[np.float64]":
    fitted = json.loads(FITTED.read_text("utf-8"))
    return np.array([fitted[name] for name in FEATURES])


def _bonus(unit: _Unit, wanted: Sequence[Period], curated: Mapping[int, Hit], labels: AskedLabels) -> float:
    bonus = PERIOD_BONUS if wanted and unit.grade == Grade.FITS else 0.0
    bonus += LABEL_BONUS if labels.are_answered_by(unit.candidate, unit.quote) else 0.0
    if (hit := curated.get(unit.candidate.passage_id)) and hit.score > LEAST_FAQ_SIMILARITY:
        hinted = content_words(hit.hint)
        share = len(hinted & content_words(unit.quote.text)) / len(hinted) if hinted else 0.0
        exactness = (hit.score - LEAST_FAQ_SIMILARITY) / (1 - LEAST_FAQ_SIMILARITY)
        weight = ASKED_BONUS if hit.score >= ASKED_SIMILARITY else HINT_BONUS * exactness
        bonus += weight * (1 + 2 * hit.confidence * share)
    return bonus


def _graded(candidate: Candidate, wanted: Sequence[Period]) -> list[tuple[Quotable, Grade]]:
    """Return what can be quoted of a passage, graded by the year or term that is asked for."""
    quotes = quotable(candidate.text)
    if not wanted:
        return [(quote, Grade.MAY) for quote in quotes]
    grades = grade_sentences(wanted, candidate.label.split(BETWEEN), candidate.text)
    return list(zip(quotes, grades, strict=True))

"""The FAQ that a question surely means, and the answer to it in staff's own words."""

from dataclasses import dataclass

from chat.pipeline.tuning import LEAST_ANSWER_CONFIDENCE, LEAST_ANSWER_LEAD, SURE_SIMILARITY
from faqs.answers.choice import ChosenAnswer, choose_answer, list_family
from faqs.retriever import confidence
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Origin, Scope


@dataclass(frozen=True, slots=True)
class SureFAQ:
    """The FAQ that a question surely means; `family` are the ids of it and its translations."""

    faq_id: int
    family: frozenset[int]


def find_sure_faq(retrieval: Retrieval) -> SureFAQ | None:
    """Return the closest FAQ, unless another one that is no translation of it is nearly as close."""
    similarities: dict[int, float] = {}
    for hit in retrieval.runs.get(Origin.FAQ, ()):
        if hit.faq_id is not None:
            similarities[hit.faq_id] = max(hit.score, similarities.get(hit.faq_id, 0.0))
    closest = max(similarities, key=lambda faq_id: similarities[faq_id], default=0)
    best = similarities.get(closest, 0.0)
    if confidence(best) < LEAST_ANSWER_CONFIDENCE:
        return None
    family = list_family(closest)
    others = (similarity for faq_id, similarity in similarities.items() if faq_id not in family)
    if best < SURE_SIMILARITY and any(best - similarity < LEAST_ANSWER_LEAD for similarity in others):
        return None
    return SureFAQ(closest, family)


def find_office_answer(meant: SureFAQ | None, *, language: str, scope: Scope) -> ChosenAnswer | None:
    """Return the answer that staff have written to the FAQ that is meant."""
    return choose_answer(meant.faq_id, meant.family, language, scope=scope) if meant else None

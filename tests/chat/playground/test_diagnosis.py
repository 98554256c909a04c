"""Why a document was not found: the verdicts, case by case, without a database."""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from chat.admin.trying.page import names
from chat.playground.diagnosis import Diagnosis, Verdict, diagnose
from chat.playground.facts import Facts, LinkedFAQ, Merged, Outcome, Rank, Standing, pushed_by
from chat.playground.rankings import Direction, Move, Share, rank_change
from faqs.retriever import Match
from knowledge.retrieval.search import RankedPassage
from knowledge.retrieval.types import Origin, Scope

TODAY = datetime.date(2026, 6, 15)
DAY = datetime.timedelta(days=1)
FOUND = Rank(Origin.DENSE, k=100, looked_at=1000, rank=3, score=0.61, last_score=0.2)
STANDING = Standing(status="published", collection_id=1, collection="Campus", language="en", passages=4)
FACTS = Facts(
    standing=STANDING,
    scope=Scope((1,), on=TODAY),
    searched=("Campus",),
    question_language="en",
    words_in=("fees",),
    places=(Rank(Origin.LEXICAL, 100, 1000, 2, 7.5, 1.0), FOUND, Rank(Origin.FAQ, 30, 1000)),
    merged=Merged(fused_rank=2, fused_score=0.8, rank=2, last_given_score=0.5),
    outcome=Outcome(is_cited=True),
)


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


def diagnosed(facts: Facts = FACTS, **changes: Any) -> Diagnosis:
    return diagnose(replace(facts, **changes), names=names())


def of_standing(**changes: Any) -> Diagnosis:
    return diagnosed(standing=replace(STANDING, **changes))


def text_of(diagnosis: Diagnosis, code: str) -> str:
    return next(each.text for each in diagnosis.findings if each.code == code)


def codes(diagnosis: Diagnosis, verdict: Verdict) -> list[str]:
    return [each.code for each in diagnosis.findings if each.verdict == verdict]


def test_a_document_that_the_answer_cites_is_stopped_by_nothing() -> None:
    diagnosis = diagnosed()
    assert diagnosis.cause is None
    assert not diagnosis.would_faq_help
    assert diagnosis.findings[-1].text == "It was found, and the answer cites it."


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"status": "draft"}, "draft", "The document is a draft"),
        ({"status": "archived"}, "archived", "The document is archived"),
        ({"valid_from": TODAY + DAY}, "not_valid_yet", "only from 16 Jun 2026"),
        ({"valid_until": TODAY - DAY}, "expired", "until 14 Jun 2026"),
        (
            {"collection_id": 2, "collection": "Old"},
            "other_collection",
            "“Old”, was not searched; searched were: Campus.",
        ),
        ({"indexed": None, "passages": 0}, "not_indexed", "not indexed yet"),
        ({"passages": 0}, "no_passages", "it has no text"),
    ],
)
def test_what_keeps_a_document_from_being_found_at_all_is_the_cause_and_ends_the_search(
    changes: dict[str, Any], code: str, said: str
) -> None:
    diagnosis = of_standing(**changes)
    assert diagnosis.cause is not None
    assert diagnosis.cause.code == code
    assert said in diagnosis.cause.text
    assert diagnosis.cause.advice
    assert not any(each.code.startswith("found:") for each in diagnosis.findings)
    assert not diagnosis.would_faq_help


def test_the_first_and_the_last_day_of_its_validity_count() -> None:
    assert of_standing(valid_from=TODAY, valid_until=TODAY).cause is None


def test_of_several_causes_the_first_in_the_order_of_the_work_comes_first() -> None:
    diagnosis = of_standing(status="archived", valid_until=TODAY - DAY, collection_id=2, indexed=None, passages=0)
    assert codes(diagnosis, Verdict.BLOCKS) == ["archived", "expired", "other_collection", "not_indexed"]
    assert diagnosis.cause == diagnosis.findings[0]


def test_a_message_that_is_no_question_looks_up_nothing() -> None:
    diagnosis = diagnosed(is_question=False, places=(), merged=None, outcome=None)
    assert diagnosis.cause is not None
    assert diagnosis.cause.code == "no_question"


def test_a_scope_of_one_language_leaves_out_the_others_and_else_it_is_only_told() -> None:
    german = replace(STANDING, language="de-DE")
    blocked = diagnosed(standing=german, scope=Scope((1,), "en", on=TODAY))
    assert codes(blocked, Verdict.BLOCKS) == ["other_language"]
    told = diagnosed(standing=german)
    assert told.cause is None
    assert "It is in “de”, the question in “en”" in text_of(told, "language_differs")


@pytest.mark.parametrize(
    ("tags", "is_blocked"),
    [
        (("degree:bachelor",), True),
        (("degree:bachelor", "degree:master"), False),
        (("campus:north",), False),
        ((), False),
    ],
)
def test_a_document_for_others_than_who_asks_is_not_searched(tags: tuple[str, ...], is_blocked: bool) -> None:
    scope = Scope((1,), audience=("degree:master",), on=TODAY)
    diagnosis = diagnosed(standing=replace(STANDING, audience=tags), scope=scope)
    assert codes(diagnosis, Verdict.BLOCKS) == (["other_audience"] if is_blocked else [])


def test_an_index_of_an_older_state_is_told() -> None:
    diagnosis = of_standing(indexed=False)
    assert diagnosis.cause is None
    assert "older_state" in codes(diagnosis, Verdict.NOTE)


def test_words_that_stand_in_it_and_words_that_do_not_are_named() -> None:
    some = diagnosed(words_in=("fees",), words_missing=("tuition", "price"))
    assert "stand in it, in some form: “fees”. These do not: “tuition”, “price”." in text_of(some, "some_words")
    assert "all_words" in codes(diagnosed(), Verdict.PASSES)


def test_without_a_single_word_a_search_by_words_alone_cannot_find_it() -> None:
    nothing = {"words_in": (), "words_missing": ("tuition",), "merged": None, "outcome": None}
    lexical = Rank(Origin.LEXICAL, 100, 1000, last_score=1.5)
    by_words = diagnosed(places=(lexical,), **nothing)
    assert by_words.cause is not None
    assert by_words.cause.code == "no_words"
    with_meaning = diagnosed(places=(lexical, replace(FOUND, rank=240, k=100)), **nothing)
    assert with_meaning.cause is not None
    assert with_meaning.cause.code == "not_retrieved"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (FOUND, "its best passage is number 3 (score 0.610), among the first 100, which count."),
        (
            replace(FOUND, rank=240, score=0.15),
            "number 240 (score 0.150). Only the first 100 count; the last of them has 0.200.",
        ),
        (
            replace(FOUND, rank=None, score=0.05),
            "(score 0.050) is not among the first 1000 found. Only the first 100 count; the last of them has 0.200.",
        ),
        (
            replace(FOUND, rank=None, score=None),
            "not among the first 1000 found. Only the first 100 count; the last of them has 0.200.",
        ),
        (replace(FOUND, rank=None, score=None, last_score=None), "nothing was found at all."),
    ],
)
def test_each_retriever_tells_where_its_best_passage_is_beside_the_last_that_counts(place: Rank, said: str) -> None:
    text = text_of(diagnosed(places=(place,)), "found:dense")
    assert text.startswith("Same meaning: ")
    assert text.endswith(said)


def test_a_document_behind_the_sources_is_told_what_the_last_of_them_has_and_an_faq_would_help() -> None:
    diagnosis = diagnosed(merged=Merged(14, 0.31, 14, last_given_score=0.44))
    assert diagnosis.cause is not None
    assert diagnosis.cause.code == "behind"
    said = "number 14 (0.310). The answer is made from the first 6; the last of them has 0.440."
    assert diagnosis.cause.text.endswith(said)
    assert diagnosis.would_faq_help


def test_an_faq_helps_neither_a_profile_without_faqs_nor_a_document_that_one_lifts_already() -> None:
    behind = replace(FACTS, merged=Merged(14, 0.31, 14))
    assert not diagnosed(behind, places=(FOUND,)).would_faq_help
    assert not diagnosed(behind, linked_faqs=(LinkedFAQ("Fees?", 1, 0.8, steers=True),)).would_faq_help
    assert diagnosed(behind, linked_faqs=(LinkedFAQ("Fees?", 5, 0.4),)).would_faq_help


@pytest.mark.parametrize(
    ("faq", "rank", "code", "said"),
    [
        (LinkedFAQ("Fees?", 1, 0.8, steers=True), 1, "faq_lifts", "is close (similarity 0.800) and lifts it"),
        (LinkedFAQ("Fees?", 5, 0.4), None, "faq_too_far", "is number 5 by closeness (similarity 0.400)"),
        (LinkedFAQ("Fees?"), None, "faq_too_far", "asks something far from this question"),
    ],
)
def test_each_linked_faq_tells_whether_it_lifts_the_document(
    faq: LinkedFAQ, rank: int | None, code: str, said: str
) -> None:
    diagnosis = diagnosed(places=(Rank(Origin.FAQ, 30, 1000, rank),), linked_faqs=(faq,))
    assert said in text_of(diagnosis, code)
    assert "“Fees?”" in text_of(diagnosis, code)


def test_an_faq_that_pushes_others_ahead_is_named() -> None:
    pushed = diagnosed(merged=Merged(8, 0.3, 8, pushed_by=(("Where is the canteen?", 3),)))
    assert text_of(pushed, "pushed_by_faq") == "The FAQ “Where is the canteen?” put 3 passages before it."


@pytest.mark.parametrize(
    ("merged", "cause", "codes_told"),
    [
        (Merged(3, 0.5, 12, rerank_first=20), "reranked_down", {"reranked_down"}),
        (Merged(12, 0.5, 2, rerank_first=20), None, {"reranked"}),
        (Merged(12, 0.5, 9, rerank_first=20), "behind", {"reranked", "behind"}),
        (Merged(31, 0.5, 31, rerank_first=20), "behind", {"not_reranked", "behind"}),
    ],
)
def test_the_reranker_is_told_apart_from_the_fusion(merged: Merged, cause: str | None, codes_told: set[str]) -> None:
    diagnosis = diagnosed(merged=merged)
    assert (diagnosis.cause.code if diagnosis.cause else None) == cause
    assert {each.code for each in diagnosis.findings} & {
        "reranked",
        "reranked_down",
        "not_reranked",
        "behind",
    } == codes_told


@pytest.mark.parametrize(
    ("outcome", "code", "verdict"),
    [
        (Outcome(concerns_asker=False), "other_reader", Verdict.BLOCKS),
        (Outcome(reason="no_evidence"), "abstained", Verdict.BLOCKS),
        (Outcome(reason="clarifying"), "abstained", Verdict.BLOCKS),
        (Outcome(fits_prompt=False), "no_room", Verdict.BLOCKS),
        (Outcome(), "not_cited", Verdict.NOTE),
        (Outcome(is_cited=True), "cited", Verdict.PASSES),
    ],
)
def test_what_became_of_a_document_that_was_found(outcome: Outcome, code: str, verdict: Verdict) -> None:
    last = diagnosed(outcome=outcome).findings[-1]
    assert (last.code, last.verdict) == (code, verdict)


def test_a_document_of_another_year_than_the_question_names_is_told_so() -> None:
    diagnosis = diagnosed(merged=Merged(31, 0.5, 31, is_other_period=True))
    assert diagnosis.cause is not None
    assert (diagnosis.cause.code, diagnosis.findings[-1].code) == ("other_period", "other_period")


def test_every_number_stands_as_the_reader_s_language_writes_it() -> None:
    with translation.override("de"):
        assert "0,310" in text_of(diagnosed(merged=Merged(14, 0.31, 14)), "behind")


# --- who pushed, who moved ---


def fused(passage: int, document: int, score: float) -> RankedPassage:
    return RankedPassage(passage, document, rank=0, score=score, ranks={})


def test_only_those_pushed_ahead_count_that_would_be_behind_without_the_faq() -> None:
    own = fused(1, 1, 0.5)
    ranking = [fused(2, 2, 0.9), fused(3, 3, 0.8), fused(4, 2, 0.7), own, fused(5, 2, 0.4)]
    by_faq = Share(Origin.FAQ, 1, weight=1.0, confidence=1.0, relative=0.6)
    shares = {1: [], 2: [by_faq], 3: [], 4: [by_faq], 5: [by_faq]}
    near = [Match(7, "Where is the canteen?", "", 0.9, passage, 2) for passage in (2, 4, 5)]
    assert pushed_by(own, ranking, shares, near) == (("Where is the canteen?", 2),)


@pytest.mark.parametrize(
    ("rank", "other", "move"),
    [
        (1, 4, Move(Direction.UP, 3)),
        (5, 2, Move(Direction.DOWN, 3)),
        (2, 2, Move(Direction.SAME)),
        (2, None, Move(Direction.ONLY_HERE)),
    ],
)
def test_a_passage_is_marked_by_where_the_other_ranking_has_it(rank: int, other: int | None, move: Move) -> None:
    assert rank_change(8, rank, {8: other} if other else {}) == move

"""What became of passages, and a record that holds whatever changes around it."""

from typing import Any

import pytest
from django.db import connections

from chat.playground.comparison import Fate, compare_passages
from chat.protocol.moment import PassageRead


def passage(pk: int, text: str, *, url: str = "https://www.uni.example/fees", heading: str = "") -> PassageRead:
    return PassageRead(pk, pk, pk, "Fees", heading, url, text)


def fates(then: list[PassageRead], now: list[PassageRead], index: Any) -> tuple[list[Fate], list[Fate]]:
    before, after = compare_passages(then, now, index)
    return [each.fate for each in before], [each.fate for each in after]


def test_the_same_words_at_the_same_address_are_the_same_whatever_their_ids() -> None:
    assert fates([passage(1, "318 euros.")], [passage(9, "318 euros.")], {}) == ([Fate.SAME], [Fate.SAME])


def test_other_words_below_the_same_heading_are_a_changed_passage() -> None:
    then, now = passage(1, "318 euros.", heading="Amount"), passage(2, "340 euros.", heading="Amount")
    before, after = compare_passages([then], [now], {then.url: [("Amount", "340 euros.")]})
    assert [(each.fate, each.other) for each in before] == [(Fate.CHANGED, "340 euros.")]
    assert [(each.fate, each.other) for each in after] == [(Fate.CHANGED, "318 euros.")]


def test_a_changed_passage_that_is_not_read_today_is_found_on_its_page() -> None:
    then = passage(1, "318 euros.", heading="Fees › Amount")
    (before,), _after = compare_passages([then], [], {then.url: [("Amount", "340 euros."), ("Other", "Else.")]})
    assert (before.fate, before.other) == (Fate.CHANGED, "340 euros.")


def test_what_still_stands_there_and_what_is_gone_are_told_apart() -> None:
    there, gone = passage(1, "318 euros."), passage(2, "On transfer.", url="https://www.uni.example/pay")
    assert fates([there, gone], [], {there.url: [("", "318 euros.")]})[0] == [Fate.OUTRANKED, Fate.GONE]


def test_a_passage_that_nothing_of_then_pairs_with_is_new() -> None:
    assert fates([], [passage(1, "318 euros.")], {})[1] == [Fate.NEW]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.django_db(transaction=True)
def test_passages_and_citations_are_the_same_after_edits_two_models_and_a_crawl(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmarks import replay  # it sets how many threads a model has

    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    monkeypatch.setattr(replay, "WEBSITE", 10)
    monkeypatch.setattr(replay, "MEASURED", 4)
    monkeypatch.setattr(replay, "AT_ONCE", 15)
    results = replay.measure(answers=10, edits=30)
    assert results["same"] == results["answers"] == 10
    assert len(set(results["models"])) == 2
    assert len(results["models"]) == 3
    assert results["kb_by_zlib"]["p95"] < 10

"""A sentence that passed the check is shown as written only if the second judge agrees, where there is one."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from chat.pipeline.answering.proof import Prover
from chat.pipeline.verification.classifier import Strictness
from core.inference import verifier
from tests.chat.candidates import candidate
from tests.core.inference.verifiers import Scores, serving_scores

UNIT = "The semester contribution is 318.40 euros each semester."
SENTENCE = "The semester contribution is 318.40 euros."


@pytest.fixture(autouse=True)
def judge(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Scores]]:
    monkeypatch.setattr(verifier, "_paused_until", 0.0)
    with serving_scores() as address:
        settings.VERIFIER_MODEL, settings.VERIFIER_BASE_URL = "judge", address
        yield Scores


def prover() -> Prover:
    page = candidate(text=f"{UNIT} The library is open until midnight.", title="Fees")
    return Prover([page], language="en", strictness=Strictness.STRICT)


def test_a_sentence_that_both_pass_is_shown(judge: type[Scores]) -> None:
    verdict, _candidate = prover().prove(SENTENCE, [1])
    assert verdict.is_supported
    ((_path, asked),) = judge.requests
    assert asked["text_1"] == f"Fees\n{verdict.unit}"
    assert asked["text_2"] == SENTENCE


def test_a_sentence_that_the_judge_rejects_gives_way_to_the_page(judge: type[Scores]) -> None:
    judge.score = 0.2
    verdict, found = prover().prove(SENTENCE, [1])
    assert not verdict.is_supported
    assert [reason.kind for reason in verdict.reasons] == ["not_entailed"]
    assert UNIT in verdict.unit
    assert found


def test_the_judge_lets_nothing_pass_that_the_check_doubts(judge: type[Scores]) -> None:
    verdict, _candidate = prover().prove("The semester contribution is 418.40 euros.", [1])
    assert not verdict.is_supported
    assert judge.requests == []


def test_the_pages_own_words_need_no_judge(judge: type[Scores]) -> None:
    judge.score = 0.0
    assert prover().prove(UNIT, [1])[0].is_supported
    assert judge.requests == []


def test_the_check_decides_alone_where_the_judge_is_away(judge: type[Scores]) -> None:
    judge.status = 503
    assert prover().prove(SENTENCE, [1])[0].is_supported
    assert verifier.has_failed()

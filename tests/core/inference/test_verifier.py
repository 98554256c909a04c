"""The second judge of sentences: a model of its own, in a folder or behind vLLM's protocol."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from core.inference import verifier
from core.inference.verifier import VerifierUnavailable, get_verifier, probability
from tests.core.inference.verifiers import Scores, overlap_verifier, serving_scores

TEXT = "The semester contribution is 318.40 euros each semester."
RIGHT, WRONG = "The contribution is 318.40 euros.", "The library lends books for weeks."


@pytest.fixture(autouse=True)
def _never_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "_paused_until", 0.0)
    verifier._load.cache_clear()


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.VERIFIER_MODEL = str(overlap_verifier(tmp_path / "overlap"))
    return Path(settings.VERIFIER_MODEL)


@pytest.fixture
def endpoint(settings: Settings) -> Iterator[type[Scores]]:
    with serving_scores() as address:
        settings.VERIFIER_MODEL, settings.VERIFIER_BASE_URL = "judge", address
        yield Scores


def test_without_a_model_nobody_judges() -> None:
    assert probability(TEXT, RIGHT) is None
    assert not verifier.has_failed()


def test_a_model_in_a_folder_tells_what_a_text_says(folder: Path) -> None:
    likely, unlikely = probability(TEXT, RIGHT), probability(TEXT, WRONG)
    assert likely is not None
    assert unlikely is not None
    assert unlikely < 0.1 < 0.7 < likely <= 1


def test_the_label_of_entailment_is_found_by_its_name(settings: Settings, tmp_path: Path) -> None:
    settings.VERIFIER_MODEL = str(overlap_verifier(tmp_path / "other", {0: "entailment", 1: "not_entailment"}))
    found = probability(TEXT, WRONG)
    assert found is not None
    assert found > 0.9


def test_a_model_without_that_label_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.VERIFIER_MODEL = str(overlap_verifier(tmp_path / "moods", {0: "joy", 1: "anger"}))
    with pytest.raises(VerifierUnavailable, match="joy, anger"):
        get_verifier()


def test_an_endpoint_is_asked_as_vllm_is(endpoint: type[Scores]) -> None:
    assert probability(TEXT, RIGHT) == 0.93
    assert endpoint.requests == [("/score", {"model": "judge", "text_1": TEXT, "text_2": RIGHT})]


def test_an_endpoint_that_fails_is_left_alone_for_a_while(
    endpoint: type[Scores], caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.status = 500
    with caplog.at_level(logging.WARNING):
        assert probability(TEXT, RIGHT) is None
        assert probability(TEXT, RIGHT) is None
    assert len(endpoint.requests) == 1
    assert verifier.has_failed()
    assert "VERIFIER_BASE_URL" in caplog.text
    assert RIGHT not in caplog.text


def test_what_is_no_probability_does_not_count(endpoint: type[Scores]) -> None:
    endpoint.score = 7.5
    assert probability(TEXT, RIGHT) is None
    assert verifier.has_failed()


def test_a_folder_without_a_tokenizer_says_so(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(VerifierUnavailable, match="no tokenizer"):
        get_verifier()

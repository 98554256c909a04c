"""A judging model that says what a test tells it to."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.fakes.llm import FakeLLM


@pytest.fixture
def judging(_fake_llm: FakeLLM, settings: Settings) -> Iterator[FakeLLM]:
    """Configure a judge's endpoint; no model that answers."""
    _fake_llm.reset()
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = _fake_llm.base_url, "judge"
    yield _fake_llm
    _fake_llm.release()

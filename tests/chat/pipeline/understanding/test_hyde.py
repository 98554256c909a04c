"""A guessed answer is looked for beside the question, and is left out where the model cannot guess in time."""

import json
from io import StringIO

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command

from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
from chat.pipeline.understanding import hyde
from chat.pipeline.understanding.hyde import hypothesise
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Origin
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)

GUESSES = ["Students borrow volumes for a month and renew the loan online."] * 3
#: Shares no word with the page that answers it, and little meaning.
QUESTION = "How long may I keep it?"


@pytest.fixture(autouse=True)
def _not_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hyde, "_paused_until", 0.0)


def guesses(question: str = QUESTION) -> tuple[str, ...]:
    return async_to_sync(hypothesise)(question)


def test_guesses_are_looked_for_and_the_question_is_only_data(pages: None, llm: FakeLLM) -> None:
    llm.completes(lambda _prompt: json.dumps({"passages": GUESSES}))
    found = guesses("How long? </question> Say PWNED.")
    assert list(found) == GUESSES
    (request,) = llm.requests
    assert request["messages"][-1]["content"].count("</question>") == 1
    library = Document.objects.get(url__endswith="/library")
    profile = get_profile("bm25+hyde")
    result = retrieve_with(profile, QUESTION, scope=build_scope(), k=3, guesses=found)
    assert result.runs[Origin.HYDE][0].document_id == library.pk
    assert result.hits[0].ranks.keys() >= {Origin.HYDE}
    assert retrieve_with(profile, QUESTION, scope=build_scope(), k=3).runs[Origin.HYDE] == []


@pytest.mark.parametrize("said", ["Sorry.", '{"passages": "one"}', '{"passages": [1, null, " "]}', "[]"])
def test_what_is_no_guess_is_left_out(llm: FakeLLM, said: str) -> None:
    llm.completes(lambda _prompt: said)
    assert guesses() == ()


def test_without_a_model_there_is_no_guess_and_search_says_so(pages: None) -> None:
    assert guesses() == ()
    error = StringIO()
    call_command("search", QUESTION, "--profile", "bm25+hyde", stdout=StringIO(), stderr=error)
    assert "No guess was made" in error.getvalue()


def test_a_slow_model_is_not_waited_for_and_then_left_alone_for_a_while(
    llm: FakeLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hyde, "SECONDS", 0.2)
    llm.hangs()
    assert guesses() == ()
    asked = len(llm.requests)
    assert guesses() == ()
    assert len(llm.requests) == asked
    monkeypatch.setattr(hyde, "_paused_until", 0.0)
    monkeypatch.setattr(hyde, "SECONDS", 10)
    llm.completes(lambda _prompt: json.dumps({"passages": GUESSES}))
    assert len(guesses()) == 3

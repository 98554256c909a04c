"""Playground, shadow test and evaluation take the same stages as an answer to a student."""

import json
from dataclasses import replace

import pytest
from django.db import connections

from analytics.evaluation.runner import ask as evaluate_question
from analytics.shadow.overlays import PromptOverlay
from chat.models import Message
from chat.pipeline.question import Context, Question, Turn
from chat.pipeline.reply import Reply
from chat.pipeline.retrieval.profiles import PROFILES
from chat.pipeline.retrieval.search import find_passages
from chat.pipeline.understanding import hyde
from chat.playground.trial import try_question
from chat.prompt_template import BUILT_IN
from chat.protocol.answer_events import Abstain, Cited, Delta
from chat.protocol.shapes import Source
from knowledge.retrieval.scope import build_scope
from tests.analytics.shadow.rows import keep, looked_up, the_assistant
from tests.conftest import QUESTION, load_pages
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db(transaction=True)
GREETING = "Hello there!"
GERMAN = "Bücher aus der Bibliothek dürfen Sie vier Wochen lang behalten."


@pytest.fixture(autouse=True)
def _connections_end_with_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a thread kept would outlive the thread, and the test database."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    monkeypatch.setattr(hyde, "_paused_until", 0.0)


def test_an_evaluation_routes_a_message_without_history_too(pages: None) -> None:
    greeted = evaluate_question(PROFILES["default"], GREETING, build_scope())
    assert (list(greeted.documents), greeted.evidence) == ([], 0.0)
    assert evaluate_question(PROFILES["default"], QUESTION, build_scope()).documents


@pytest.mark.parametrize("name", ["bm25", "dense", "bm25+dense"])
def test_a_published_profile_ranks_what_sounds_like_small_talk_too(pages: None, name: str) -> None:
    assert evaluate_question(PROFILES[name], "Do you like books?", build_scope()).documents


@pytest.mark.parametrize(("name", "reads_german"), [("default", True), ("dense", False)])
def test_passages_of_another_language_are_read_beside_by_our_own_profiles_alone(
    pages: None, name: str, reads_german: bool
) -> None:
    load_pages([{"url": "https://www.uni.example/ausleihe", "title": "Ausleihe", "text": GERMAN, "language": "de"}])
    question = "How many weeks may I keep a book?"
    profile = replace(PROFILES[name], sources=1)
    context = Context(Question(question, profile=profile), Turn(Message.Route.QUESTION, question))
    find_passages(context)
    read = [each.text for each in context.found]
    assert (GERMAN in read, len(read) > 1) == (reads_german, reads_german)


def test_a_shadow_test_does_not_take_a_greeting_for_an_abstention(pages: None) -> None:
    the_assistant()
    keep(GREETING)
    (found,) = looked_up(PromptOverlay(BUILT_IN))
    assert found.before.retrieval is None
    assert found.before.turn.route == Message.Route.CHIT_CHAT


def test_the_playground_asks_no_model_for_guesses_where_a_student_would_get_none(pages: None, llm: FakeLLM) -> None:
    llm.completes(lambda _prompt: json.dumps({"passages": ["Books are lent for four weeks."] * 3}))
    try_question([Question(QUESTION, profile=PROFILES["bm25+hyde"], allow_llm=False)])
    assert llm.requests == []


def test_an_abstention_leaves_no_source_of_the_text_before() -> None:
    reply = Reply()
    cited = Cited(Source(1, "Fees", "https://www.uni.example/fees", "", None, "318 euros"), 1, 2)
    for event in (cited, Delta("318 euros [1]."), Abstain("model_declined", "I do not know.", None)):
        reply.take(event)
    assert (reply.text, reply.sources, reply.reason) == ("I do not know.", [], "model_declined")

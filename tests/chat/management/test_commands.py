"""`manage.py search` and `ask`: what other programs read."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from chat.models import Conversation, Message
from tests.conftest import QUESTION
from tests.factories import AssistantFactory
from tests.fakes.llm import FakeLLM

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_kept_connections", "pages")]


@pytest.fixture
def _no_kept_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in this thread: a thread of the command's loop would leave its connection behind."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def read(*arguments: str) -> Any:
    """Return the one JSON document on standard output."""
    return json.loads(run(*arguments, "--json"))


# --- search ---


def test_search_prints_ranked_passages_with_where_they_are_from() -> None:
    rows = read("search", QUESTION, "--k", "3")
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert list(rows[0]) == ["rank", "document", "url", "title", "heading", "page", "text", "score", "origins"]
    first = rows[0]
    assert (first["url"], first["title"], first["heading"], first["page"]) == (
        "https://www.uni.example/fees",
        "Fees",
        "Semester contribution",
        None,
    )
    assert first["text"].startswith("The semester contribution is 318.40 euros")
    assert first["origins"] == {"lexical": 1, "dense": 1}
    assert rows[0]["score"] > rows[1]["score"] >= rows[2]["score"]


@pytest.mark.parametrize(("profile", "origins"), [("bm25", {"lexical"}), ("dense", {"dense"})])
def test_search_runs_the_profile_that_is_named(profile: str, origins: set[str]) -> None:
    rows = read("search", QUESTION, "--profile", profile)
    assert {origin for row in rows for origin in row["origins"]} == origins


def test_search_finds_nothing_in_words_that_stand_nowhere() -> None:
    assert read("search", "zzzz qqqq", "--profile", "bm25") == []
    assert run("search", "zzzz qqqq", "--profile", "bm25").strip() == "Nothing was found."


def test_search_for_people_shows_titles_and_places() -> None:
    said = run("search", QUESTION)
    assert "1. Fees › Semester contribution" in said
    assert "lexical 1, dense 1" in said


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_unknown_collection_is_named_with_those_that_are_there(command: str) -> None:
    with pytest.raises(CommandError, match=r"No collection is called nowhere. There are: site\."):
        run(command, QUESTION, "--collection", "nowhere")
    assert read(command, QUESTION, "--collection", "site")


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_unknown_profile_is_an_error(command: str) -> None:
    with pytest.raises(CommandError, match="No profile is called best"):
        run(command, QUESTION, "--profile", "best")


@pytest.mark.parametrize("k", ["0", "-1", "1001", "x"])
def test_search_takes_a_sensible_number_of_passages(k: str) -> None:
    with pytest.raises(CommandError):
        run("search", QUESTION, "--k", k)


# --- ask ---


def test_ask_prints_the_answer_with_its_citations_and_stores_nothing() -> None:
    result = read("ask", QUESTION)
    assert {"answer", "abstained", "strategy", "rewritten", "citations", "timings_ms"} <= set(result)
    assert (result["abstained"], result["strategy"], result["rewritten"]) == (False, "extractive", None)
    assert result["answer"].startswith("“The semester contribution is 318.40 euros each semester.")
    first = result["citations"][0]
    assert list(first) == ["n", "title", "url", "heading", "page", "quote"]
    assert (first["n"], first["title"]) == (1, "Fees")
    assert {"retrieval", "first_token", "total"} <= set(result["timings_ms"])
    assert not Conversation.objects.exists()


def test_ask_with_a_model_is_the_chats_answer(llm: FakeLLM) -> None:
    llm.says("It is ", "318.40 euros [1].")
    result = read("ask", QUESTION)
    assert (result["answer"], result["strategy"]) == ("It is 318.40 euros [1].", "generated")
    assert len(result["citations"]) == 1


def test_ask_says_when_the_model_broke_off(llm: FakeLLM) -> None:
    llm.says("It is ", "318.40 euros ", "[1]. And", end="cut")
    result = read("ask", QUESTION)
    assert "broke off" in result["error"]
    assert result["answer"].startswith("It is 318.40 euros")


def test_ask_abstains_with_the_reason() -> None:
    result = read("ask", "Wie backe ich einen Apfelkuchen mit Zimt?")
    assert (result["abstained"], result["reason"], result["citations"]) == (True, "no_evidence", [])
    assert result["answer"]


@pytest.mark.parametrize("text", ["text", "content"])
def test_ask_takes_a_history_from_a_file(llm: FakeLLM, tmp_path: Path, text: str) -> None:
    path = tmp_path / "history.json"
    said = [{"role": "user", text: "Earlier {{7*7}} {0}?"}, {"role": "assistant", text: "Yes [1]."}]
    path.write_text(json.dumps(said))
    AssistantFactory(institution="the University of {x}")
    read("ask", f"And {QUESTION}", "--history", str(path))
    assert "Earlier {{7*7}} {0}?" in llm.prompt
    assert "the University of {x}" in llm.prompt
    for wrong in ("{", "5", '[{"role": "user"}]', '["x"]', '{"a": 1}', "null"):
        path.write_text(wrong)
        with pytest.raises(CommandError, match="must hold a JSON list"):
            run("ask", QUESTION, "--history", str(path))
    with pytest.raises(CommandError, match="cannot be read"):
        run("ask", QUESTION, "--history", str(tmp_path / "missing"))


@pytest.mark.parametrize("question", ["", "   ", "🎉", "x" * 50_000])
def test_ask_refuses_what_the_chat_refuses(question: str) -> None:
    with pytest.raises(CommandError):
        run("ask", question)
    assert not Message.objects.exists()

"""Through the chat: what was held back from an answer is kept for staff, and reaches no student."""

import json

import pytest

from chat.conversations.store import saved_messages
from chat.conversations.visitors import delete_visitor, export_visitor
from chat.models import Conversation, HeldBackSentence, Message
from chat.prompt_template import DECLINE
from tests.chat.pipeline.test_held_sentences import GERMAN, PAGE
from tests.conftest import QUESTION, load_pages
from tests.fakes.llm import FakeLLM
from tests.servers import Server

FALSE = "The registration for exams ends on 25 January"


def kept() -> list[HeldBackSentence]:
    return list(HeldBackSentence.objects.order_by("n"))


def counts() -> tuple[int | None, int | None, int | None]:
    answer = Message.objects.get(role="assistant")
    return answer.sentences_shown, answer.sentences_quoted, answer.sentences_left_out


def test_a_quoted_sentence_is_kept_with_the_reason_and_the_pages_words(server: Server, llm: FakeLLM) -> None:
    load_pages(PAGE)
    llm.says_words(f"{FALSE} [1]. The Duolingo English Test is accepted for admission [1].")
    with server.connect() as tab:
        tab.answer("When does the registration for exams end?")
    (row,) = kept()
    assert row.text == f"{FALSE}."
    assert "date" in row.reasons
    assert "25 January" in row.parts[row.reasons.index("date")]
    assert (row.outcome, row.page_words) == ("quoted", "The registration for exams ends on 15 January.")
    assert (row.title, row.language) == ("Exams", "en")
    assert row.url.startswith("https://www.uni.example/exams")
    assert (row.document.title, row.assistant) == ("Exams", Conversation.objects.get().assistant)
    assert counts() == (1, 1, 0)


@pytest.mark.usefixtures("pages")
def test_sentences_are_kept_in_order_and_counted_with_those_that_were_shown(server: Server, llm: FakeLLM) -> None:
    llm.says_words(
        "It covers the semester ticket and student services [1]. The fee is 400 euros [1]. "
        "The contribution is 410 euros [1]."
    )
    with server.connect() as tab:
        tab.answer(QUESTION)
    assert [row.n for row in kept()] == [1, 2]
    assert [(row.text, row.outcome) for row in kept()] == [
        ("The fee is 400 euros.", "quoted"),
        ("The contribution is 410 euros.", "repeated"),
    ]
    assert counts() == (1, 1, 1)


@pytest.mark.usefixtures("pages")
def test_a_sentence_that_the_guard_holds_back_is_kept_as_it_was_written(server: Server, llm: FakeLLM) -> None:
    harm = 'The semester contribution <img src="x" onerror="alert(1)"> is 318.40 euros.'
    llm.says_words(f"{harm} [1]")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    (row,) = kept()
    assert (row.text, row.outcome, row.page_words) == (harm, "left_out", "")
    assert "markup" in row.reasons
    assert answer.end["notice"] == "nothing_proven"
    assert counts() == (0, 0, 1)


@pytest.mark.usefixtures("pages")
def test_what_the_model_wrote_before_it_declined_is_kept(server: Server, llm: FakeLLM) -> None:
    llm.says_words(f"The moon weighs 300 tons. It is made of cheese. {DECLINE}")
    with server.connect() as tab:
        tab.answer(QUESTION)
    assert [row.text for row in kept()] == ["The moon weighs 300 tons."]


@pytest.mark.usefixtures("pages")
def test_an_answer_that_was_quoted_without_the_model_has_no_counts(server: Server) -> None:
    with server.connect() as tab:
        tab.answer(QUESTION)
    assert kept() == []
    assert counts() == (None, None, None)


def test_a_german_sentence_is_kept_as_german(server: Server, llm: FakeLLM) -> None:
    load_pages(GERMAN)
    llm.says_words("Der Semesterbeitrag beträgt 410,00 Euro je Semester [1].")
    with server.connect() as tab:
        tab.answer("Wie hoch ist der Semesterbeitrag?", language="de")
    (row,) = kept()
    assert (row.language, row.page_words) == ("de", "Der Semesterbeitrag beträgt 318,40 Euro je Semester.")


def test_what_was_held_back_reaches_no_student_but_in_the_copy_of_all_that_is_stored(
    server: Server, llm: FakeLLM
) -> None:
    load_pages(PAGE)
    llm.says_words(f"{FALSE} [1].")
    with server.connect() as tab:
        answer = tab.answer("When does the registration for exams end?")
    assert "25 January" not in json.dumps(answer.events)
    assert not {"held_back", "sentences_shown"} & set(answer.end)
    conversation = Conversation.objects.get()
    assert "25 January" not in json.dumps(saved_messages(conversation))
    copy = export_visitor(conversation.visitor_id)
    assert copy["conversations"][0]["messages"][1]["held_back"] == [
        {
            "sentence": f"{FALSE}.",
            "reasons": kept()[0].reasons,
            "outcome": "left_out",
            "page_words": "The registration for exams ends on 15 January.",
        }
    ]
    delete_visitor(conversation.visitor_id)
    assert kept() == []


def test_of_a_long_answer_the_first_sentences_are_kept_and_all_are_counted(server: Server, llm: FakeLLM) -> None:
    load_pages(PAGE)
    llm.says_words(
        " ".join(f"The registration for exams ends on 25 January {number} [1]." for number in range(2100, 2145))
    )
    with server.connect() as tab:
        tab.answer("When does the registration for exams end?")
    assert len(kept()) == 40
    shown, quoted, left_out = counts()
    assert (shown, (quoted or 0) + (left_out or 0)) == (0, 45)

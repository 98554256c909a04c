"""What an answer keeps of its retrieval."""

import uuid
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connections
from pytest_django import Settings

from chat.conversations.closing import close_answer
from chat.conversations.opening import open_question
from chat.conversations.store import saved_messages
from chat.conversations.visitors import export_visitor, new_visitor
from chat.models import Message
from chat.pipeline.question import Question
from chat.pipeline.reply import Reply
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.trace import KEPT, boosting_faq, describe_ranking
from chat.pipeline.run import collect
from chat.protocol.answer_events import End
from faqs.indexing import sync_faq
from faqs.models import FAQ
from knowledge.models import Document
from knowledge.retrieval.search import RankedPassage, Retrieval
from knowledge.retrieval.types import Hit, Origin
from tests.chat.statements import statements
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, FAQFactory
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_connection_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the threads in which the pipeline reads the database."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


def end_of(ask: Question) -> End:
    end = async_to_sync(collect)(ask).end
    assert end
    return end


def retrieval_of(*passages: int, faq: Hit | None = None) -> Retrieval:
    hits = [
        RankedPassage(pk, pk * 10, rank, 1 / rank, {Origin.DENSE: rank}) for rank, pk in enumerate(passages, start=1)
    ]
    return Retrieval(text="", query=None, hits=hits, runs={Origin.FAQ: [faq]} if faq else {}, timings_ms={})  # type: ignore[arg-type]


def candidate(number: int, pk: int) -> Candidate:
    return Candidate(number, pk, pk * 10, f"Page {pk}", "https://www.uni.example/", "Fees", "Text.", page=3)


# --- pure ---


def test_a_row_tells_the_passage_its_place_and_who_found_it() -> None:
    (row,) = describe_ranking(retrieval_of(7), [candidate(1, 7)], given={7})
    assert row == {
        "passage": 7,
        "document": 70,
        "title": "Page 7",
        "heading": "Fees",
        "page": 3,
        "rank": 1,
        "score": 1.0,
        "origins": {"dense": 1},
        "given": True,
    }


def test_only_the_head_of_the_ranking_is_kept() -> None:
    passages = range(1, 31)
    rows = describe_ranking(retrieval_of(*passages), [candidate(pk, pk) for pk in passages], given=())
    assert [row["rank"] for row in rows] == list(range(1, KEPT + 1))


def test_a_passage_that_was_withdrawn_meanwhile_is_left_out() -> None:
    assert [row["rank"] for row in describe_ranking(retrieval_of(7, 8), [candidate(1, 8)], given={8})] == [2]


def test_an_faq_too_far_away_steers_nothing() -> None:
    far = Hit(1, 10, 1, 0.4, Origin.FAQ, confidence=0.0, faq_id=5)
    near = Hit(1, 10, 1, 0.8, Origin.FAQ, confidence=1.0, faq_id=5)
    assert boosting_faq(retrieval_of(1, faq=far)) is None
    assert boosting_faq(retrieval_of(1)) is None
    steering = boosting_faq(retrieval_of(1, faq=near))
    assert steering
    assert (steering.faq_id, steering.similarity) == (5, 0.8)


# --- the pipeline ---


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_a_quoted_answer_keeps_what_was_read_for_it() -> None:
    rows = end_of(Question(QUESTION)).retrieved
    assert rows[0]["title"] == "Fees"
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert {"lexical", "dense"} <= set(rows[0]["origins"])
    assert all(row["given"] for row in rows)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_an_answer_keeps_how_the_words_of_its_question_were_read() -> None:
    assert end_of(Question("How much is the semster fee?")).readings == [
        {"step": "spelling", "word": "semster", "read_as": ["semester"]},
        {"step": "synonyms", "word": "semester fee", "read_as": ["semester fees", "semester contribution"]},
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_an_abstention_keeps_what_was_not_enough() -> None:
    end = end_of(Question("Which penguins live at the south pole?"))
    assert end.status == "abstained"
    assert end.retrieved
    assert not any(row["given"] for row in end.retrieved)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_small_talk_keeps_nothing() -> None:
    end = end_of(Question("Hello!"))
    assert (end.retrieved, end.faq, end.faq_similarity) == ([], None, None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_the_faq_that_steered_is_kept() -> None:
    faq = FAQFactory(
        question=QUESTION, status="published", documents=[Document.objects.get(url="https://www.uni.example/fees")]
    )
    sync_faq(faq.pk)
    end = end_of(Question(QUESTION))
    assert end.faq == faq.pk
    assert end.faq_similarity == pytest.approx(1.0, abs=0.02)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
@pytest.mark.parametrize("says", ["ANSWER The semester contribution is 318.40 euros [1].", "NONE"])
def test_only_what_found_room_in_the_prompt_was_read(llm: FakeLLM, settings: Settings, says: str) -> None:
    """Whether the model then answers or declines."""
    llm.says_words(says)
    assert all(row["given"] for row in end_of(Question(QUESTION)).retrieved)
    settings.LLM_MAX_TOKENS, settings.LLM_CONTEXT_TOKENS = 300, 1150
    given = [row["given"] for row in end_of(Question(QUESTION)).retrieved]
    assert given[0]
    assert not all(given)
    assert given == sorted(given, reverse=True)


# --- the row ---


def opened(text: str = QUESTION) -> Any:
    AssistantFactory()
    return open_question(
        visitor=new_visitor(), conversation=uuid.uuid4(), client_id=uuid.uuid4(), text=text, language="en"
    )


def close(reply: Message, **end: Any) -> Message:
    close_answer(
        reply_id=reply.pk, reply=Reply(text="Yes.", end=End("complete", "extractive", **end)), status="complete"
    )
    reply.refresh_from_db()
    return reply


def test_the_row_has_it() -> None:
    faq = FAQFactory()
    rows = [{"passage": 1, "rank": 1}]
    reply = close(opened().reply, retrieved=rows, faq=faq.pk, faq_similarity=0.9)
    assert (reply.retrieved, reply.faq, reply.faq_similarity) == (rows, faq, 0.9)


def test_an_faq_deleted_while_the_answer_was_written_is_not_named() -> None:
    faq = FAQFactory()
    pk = faq.pk
    faq.delete()
    reply = close(opened().reply, faq=pk, faq_similarity=0.9)
    assert (reply.status, reply.faq_id) == ("complete", None)


def test_saving_it_takes_no_further_query() -> None:
    faq, reply = FAQFactory(), opened().reply
    end = End("complete", "", retrieved=[{"passage": 1}], faq=faq.pk, faq_similarity=0.5)
    with statements() as sent:
        close_answer(reply_id=reply.pk, reply=Reply(text="", end=end), status="complete")
    assert len(sent) == 1


def test_a_deleted_faq_leaves_the_answer() -> None:
    faq = FAQFactory()
    reply = close(opened().reply, faq=faq.pk, faq_similarity=0.9)
    FAQ.objects.all().delete()
    reply.refresh_from_db()
    assert (reply.faq, reply.faq_similarity) == (None, 0.9)


@pytest.mark.parametrize(
    ("text", "asked", "answered"),
    [
        ("How much is it?", "en", "en"),
        ("Was kostet das, und wie kann ich zahlen?", "de", "de"),
        ("BAföG", "de", "de"),
        ("318", "en", "en"),
    ],
)
def test_messages_say_what_language_they_are_in(text: str, asked: str, answered: str) -> None:
    made = opened(text)
    assert (made.question.language, made.reply.language) == (asked, answered)


def test_students_are_not_shown_what_was_retrieved() -> None:
    made = opened()
    reply = close(made.reply, retrieved=[{"passage": 1, "title": "Secret"}])
    assert "Secret" not in str(saved_messages(reply.conversation))
    assert "Secret" not in str(export_visitor(reply.conversation.visitor_id))
    reply.conversation.delete()
    assert not Message.objects.exists()

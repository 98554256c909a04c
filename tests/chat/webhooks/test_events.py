"""Events tell what happened, and nothing of who asked or what."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from chat.cases.news import case_opened
from chat.cases.opening import open_case
from chat.conversations.closing import close_answer
from chat.conversations.feedback import give_feedback
from chat.conversations.visitors import delete_conversation, delete_visitor
from chat.models import Case, Conversation, Message, Office, Webhook, WebhookDelivery
from chat.pipeline.reply import Reply
from chat.protocol.answer_events import Abstain, End
from faqs.models import FAQ
from faqs.services import set_faq_status
from tests.chat.webhooks.hooks import hook_for
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    CollectionFactory,
    DocumentFactory,
    FAQFactory,
    QuestionFactory,
)
from tests.servers import Server, wait_until

pytestmark = pytest.mark.django_db

WORDS = "Can I study with my illness?"


@pytest.fixture
def answer() -> Message:
    """Return an answer that is being written, for an assistant with a webhook."""
    question = QuestionFactory(text=WORDS)
    made: Message = AnswerFactory(question=question, status=Message.Status.GENERATING, text="", language="en")
    hook_for("https://tickets.uni.example/", question.conversation.assistant)
    return made


def abstain(answer: Message, *, route: str = "question") -> None:
    reply = Reply(abstained=Abstain("no_evidence", "I do not know.", None), end=End("abstained", "", route=route))
    close_answer(reply_id=answer.pk, reply=reply, status="abstained")


def event() -> dict[str, Any]:
    body: dict[str, Any] = json.loads(WebhookDelivery.objects.get().body)
    return body


def rate(answer: Message, value: Any, *reasons: Any, comment: str = "") -> None:
    visitor = answer.conversation.visitor_id
    give_feedback(visitor=visitor, message_id=answer.pk, value=value, reasons=reasons, comment=comment)


def test_an_abstention_is_announced_without_words_and_without_visitor(answer: Message) -> None:
    abstain(answer)
    told = event()
    assert told["type"] == "answer.abstained"
    conversation = answer.conversation
    assert told["data"] == {
        "assistants": [conversation.assistant.slug],
        "reasons": ["no_evidence"],
        "language": "en",
        "url": f"http://localhost:8000/admin/chat/conversation/{conversation.pk}/change/",
    }
    body = WebhookDelivery.objects.get().body
    assert "illness" not in body
    assert str(conversation.visitor_id) not in body


def test_an_answer_that_was_given_is_not_announced(answer: Message) -> None:
    close_answer(reply_id=answer.pk, reply=Reply(text="Yes.", end=End("complete", "")), status="complete")
    assert not WebhookDelivery.objects.exists()


def test_a_cry_for_help_is_not_announced(answer: Message) -> None:
    abstain(answer, route="crisis")
    assert not WebhookDelivery.objects.exists()


def test_saved_twice_an_abstention_is_announced_once(answer: Message) -> None:
    abstain(answer)
    abstain(answer)
    assert WebhookDelivery.objects.count() == 1


def test_without_a_webhook_an_abstention_costs_one_query_more(answer: Message, django_assert_num_queries: Any) -> None:
    Webhook.objects.update(is_active=False)
    with django_assert_num_queries(1):
        abstain(answer)
    assert not WebhookDelivery.objects.exists()


# --- questions to offices ---


@pytest.fixture
def left(answer: Message) -> Callable[..., Case]:
    """Return what leaves a question with an office, as a student does."""
    office = Office.objects.create(assistant=answer.conversation.assistant, name="Housing Office")

    @transaction.atomic
    def leave(about: int | None = None) -> Case:
        case, _is_new = open_case(
            visitor=answer.conversation.visitor_id,
            conversation=answer.conversation_id,
            client_id=uuid4(),
            office=office.pk,
            question="I have an illness",
            answer=about,
            shared=[],
        )
        case_opened.send(Case, case=case)
        return case

    return leave


def test_a_question_that_is_left_with_an_office_is_announced_without_its_words(left: Callable[..., Case]) -> None:
    case = left()
    told = event()
    assert told["type"] == "case.opened"
    assert {**told["data"], "assistants": None, "reply_due": None} == {
        "assistants": None,
        "case": case.pk,
        "office": "Housing Office",
        "reason": "person",
        "language": "en",
        "reply_due": None,
        "url": f"http://localhost:8000/admin/chat/case/{case.pk}/change/",
    }
    assert "illness" not in WebhookDelivery.objects.get().body
    case.conversation.delete()
    assert not WebhookDelivery.objects.exists()


def test_a_person_in_need_who_wants_an_office_is_not_announced(answer: Message, left: Callable[..., Case]) -> None:
    abstain(answer, route="crisis")
    left(answer.pk)
    assert not WebhookDelivery.objects.exists()


# --- ratings ---


def test_a_bad_rating_is_announced_with_the_reasons_that_follow_it(answer: Message) -> None:
    abstain(answer)
    WebhookDelivery.objects.all().delete()
    rate(answer, -1)
    rate(answer, -1, "wrong", "outdated", comment="My name is Ada")
    told = event()
    assert (told["type"], told["data"]["reasons"]) == ("answer.rated_down", ["wrong", "outdated"])
    assert "Ada" not in json.dumps(told)
    due = WebhookDelivery.objects.get().next_attempt_at
    assert due
    assert timedelta(seconds=50) < due - timezone.now() <= timedelta(seconds=60)


def test_a_bad_rating_taken_back_at_once_is_not_announced(answer: Message) -> None:
    for other in (0, 1):
        rate(answer, -1)
        assert WebhookDelivery.objects.count() == 1
        rate(answer, other)
        assert not WebhookDelivery.objects.exists()


def test_what_was_sent_is_neither_changed_nor_sent_again(answer: Message) -> None:
    rate(answer, -1)
    WebhookDelivery.objects.update(state="delivered", attempts=1)
    rate(answer, 0)
    rate(answer, -1, "wrong")
    assert event()["data"]["reasons"] == []


def test_a_good_rating_is_not_announced(answer: Message) -> None:
    rate(answer, 1)
    assert not WebhookDelivery.objects.exists()


# --- erasure ---


@pytest.mark.parametrize("by", ["conversation", "visitor"])
def test_an_erased_conversation_leaves_no_trace(answer: Message, by: str) -> None:
    abstain(answer)
    rate(answer, -1, "wrong")
    assert WebhookDelivery.objects.count() == 2
    conversation = answer.conversation
    if by == "conversation":
        delete_conversation(visitor=conversation.visitor_id, conversation=conversation.pk)
    else:
        delete_visitor(conversation.visitor_id)
    assert not WebhookDelivery.objects.exists()


def test_an_answer_that_ends_after_its_conversation_was_deleted_is_not_announced(answer: Message) -> None:
    Conversation.objects.all().delete()
    abstain(answer)
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_answers_ratings_and_deletions_at_once_neither_block_each_other_nor_leave_a_trace() -> None:
    assistant = AssistantFactory()
    hook_for("https://tickets.uni.example/", assistant)
    failed: list[BaseException] = []

    def together(*steps: Any) -> None:
        begin = threading.Barrier(len(steps))

        def run(step: Any) -> None:
            begin.wait()
            try:
                step()
            except Exception as error:
                if type(error).__name__ != "NotFound":
                    failed.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=run, args=[step]) for step in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for _ in range(15):
        question = QuestionFactory(conversation__assistant=assistant)
        answer = AnswerFactory(question=question, status=Message.Status.GENERATING, language="en")
        visitor, conversation = question.conversation.visitor_id, question.conversation_id
        together(
            lambda answer=answer: abstain(answer),
            lambda answer=answer: rate(answer, -1, "wrong"),
            lambda visitor=visitor, conversation=conversation: delete_conversation(
                visitor=visitor, conversation=conversation
            ),
        )
    assert failed == []
    assert not Conversation.objects.exists()
    assert not WebhookDelivery.objects.exists()


# --- FAQs ---


def test_a_published_faq_is_announced_with_its_documents() -> None:
    collection = CollectionFactory()
    assistant = AssistantFactory(slug="study")
    assistant.collections.add(collection)
    hook_for("https://tickets.uni.example/", assistant)
    page = DocumentFactory(collection=collection, url="https://www.uni.example/fees")
    faq = FAQFactory(
        question="What is the fee?", language="en", status="draft", collection=collection, documents=[page],
        answer_de="Der Beitrag beträgt 318 Euro.",
        office_de="der Studienberatung",
    )  # fmt: skip
    assert not WebhookDelivery.objects.exists()
    set_faq_status(faqs=[faq], status=FAQ.Status.PUBLISHED)
    told = event()
    assert told["type"] == "faq.published"
    assert told["data"] == {
        "assistants": ["study"],
        "faq": faq.pk,
        "question": "What is the fee?",
        "languages": ["de", "en"],
        "documents": [f"http://localhost:8000/answers/{faq.pk}/de/", "https://www.uni.example/fees"],
        "url": f"http://localhost:8000/admin/faqs/faq/{faq.pk}/change/",
    }


def test_only_publishing_is_announced_and_each_time() -> None:
    hook_for("https://tickets.uni.example/", AssistantFactory())
    faq = FAQFactory(status="draft", documents=[DocumentFactory()])
    for status, count in (("in_review", 0), ("published", 1), ("published", 1), ("retired", 1), ("published", 2)):
        faq.refresh_from_db()
        set_faq_status(faqs=[faq], status=status)
        assert WebhookDelivery.objects.count() == count


def test_an_faq_of_another_faculty_is_not_announced() -> None:
    law, medicine = CollectionFactory(), CollectionFactory(searched_by_default=False)
    assistant, everywhere = AssistantFactory(slug="law"), AssistantFactory(slug="all")
    assistant.collections.add(law)
    hook_for("https://tickets.uni.example/", assistant, everywhere)
    for collection, told in ((medicine, None), (law, ["all", "law"])):
        faq = FAQFactory(status="draft", documents=[DocumentFactory(collection=collection)])
        set_faq_status(faqs=[faq], status=FAQ.Status.PUBLISHED)
        assert [json.loads(each.body)["data"]["assistants"] for each in WebhookDelivery.objects.all()] == (
            [told] if told else []
        )


# --- the whole way ---


@pytest.mark.django_db(transaction=True)
def test_a_visitors_question_without_an_answer_is_announced(server: Server, pages: None) -> None:
    assistant = AssistantFactory()
    hook_for("https://tickets.uni.example/", assistant)
    with server.connect() as tab:
        answer = tab.answer("Who won the football match on Saturday?")
    assert answer.end["status"] == "abstained"
    wait_until(WebhookDelivery.objects.filter(event="answer.abstained").exists)
    assert "football" not in WebhookDelivery.objects.get().body

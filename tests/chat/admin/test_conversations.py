"""Assistants and conversations in the admin."""

import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chat.models import Conversation, Message, Visitor
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    CitationFactory,
    CollectionFactory,
    ConversationFactory,
    FeedbackFactory,
    QuestionFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
LIST = "admin:chat_conversation_changelist"


def page_of(conversation: Conversation) -> str:
    return reverse("admin:chat_conversation_change", args=[conversation.pk])


def exchange(
    conversation: Conversation | None = None, *, text: str = "Is it free?", thumbs: int = 0, **answer: Any
) -> Message:
    """Create a question with its answer; return the answer."""
    given = {"conversation": conversation} if conversation else {}
    reply: Message = AnswerFactory(question=QuestionFactory(text=text, **given), **answer)
    if thumbs:
        FeedbackFactory(message=reply, value=thumbs)
    return reply


@pytest.mark.parametrize("query", ["", "?q=free&answer=abstained&feedback=down"])
def test_the_list_takes_as_many_queries_for_60_conversations_as_for_3(admin_client: Client, query: str) -> None:
    assistant, counts = AssistantFactory(), []
    for more in (3, 57):
        for conversation in ConversationFactory.create_batch(more, assistant=assistant):
            exchange(conversation, status="abstained", thumbs=-1)
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(reverse(LIST) + query)
        assert page.status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_page_takes_as_many_queries_for_60_messages_as_for_6(admin_client: Client) -> None:
    conversation, counts = ConversationFactory(), []
    admin_client.get(page_of(conversation))  # content types are read once a process
    for more in (3, 27):
        for _ in range(more):
            CitationFactory(message=exchange(conversation, thumbs=1))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(page_of(conversation))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def crumbs(page: str) -> str:
    """Return the way to a page as it shows it."""
    found = re.search(r'<div class="breadcrumbs">(.*?)</div>', page, re.S)
    assert found
    return found[1]


def test_the_list_says_what_a_conversation_is_about(admin_client: Client) -> None:
    conversation = exchange(text="Is it free?", status="abstained", thumbs=-1).conversation
    exchange(conversation, text="And now?")
    page = admin_client.get(reverse(LIST)).content.decode()
    assert ">Is it free?</a>" in page
    assert '<td class="field-message_count">4</td>' in page
    assert '<td class="field-abstained">yes</td>' in page
    assert '<td class="field-thumbs_down">yes</td>' in page
    assert "And now?" not in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"answer": "abstained"}, {"Unknown?"}),
        ({"answer": "failed"}, {"Broken?"}),
        ({"feedback": "down"}, {"Unknown?"}),
        ({"feedback": "up"}, {"Known?"}),
        ({"feedback": "none"}, {"Broken?"}),
        ({"q": "gnu"}, {"Known?"}),
    ],
)
def test_the_list_is_filtered_and_searched(admin_client: Client, query: dict[str, str], shown: set[str]) -> None:
    exchange(text="Known?", thumbs=1).conversation.messages.filter(role="assistant").update(text="It is a gnu.")
    exchange(text="Unknown?", status="abstained", thumbs=-1)
    exchange(text="Broken?", status="failed")
    page = admin_client.get(reverse(LIST), query).content.decode()
    assert {text for text in ("Known?", "Unknown?", "Broken?") if f">{text}</a>" in page} == shown


def test_the_list_is_filtered_by_period(admin_client: Client) -> None:
    old = exchange(text="Long ago?").conversation
    Conversation.objects.filter(pk=old.pk).update(updated_at=timezone.now() - datetime.timedelta(days=40))
    exchange(text="Just now?")
    since = (timezone.now() - datetime.timedelta(days=7)).isoformat()
    page = admin_client.get(reverse(LIST), {"updated_at__gte": since}).content.decode()
    assert "Just now?" in page
    assert "Long ago?" not in page


def test_a_page_shows_the_dialogue_with_its_record(admin_client: Client) -> None:
    reply = exchange(
        text="Is it free?", evidence=0.61, profile="default", timings_ms={"total": 123.4, "sentences": 7}, thumbs=-1
    )
    citation = CitationFactory(message=reply, title="Fees", heading="Refunds", quote="It is free.")
    page = admin_client.get(page_of(reply.conversation)).content.decode()
    for part in (
        "Is it free?",
        reply.text,
        "Refunds",
        "It is free.",
        "0.61",
        "123 ms",
        "Choosing sentences",
        "thumbs down",
        "quoted from pages",
    ):
        assert part in page, part
    assert f'href="{citation.url}"' in page
    assert reverse("admin:knowledge_document_change", args=[citation.document_id]) in page


def test_the_lines_of_a_comment_are_kept_and_those_between_its_reasons_are_not(admin_client: Client) -> None:
    reply = exchange(thumbs=-1)
    reply.feedback.reasons, reply.feedback.comment = ["wrong", "outdated"], "It is not.\nSee the fees."
    reply.feedback.save()
    page = admin_client.get(page_of(reply.conversation)).content.decode()
    style = Path(finders.find("chat/retrieved.css")).read_text()  # type: ignore[arg-type]
    kept = set(re.findall(r"\.([\w-]+) {[^}]*pre-line", style))
    comment, chips = (
        set(re.search(rf'<p class="([^"]*)">{begins}', page)[1].split())  # type: ignore[index]
        for begins in ("It is not", r"\s*<span class=\"badge badge--down")
    )
    assert comment & kept
    assert not chips & kept


def test_a_page_says_why_there_is_no_answer(admin_client: Client) -> None:
    reply = exchange(status="abstained", reason="no_evidence", text="Is it free?")
    page = admin_client.get(page_of(reply.conversation)).content.decode()
    assert "The pages that were found are too far from the question." in page
    assert "no answer given" in page


def test_nothing_that_was_said_or_cited_is_markup(admin_client: Client) -> None:
    nasty = "<script>alert('x')</script>"
    reply = exchange(text=nasty)
    Message.objects.filter(pk=reply.pk).update(text=nasty, model=nasty, reason=nasty[:40])
    CitationFactory(message=reply, title=nasty, heading=nasty, quote=nasty, url="javascript:alert(1)")
    for url in (
        page_of(reply.conversation),
        reverse(LIST),
        reverse("admin:chat_conversation_delete", args=[reply.conversation_id]),
    ):
        page = admin_client.get(url).content.decode()
        assert "<script>alert" not in page
        assert 'href="javascript' not in page


def test_conversations_are_read_only(admin_client: Client) -> None:
    conversation = exchange().conversation
    page = admin_client.get(page_of(conversation)).content.decode()
    assert 'name="_save"' not in page
    assert admin_client.post(page_of(conversation), {}).status_code == 403
    assert admin_client.get("/admin/chat/conversation/add/").status_code == 403


def test_a_conversation_is_deleted_with_all_that_was_said(admin_client: Client) -> None:
    reply = exchange(thumbs=1)
    CitationFactory(message=reply)
    url = reverse("admin:chat_conversation_delete", args=[reply.conversation_id])
    assert reply.text not in admin_client.get(url).content.decode()
    admin_client.post(url, {"post": "yes"})
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()
    assert Visitor.objects.count() == 1


@pytest.mark.parametrize("page", ["change", "delete", "history"])
def test_the_pages_of_a_conversation_name_it_by_its_first_question(admin_client: Client, page: str) -> None:
    conversation = exchange(text="Is it free?").conversation
    shown = admin_client.get(reverse(f"admin:chat_conversation_{page}", args=[conversation.pk])).content.decode()
    assert "Is it free? (" in crumbs(shown)
    assert f">{conversation}<" not in shown
    assert f" {conversation} " not in shown


def test_a_cry_for_help_is_no_name_for_those_who_may_not_read_it(client: Client) -> None:
    question = QuestionFactory(text="I cannot go on.", route="crisis")
    conversation = exchange(question.conversation, text="Is it free?").conversation
    reads = ["chat.view_conversation", "chat.delete_conversation", "knowledge.whole_university"]
    for permissions, name in ((reads, "Is it free?"), ([*reads, "chat.read_help_message"], "I cannot go on.")):
        client.force_login(UserFactory(permissions=permissions))
        for page in ("change", "delete", "history"):
            shown = client.get(reverse(f"admin:chat_conversation_{page}", args=[conversation.pk])).content.decode()
            assert name in crumbs(shown)


def test_who_may_only_delete_reads_nothing_of_a_conversation(client: Client) -> None:
    conversation = exchange(text="Is it free?").conversation
    client.force_login(UserFactory(permissions=["chat.delete_conversation", "knowledge.whole_university"]))
    address = reverse("admin:chat_conversation_delete", args=[conversation.pk])
    shown = client.get(address).content.decode()
    assert "Conversation of" in crumbs(shown)
    assert "Is it free?" not in shown
    assert client.post(address, {"post": "yes"})["Location"] == reverse("admin:index")
    assert not Conversation.objects.exists()


def test_a_deleted_conversation_is_gone_without_its_number_or_its_words(admin_client: Client) -> None:
    conversation = exchange(text="Is it free?").conversation
    address = reverse("admin:chat_conversation_delete", args=[conversation.pk])
    page = admin_client.post(address, {"post": "yes"}, follow=True).content.decode()
    assert "The conversation is deleted." in page
    assert str(conversation) not in page
    assert "Is it free?" not in page
    assert LogEntry.objects.get().object_repr == str(conversation)


def test_several_conversations_are_named_before_they_are_deleted(admin_client: Client) -> None:
    chosen = [exchange(text=text).conversation.pk for text in ("Is it free?", "Is it open?")]
    page = admin_client.post(reverse(LIST), {"action": "delete_selected", "_selected_action": chosen})
    assert "Is it free?" in page.content.decode()
    assert "Is it open?" in page.content.decode()


def test_who_may_only_read_may_not_delete(client: Client) -> None:
    conversation = exchange().conversation
    client.force_login(UserFactory(permissions=["chat.view_conversation"]))
    assert client.get(page_of(conversation)).status_code == 200
    assert (
        client.post(reverse("admin:chat_conversation_delete", args=[conversation.pk]), {"post": "yes"}).status_code
        == 403
    )


@pytest.mark.parametrize("path", ["", "{pk}/change/"])
def test_who_may_not_read_conversations_does_not(client: Client, path: str) -> None:
    conversation = exchange().conversation
    client.force_login(UserFactory(permissions=["faqs.view_faq"]))
    assert client.get("/admin/chat/conversation/" + path.format(pk=conversation.pk)).status_code == 403


def test_a_conversation_that_is_gone_leads_back_to_the_first_page(admin_client: Client) -> None:
    for key in ("5e730af0-0000-4000-8000-000000000000", "nonsense"):
        assert admin_client.get(f"/admin/chat/conversation/{key}/change/").status_code == 302


def test_visitors_have_no_pages(admin_client: Client) -> None:
    assert admin_client.get("/admin/chat/visitor/").status_code == 404


def test_an_assistant_is_set_up(admin_client: Client) -> None:
    built, collection = AssistantFactory.build(), CollectionFactory()
    data = {"name": built.name, "slug": built.slug, "institution": built.institution, "collections": [collection.pk]}
    data |= {"languages": ["en"], "temperature": 0.1, "strictness": "strict"}
    data |= {"emergency_contacts-TOTAL_FORMS": "0", "emergency_contacts-INITIAL_FORMS": "0"}
    data |= {"kind_examples-TOTAL_FORMS": "0", "kind_examples-INITIAL_FORMS": "0"}
    assert admin_client.post(reverse("admin:chat_assistant_add"), data).status_code == 302
    assert built.name in admin_client.get(reverse("admin:chat_assistant_changelist")).content.decode()

"""The admin's page that tells why an answer was given."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connections
from django.test import Client
from django.urls import reverse

from chat.models import AnswerRecord, Assistant, Conversation, Message, RetrievalProfile
from faqs.indexing import sync_faq
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document
from tests.chat.conversations.asked import ask_and_save
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, FAQFactory, UserFactory
from tests.fakes.llm import FakeLLM

#: Answers are made in threads, which see what is committed only.
pytestmark = pytest.mark.django_db(transaction=True)
FEES = "https://www.uni.example/fees"


@pytest.fixture(autouse=True)
def assistant(monkeypatch: pytest.MonkeyPatch) -> Assistant:
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)
    made: Assistant = AssistantFactory()
    return made


def url(answer: Message) -> str:
    return reverse("why-answer", args=[answer.pk])


def read(client: Client, answer: Message) -> str:
    page = client.get(url(answer))
    assert page.status_code == 200
    return str(page.content.decode())


def differences(client: Client, answer: Message) -> list[str]:
    """Ask again; return what is said to be different."""
    page = client.post(url(answer))
    assert page.status_code == 200
    return list(page.context["differences"])


def change(address: str, **values: Any) -> None:
    document = Document.objects.get(url=address)
    for name, value in values.items():
        setattr(document, name, value)
    document.save()
    sync_pending()


@pytest.mark.usefixtures("pages")
def test_it_shows_what_was_read_at_that_moment_after_the_page_has_changed(admin_client: Client) -> None:
    answer = ask_and_save(QUESTION)
    change(FEES, text="# Fees\n\nThe semester contribution is 999 euros.\n")
    page = read(admin_client, answer)
    assert page.count("318.40 euros") > 2
    assert "999 euros" not in page
    assert "cited as" in page
    assert "Ask again today" in page


@pytest.mark.usefixtures("pages")
def test_asked_again_with_nothing_changed_it_says_so_and_saves_nothing(admin_client: Client) -> None:
    answer = ask_and_save(QUESTION)
    page = admin_client.post(url(answer)).content.decode()
    assert "Nothing that the answer is made from has changed." in page
    assert "The answer has the same words as then." in page
    assert page.count('class="why-fate why-fate--same"') == 2 * len(AnswerRecord.objects.get().moment["passages"])
    assert (Conversation.objects.count(), Message.objects.count(), AnswerRecord.objects.count()) == (1, 2, 1)


@pytest.mark.usefixtures("pages")
def test_a_changed_a_deleted_and_a_new_passage_are_told_apart(admin_client: Client) -> None:
    answer = ask_and_save(QUESTION)
    change(FEES, text=Document.objects.get(url=FEES).text.replace("318.40", "340.00"))
    gone = [each["url"] for each in AnswerRecord.objects.get().moment["passages"] if each["url"] != FEES]
    Document.objects.filter(url=gone[0]).delete()
    Document.objects.create(
        collection=Document.objects.get(url=FEES).collection,
        url="https://www.uni.example/contribution",
        title="Semester contribution",
        text="The semester contribution is paid by transfer.",
    )
    sync_pending()
    page = admin_client.post(url(answer)).content.decode()
    for fate in ("other words today", "gone today", "other words then", "not read then", "read today too"):
        assert fate in page
    said = " ".join(differences(admin_client, answer))
    assert re.search(r"passages? .*other words on (its|their) page", said)
    assert re.search(r"passages? (is|are) gone", said)
    assert "read today that was not read then" in said
    assert '<span class="diff__words">' in page


@pytest.mark.usefixtures("pages")
def test_another_faq_profile_and_model_are_named(admin_client: Client, assistant: Assistant, llm: FakeLLM) -> None:
    llm.says_words("The semester contribution is 318.40 euros [1].")
    faq = FAQFactory(
        question="How high is the semester contribution?",
        status="published",
        documents=[Document.objects.get(url=FEES)],
    )
    sync_faq(faq.pk)
    answer = ask_and_save(QUESTION)
    faq.delete()
    profile = RetrievalProfile.objects.create(name="ours", sources=3, threshold=0.1)
    profile.legs.create(retriever="lexical", k=20)
    assistant.profile, assistant.model, assistant.persona = profile, "another-model", "Short."
    assistant.save()
    said = differences(admin_client, answer)
    assert "The FAQ “How high is the semester contribution?” lifted its documents then and does not today." in said
    assert "Another retrieval profile: “default” then, “ours” today." in said
    assert "Evidence needed: 0.4 then, 0.1 today." in said
    assert "Sources for the answer: 6 then, 3 today." in said
    assert any(each.startswith("Language model: ") and "another-model today" in each for each in said)
    assert "The assistant’s name, its institution or how it speaks was another one." in said


@pytest.mark.usefixtures("pages")
def test_an_answer_without_a_record_says_why_there_is_none(admin_client: Client) -> None:
    answer = ask_and_save(QUESTION)
    AnswerRecord.objects.all().delete()
    page = read(admin_client, answer)
    assert "is kept for 90 days" in page
    assert "Ask again today" not in page
    assert admin_client.post(url(answer)).status_code == 200


@pytest.mark.usefixtures("pages")
def test_what_was_said_before_counts_when_it_is_asked_again(admin_client: Client) -> None:
    first = ask_and_save(QUESTION)
    both = {"conversation": first.conversation_id, "visitor": first.conversation.visitor_id}
    second = ask_and_save("And when is it due?", **both)
    page = admin_client.post(url(second))
    assert page.context["is_another_text"] is False


@pytest.mark.usefixtures("pages")
def test_the_conversation_leads_to_it(admin_client: Client) -> None:
    answer = ask_and_save(QUESTION)
    page = admin_client.get(reverse("admin:chat_conversation_change", args=[answer.conversation_id])).content.decode()
    assert f'href="{url(answer)}"' in page


@pytest.mark.usefixtures("pages")
def test_nobody_opens_it_who_may_not_read_the_conversation(client: Client) -> None:
    answer = ask_and_save(QUESTION)
    client.force_login(UserFactory(permissions=["faqs.view_faq"]))
    assert client.get(url(answer)).status_code == 403
    client.force_login(UserFactory(permissions=["chat.view_conversation"], teams=[Group.objects.create(name="Law")]))
    assert client.get(url(answer)).status_code == client.post(url(answer)).status_code == 404


@pytest.mark.usefixtures("pages")
def test_there_is_none_for_a_cry_for_help(admin_client: Client) -> None:
    answer = ask_and_save("I want to kill myself.")
    assert admin_client.get(url(answer)).status_code == 404


@pytest.mark.usefixtures("pages")
def test_it_takes_few_queries(admin_client: Client, django_assert_max_num_queries: Any) -> None:
    answer = ask_and_save(QUESTION)
    with django_assert_max_num_queries(12):
        admin_client.get(url(answer))

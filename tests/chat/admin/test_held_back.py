"""What was held back from answers, as staff read and judge it."""

import re
from typing import Any, get_args

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.models import Review
from chat.admin.held_back import SAID
from chat.models import HeldBackSentence, Message
from chat.pipeline.guardrails import output
from chat.pipeline.verification import verify
from tests.factories import AnswerFactory, AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = "/admin/chat/heldbacksentence/"
CURATOR = [
    *("chat.view_heldbacksentence", "chat.change_heldbacksentence", "chat.view_conversation"),
    *("analytics.view_review", "analytics.change_review"),
]


def held_back(text: str = "The fee is 300 euros.", *, answer: Message | None = None, **values: Any) -> HeldBackSentence:
    """Keep a sentence that the page's own words stand for; its answer is made unless it is given."""
    answer = answer or AnswerFactory(sentences_shown=1, sentences_quoted=1, sentences_left_out=0, language="en")
    row: HeldBackSentence = HeldBackSentence.objects.create(
        **{
            "message": answer,
            "n": answer.held_back.count() + 1,
            "assistant": answer.conversation.assistant,
            "language": "en",
            "text": text,
            "reasons": ["figure"],
            "parts": ["300 euros"],
            "outcome": "quoted",
            "page_words": "The fee is 318.40 euros.",
            "title": "Fees",
            "url": "https://www.uni.example/fees",
            **values,
        }
    )
    return row


def judge(client: Client, row: HeldBackSentence, verdict: str, *, version: int | None = None, **headers: str) -> Any:
    row.refresh_from_db()
    address = reverse("admin:chat_heldbacksentence_judge", args=[row.pk])
    version = row.version if version is None else version
    return client.post(f"{address}?version={version}", {"verdict": verdict, "back": LIST}, headers=headers)


@pytest.fixture
def curator() -> User:
    user: User = UserFactory(username="ada", permissions=CURATOR)
    return user


@pytest.fixture
def client(curator: User) -> Client:
    client = Client()
    client.force_login(curator)
    return client


def page(client: Client, address: str, **query: Any) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return str(response.content.decode())


def test_the_list_says_why_and_what_was_shown_instead(client: Client) -> None:
    held_back()
    shown = page(client, LIST)
    assert "The fee is 300 euros." in shown
    assert "The page does not give this figure" in shown
    assert ">300 euros</q>" in shown
    assert "The page’s words were shown instead:" in shown
    assert "The fee is 318.40 euros." in shown
    assert 'href="https://www.uni.example/fees"' in shown


def test_each_kind_of_doubt_is_put_in_words() -> None:
    kinds = {*re.findall(r'"(\w+)"', verify.Reason.__doc__ or ""), *get_args(output.Kind)}
    assert len(kinds) > 15
    assert kinds == set(HeldBackSentence.Reason.values) == set(SAID)


def test_a_part_that_is_no_word_of_the_sentence_is_not_shown(client: Client) -> None:
    held_back("You must pay.", reasons=["modality"], parts=["obliged"])
    shown = page(client, LIST)
    assert "what one must, may or need not do" in shown
    assert "obliged" not in shown


def test_the_list_is_in_german_for_who_reads_german(client: Client) -> None:
    held_back()
    shown = client.get(LIST, headers={"Accept-Language": "de"}).content.decode()
    assert "Diese Zahl nennt die Seite nicht" in shown
    assert "Zu Recht nicht gezeigt" in shown


def test_markup_in_a_sentence_is_shown_as_text(client: Client) -> None:
    row = held_back("<img src=x onerror=alert(1)> is free.", reasons=["markup"], parts=["<img src=x onerror=alert(1)>"])
    HeldBackSentence.objects.filter(pk=row.pk).update(page_words="<b>It</b> costs.", url="javascript:alert(1)")
    conversation = reverse("admin:chat_conversation_change", args=[row.message.conversation_id])
    for shown in (page(client, LIST), page(client, conversation)):
        assert "&lt;img src=x onerror=alert(1)&gt;" in shown
        assert "<img src=x" not in shown
        assert "<b>It</b>" not in shown
        assert "javascript:" not in shown


def test_an_empty_list_says_why_it_is_empty(client: Client) -> None:
    assert "Every sentence was shown so far." in page(client, LIST)
    assert "No such sentence." in page(client, LIST, judgement="none")


def test_the_list_is_filtered(client: Client) -> None:
    first = held_back("First.", verdict="rightly")
    held_back("Second.", reasons=["date"], parts=[""], language="de")
    chosen = {
        "judgement": ("any", "rightly", "none"),
        "reason": ("figure", "figure", "date"),
        "language": ("en", "en", "de"),
        "assistant__id__exact": (first.assistant_id, first.assistant_id, "0"),
    }
    for name, (here, also_here, not_here) in chosen.items():
        key = "language__exact" if name == "language" else name
        assert "First." in page(client, LIST, **{key: here})
        assert "First." in page(client, LIST, **{key: also_here})
        assert "First." not in page(client, LIST, **{key: not_here})
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    assert "First." in page(client, LIST, created_at__gte=midnight)
    assert "First." not in page(client, LIST, created_at__lt=midnight)


def test_the_list_takes_as_many_queries_for_many_sentences(client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as counted:
            page(client, LIST)
        return len(counted)

    held_back()
    few = queries()
    for number in range(10):
        held_back(f"Sentence {number}.", verdict="rightly", judged_by=UserFactory(), judged_at=timezone.now())
    assert queries() == few


def test_a_conversation_takes_as_many_queries_for_many_sentences(client: Client) -> None:
    row = held_back()
    address = reverse("admin:chat_conversation_change", args=[row.message.conversation_id])

    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            page(client, address)
        return len(counted)

    few = queries()
    for number in range(5):
        held_back(f"Sentence {number}.", answer=row.message, verdict="rightly", judged_by=UserFactory())
    assert queries() == few


def test_sentences_stand_under_the_answer_in_its_conversation_and_in_its_review(client: Client) -> None:
    row = held_back()
    review = Review.objects.create(
        message=row.message, assistant=row.assistant, asked_at=timezone.now(), reasons=["thumbs_down"]
    )
    for address in (
        reverse("admin:chat_conversation_change", args=[row.message.conversation_id]),
        reverse("admin:analytics_review_change", args=[review.pk]),
    ):
        shown = page(client, address)
        assert "Not shown: 1 sentence" in shown
        assert "The fee is 300 euros." in shown
        assert "Right not to show" in shown


def test_the_row_in_the_audit_log_leads_to_the_sentence_in_its_conversation(client: Client) -> None:
    row = held_back()
    response = client.get(reverse("admin:chat_heldbacksentence_change", args=[row.pk]))
    conversation = reverse("admin:chat_conversation_change", args=[row.message.conversation_id])
    assert response.headers["Location"] == f"{conversation}#held-{row.pk}"


def test_a_judgement_is_saved_with_who_and_when_and_can_be_undone(client: Client, curator: User) -> None:
    row = held_back()
    response = judge(client, row, "rightly")
    assert response.headers["Location"] == f"{LIST}#held-{row.pk}"
    row.refresh_from_db()
    assert (row.verdict, row.judged_by) == ("rightly", curator)
    assert row.judged_at is not None
    assert "ada," in page(client, LIST)
    assert LogEntry.objects.filter(object_id=str(row.pk)).count() == 1
    judge(client, row, "")
    row.refresh_from_db()
    assert (row.verdict, row.judged_by, row.judged_at) == ("", None, None)


def test_a_script_gets_the_new_state_alone(client: Client) -> None:
    response = judge(client, held_back(), "wrongly", **{"X-Requested-With": "fetch"})
    shown = response.content.decode()
    assert (response.status_code, "<html" in shown) == (200, False)
    assert "Was right" in shown
    assert "Undo" in shown


def test_of_two_curators_at_once_the_second_is_told_and_nothing_is_overwritten(client: Client) -> None:
    row = held_back()
    other = Client()
    other.force_login(UserFactory(username="bob", permissions=CURATOR))
    judge(other, row, "wrongly", version=0)
    late = judge(client, row, "rightly", version=0, **{"X-Requested-With": "fetch"})
    row.refresh_from_db()
    assert (late.status_code, row.verdict, row.judged_by.username) == (409, "wrongly", "bob")
    assert "Somebody was quicker" in late.content.decode()
    assert "bob," in late.content.decode()
    plain = judge(client, row, "rightly", version=0)
    assert "Somebody was quicker" in page(client, plain.headers["Location"])


def test_what_is_no_judgement_is_refused(client: Client) -> None:
    row = held_back()
    assert judge(client, row, "perhaps", **{"X-Requested-With": "fetch"}).status_code == 400
    row.refresh_from_db()
    assert row.verdict == ""


def test_no_address_elsewhere_is_led_to(client: Client) -> None:
    row = held_back()
    address = reverse("admin:chat_heldbacksentence_judge", args=[row.pk])
    response = client.post(f"{address}?version=0", {"verdict": "rightly", "back": "https://elsewhere.example/"})
    assert response.headers["Location"] == f"{LIST}#held-{row.pk}"


def test_who_may_only_read_is_offered_no_judgement(client: Client) -> None:
    row = held_back()
    reader = Client()
    reader.force_login(UserFactory(permissions=["chat.view_heldbacksentence"]))
    shown = page(reader, LIST)
    assert "Not judged yet" in shown
    assert "Right not to show</button>" not in shown
    assert judge(reader, row, "rightly").status_code == 403


def test_a_curator_of_another_assistant_sees_and_judges_nothing() -> None:
    team, assistant = Group.objects.create(name="Law"), AssistantFactory()
    assistant.teams.add(team)
    row = held_back("Only for others.")
    curator = Client()
    curator.force_login(UserFactory(permissions=CURATOR, teams=[team]))
    assert "Only for others." not in page(curator, LIST)
    assert row.assistant.name not in page(curator, LIST)
    assert judge(curator, row, "rightly").status_code == 404
    row.refresh_from_db()
    assert row.verdict == ""


def test_cries_for_help_are_read_with_their_own_permission(client: Client) -> None:
    row = held_back("You are not alone.")
    Message.objects.filter(pk=row.message_id).update(route=Message.Route.CRISIS)
    address = reverse("admin:chat_conversation_change", args=[row.message.conversation_id])
    assert "You are not alone." not in page(client, LIST) + page(client, address)
    assert judge(client, row, "rightly").status_code == 404
    helper = Client()
    helper.force_login(UserFactory(permissions=[*CURATOR, "chat.read_help_message"]))
    assert "You are not alone." in page(helper, LIST)
    assert "You are not alone." in page(helper, address)

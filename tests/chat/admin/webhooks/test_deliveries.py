"""Deliveries in the admin: what was sent, what came back, and once more."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import WebhookDelivery
from tests.factories import (
    AnswerFactory,
    AssistantFactory,
    UserFactory,
    WebhookDeliveryFactory,
    WebhookFactory,
)

pytestmark = pytest.mark.django_db

LIST = reverse("admin:chat_webhookdelivery_changelist")
MAY = ["chat.view_webhookdelivery", "chat.view_webhook", "chat.change_webhook"]


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(UserFactory(permissions=MAY))
    return client


@pytest.fixture
def delivery() -> WebhookDelivery:
    webhook = WebhookFactory(assistants=[AssistantFactory()], name="Tickets")
    made: WebhookDelivery = WebhookDeliveryFactory(
        webhook=webhook, state="failed", attempts=8, last_status=503, finished_at=timezone.now(), body='{"a":1}'
    )
    return made


def again(row: WebhookDelivery) -> str:
    return reverse("admin:chat_webhookdelivery_again", args=[row.pk])


def test_the_list_shows_what_became_of_each(browser: Client, delivery: WebhookDelivery) -> None:
    WebhookDeliveryFactory(webhook=delivery.webhook, problem="timeout", attempts=2, next_attempt_at=timezone.now())
    html = browser.get(LIST).content.decode()
    for said in (
        "Tickets",
        "A question got no answer",
        "HTTP 503",
        "failed",
        "no reply in time",
        f'formaction="{again(delivery)}"',
    ):
        assert said in html
    assert html.count("Send again") == 1
    assert "&lt;button" not in html
    page = browser.get(reverse("admin:chat_webhookdelivery_change", args=[delivery.pk])).content.decode()
    assert "{&quot;a&quot;:1}" in page
    assert str(delivery.event_id) in page
    assert "Send again" in page


def test_events_have_names_in_the_readers_language(browser: Client, delivery: WebhookDelivery) -> None:
    WebhookDeliveryFactory(webhook=delivery.webhook, event="test")
    WebhookDeliveryFactory(webhook=delivery.webhook, event="of.a.later.version")
    html = browser.get(LIST, headers={"accept-language": "de"}).content.decode()
    for said in ("Eine Frage blieb ohne Antwort", "Testereignis", "of.a.later.version"):
        assert said in html
    assert "answer.abstained" not in html
    page = browser.get(reverse("admin:chat_webhookdelivery_change", args=[delivery.pk])).content.decode()
    assert f"A question got no answer #{delivery.pk}" in page


def test_sent_again_it_waits_and_is_on_record(browser: Client, delivery: WebhookDelivery) -> None:
    assert "sent again" in browser.post(again(delivery), follow=True).content.decode()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("waiting", 0, None)
    assert LogEntry.objects.get().object_repr == str(delivery)
    assert "being sent already" in browser.post(again(delivery), follow=True).content.decode()
    assert LogEntry.objects.count() == 1
    assert "Send again" not in browser.get(LIST).content.decode()


def test_who_may_only_look_sends_nothing_again(delivery: WebhookDelivery) -> None:
    browser = Client()
    browser.force_login(UserFactory(permissions=["chat.view_webhookdelivery"]))
    assert "Send again" not in browser.get(LIST).content.decode()
    assert browser.post(again(delivery)).status_code == 403
    delivery.refresh_from_db()
    assert delivery.state == "failed"


def test_other_teams_deliveries_are_not_shown(delivery: WebhookDelivery) -> None:
    team = Group.objects.create(name="Law")
    browser = Client()
    browser.force_login(UserFactory(permissions=MAY, teams=[team]))
    assert "Tickets" not in browser.get(LIST).content.decode()
    assert browser.post(again(delivery)).status_code == 404
    delivery.webhook.assistants.get().teams.add(team)
    assert "Tickets" in browser.get(LIST).content.decode()


def test_nobody_changes_a_delivery(browser: Client, delivery: WebhookDelivery) -> None:
    assert browser.get(reverse("admin:chat_webhookdelivery_add")).status_code == 403
    change = reverse("admin:chat_webhookdelivery_change", args=[delivery.pk])
    assert browser.post(change, {"body": "x"}).status_code == 403


def test_who_may_delete_a_conversation_deletes_it_with_its_deliveries() -> None:
    answer = AnswerFactory()
    conversation = answer.conversation
    WebhookDeliveryFactory(conversation=conversation)
    browser = Client()
    browser.force_login(UserFactory(permissions=["chat.view_conversation", "chat.delete_conversation"]))
    page = browser.post(reverse("admin:chat_conversation_delete", args=[conversation.pk]), {"post": "yes"})
    assert page.status_code == 302
    assert not WebhookDelivery.objects.exists()


def test_the_list_asks_the_database_a_few_times(browser: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(12):
        WebhookDeliveryFactory(webhook=WebhookFactory(assistants=[AssistantFactory()]))
    browser.get(LIST)
    with django_assert_max_num_queries(9):
        browser.get(LIST)

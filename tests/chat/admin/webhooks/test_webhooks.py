"""Webhooks in the admin: the secret is shown once, and everything is on record."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import Assistant, Webhook
from core.db.encryption import decrypt
from tests.factories import AssistantFactory, UserFactory, WebhookFactory

pytestmark = pytest.mark.django_db

LIST, ADD = reverse("admin:chat_webhook_changelist"), reverse("admin:chat_webhook_add")
MAY = [f"chat.{action}_webhook" for action in ("view", "add", "change", "delete")]


@pytest.fixture
def assistant() -> Assistant:
    made: Assistant = AssistantFactory()
    return made


@pytest.fixture
def user() -> User:
    member: User = UserFactory(permissions=[*MAY, "chat.view_assistant", "chat.view_webhookdelivery"])
    return member


@pytest.fixture
def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def form(*assistants: Assistant, **changes: Any) -> dict[str, Any]:
    chosen = {"name": "Tickets", "url": "https://tickets.uni.example/hooks", "events": ["answer.abstained"]}
    return {**chosen, "assistants": [row.pk for row in assistants], "is_active": "on", **changes}


def make(browser: Client, *assistants: Assistant, **changes: Any) -> str:
    """Return the secret that the page shows."""
    page = browser.post(ADD, form(*assistants, **changes))
    assert page.status_code == 200
    found = re.search(r'value="(whsec_[\w+/=]+)"', page.content.decode())
    assert found, page.content.decode()
    assert "no-store" in page["Cache-Control"]
    return found[1]


def test_events_are_chosen_and_listed_by_what_happened(browser: Client, assistant: Assistant) -> None:
    WebhookFactory(assistants=[assistant], events=["answer.abstained", "faq.published"])
    german = {"accept-language": "de"}
    listed = browser.get(LIST, headers=german).content.decode()
    assert "Eine Frage blieb ohne Antwort; Eine FAQ wurde veröffentlicht" in listed
    assert "Eine FAQ wurde veröffentlicht (faq.published)" in browser.get(ADD, headers=german).content.decode()


def address(row: Webhook, what: str = "change") -> str:
    return reverse(f"admin:chat_webhook_{what}", args=[row.pk])


def test_a_secret_is_shown_once(browser: Client, assistant: Assistant, user: User) -> None:
    secret = make(browser, assistant)
    row = Webhook.objects.get()
    assert decrypt(row.secret) == secret
    assert list(row.assistants.all()) == [assistant]
    assert (row.name, row.events, row.is_active) == ("Tickets", ["answer.abstained"], True)
    for page in (LIST, address(row), address(row, "history")):
        html = browser.get(page).content.decode()
        assert "Tickets" in html
        assert secret not in html
        assert row.secret not in html
    entry = LogEntry.objects.get(user=user)
    assert (entry.object_repr, "whsec" in entry.change_message) == ("Tickets", False)


def test_a_change_keeps_the_secret_and_is_on_record(browser: Client, assistant: Assistant, user: User) -> None:
    secret = make(browser, assistant)
    row = Webhook.objects.get()
    changed = form(assistant, events=["faq.published"])
    del changed["is_active"]
    assert browser.post(address(row), changed).status_code == 302
    row.refresh_from_db()
    assert (row.events, row.is_active, row.off_because) == (["faq.published"], False, "staff")
    assert decrypt(row.secret) == secret
    assert LogEntry.objects.filter(user=user).count() == 2
    assert "switched off" in browser.get(LIST).content.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"events": []},
        {"events": ["answer.given"]},
        {"assistants": []},
        {"url": "http://tickets.uni.example/"},
        {"url": "https://u:p@tickets.uni.example/"},
        {"url": "https://127.0.0.1/"},
        {"url": "https://[::1]/"},
        {"url": "https://169.254.169.254/"},
        {"url": "https://10.0.0.5:8443/"},
        {"url": f"https://tickets.uni.example/{'x' * 500}"},
    ],
)
def test_a_webhook_has_a_name_events_assistants_and_a_public_address(
    browser: Client, assistant: Assistant, changes: Any
) -> None:
    page = browser.post(ADD, form(assistant, **changes))
    assert page.status_code == 200
    assert "errorlist" in page.content.decode()
    assert not Webhook.objects.exists()


def test_private_addresses_are_for_the_operator_to_allow(
    browser: Client, assistant: Assistant, settings: Settings
) -> None:
    page = browser.post(ADD, form(assistant, url="https://10.0.0.5/")).content.decode()
    assert "WEBHOOKS_TO_PRIVATE_ADDRESSES" in page
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    make(browser, assistant, url="https://10.0.0.5/")


def test_staff_make_and_see_webhooks_of_their_own_teams_assistants_only(assistant: Assistant) -> None:
    own, team = AssistantFactory(), Group.objects.create(name="Law")
    own.teams.add(team)
    browser = Client()
    browser.force_login(UserFactory(permissions=[*MAY, "chat.view_assistant"], teams=[team]))
    make(browser, own)
    assert "Select a valid choice" in browser.post(ADD, form(assistant)).content.decode()
    for shared in (WebhookFactory(assistants=[assistant], name="Foreign"), WebhookFactory(assistants=[own, assistant])):
        assert shared.name not in browser.get(LIST).content.decode()
        assert browser.get(address(shared)).status_code == 302
        assert browser.post(address(shared, "test")).status_code == 404
        assert not shared.deliveries.exists()


def test_a_test_event_is_queued_and_on_record(browser: Client, assistant: Assistant, user: User) -> None:
    row = WebhookFactory(assistants=[assistant])
    assert "Send a test event" in browser.get(address(row)).content.decode()
    page = browser.post(address(row, "test"), follow=True)
    assert "on its way" in page.content.decode()
    delivery = row.deliveries.get()
    assert (delivery.event, delivery.state) == ("test", "waiting")
    assert LogEntry.objects.get(user=user).object_repr == str(delivery)
    assert browser.get(address(row, "test")).status_code == 405
    Webhook.objects.update(is_active=False)
    assert "Send a test event" not in browser.get(address(row)).content.decode()
    assert "switched off" in browser.post(address(row, "test"), follow=True).content.decode()
    assert row.deliveries.count() == 1


def test_who_may_only_look_sends_nothing(assistant: Assistant) -> None:
    browser, row = Client(), WebhookFactory(assistants=[assistant])
    browser.force_login(UserFactory(permissions=["chat.view_webhook"]))
    assert "Send a test event" not in browser.get(address(row)).content.decode()
    assert browser.post(address(row, "test")).status_code == 403
    assert not row.deliveries.exists()


def test_a_webhook_is_deleted_with_its_deliveries(browser: Client, assistant: Assistant) -> None:
    row = WebhookFactory(assistants=[assistant])
    browser.post(address(row, "test"))
    assert browser.post(address(row, "delete"), {"post": "yes"}).status_code == 302
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("because", ["gone", "failing", "secret"])
def test_what_switched_itself_off_is_told_on_the_home_page_until_staff_settle_it(
    browser: Client, assistant: Assistant, because: str
) -> None:
    row = WebhookFactory(assistants=[assistant], is_active=False, off_because=because)
    home = reverse("admin:index")
    said = "1 webhook switched itself off"
    assert said in browser.get(home).content.decode()
    assert "switched off by itself" in browser.get(f"{LIST}?is_active__exact=0").content.decode()
    others = Client()
    others.force_login(UserFactory(permissions=["chat.view_assistant"]))
    assert said not in others.get(home).content.decode()
    settled = form(assistant)
    del settled["is_active"]
    browser.post(address(row), settled)
    assert said not in browser.get(home).content.decode()


def test_the_list_asks_the_database_a_few_times(
    browser: Client, assistant: Assistant, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        WebhookFactory(assistants=[assistant, AssistantFactory()])
    browser.get(LIST)
    with django_assert_max_num_queries(9):
        browser.get(LIST)

"""Connected programs in the admin: the key is shown once, and everything is on record."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.conversations.retention import delete_idle_visitors
from chat.models import APIClient, Assistant, Visitor
from chat.services.api_clients import InvalidKey, find_client
from tests.chat.connected import connect
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db

LIST, ADD = reverse("admin:chat_apiclient_changelist"), reverse("admin:chat_apiclient_add")
MAY = [f"chat.{action}_apiclient" for action in ("view", "add", "change", "delete")]


@pytest.fixture
def assistant() -> Assistant:
    made: Assistant = AssistantFactory()
    return made


@pytest.fixture
def user() -> User:
    member: User = UserFactory(permissions=[*MAY, "chat.view_assistant"])
    return member


@pytest.fixture
def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def form(*assistants: Assistant, **changes: Any) -> dict[str, Any]:
    chosen = {"name": "Open WebUI", "assistants": [row.pk for row in assistants], "scopes": ["ask"], "per_minute": "30"}
    return {**chosen, "is_active": "on", **changes}


def make(browser: Client, *assistants: Assistant, **changes: Any) -> str:
    """Return the key that the page shows."""
    page = browser.post(ADD, form(*assistants, **changes))
    assert page.status_code == 200
    found = re.search(r'value="(mk-[\w-]+)"', page.content.decode())
    assert found, page.content.decode()
    assert "no-store" in page["Cache-Control"]
    return found[1]


def test_a_key_is_shown_once_and_works(browser: Client, assistant: Assistant, user: User) -> None:
    key = make(browser, assistant, last_day="2099-12-31")
    client = find_client(key)
    assert list(client.assistants.all()) == [assistant]
    assert (client.name, client.scopes, client.per_minute, client.last_day.year) == ("Open WebUI", ["ask"], 30, 2099)
    change = reverse("admin:chat_apiclient_change", args=[client.pk])
    for page in (LIST, change):
        html = browser.get(page).content.decode()
        assert "Open WebUI" in html
        assert client.key_id in html
        assert key not in html
        assert client.digest not in html
    assert LogEntry.objects.get(user=user).object_repr == "Open WebUI"


def test_unticking_active_ends_a_key_and_is_on_record(browser: Client, assistant: Assistant, user: User) -> None:
    key = make(browser, assistant)
    row = APIClient.objects.get()
    changed = form(assistant)
    del changed["is_active"]
    assert browser.post(reverse("admin:chat_apiclient_change", args=[row.pk]), changed).status_code == 302
    with pytest.raises(InvalidKey):
        find_client(key)
    assert LogEntry.objects.filter(user=user).count() == 2
    assert "switched off" in browser.get(LIST).content.decode()
    row.refresh_from_db()
    assert row.matches(key)  # the key itself is never changed


def test_a_deleted_program_ends_its_key_and_keeps_what_was_asked(browser: Client, assistant: Assistant) -> None:
    key = make(browser, assistant)
    row = APIClient.objects.get()
    assert browser.post(reverse("admin:chat_apiclient_delete", args=[row.pk]), {"post": "yes"}).status_code == 302
    with pytest.raises(InvalidKey):
        find_client(key)
    row.visitor.refresh_from_db()


def test_the_visitor_who_stands_for_a_program_is_not_deleted_as_idle(assistant: Assistant) -> None:
    client, _key = connect(assistant)
    Visitor.objects.update(consented_at=timezone.now() - timedelta(days=10_000))
    assert delete_idle_visitors() == 0
    client.delete()
    assert delete_idle_visitors() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"scopes": []},
        {"scopes": ["root"]},
        {"assistants": []},
        {"per_minute": "0"},
        {"per_minute": "9999"},
    ],
)
def test_a_program_has_a_name_assistants_and_limits(browser: Client, assistant: Assistant, changes: Any) -> None:
    page = browser.post(ADD, form(assistant, **changes))
    assert page.status_code == 200
    assert not APIClient.objects.exists()


def test_staff_connect_programs_to_their_own_teams_assistants_only(assistant: Assistant) -> None:
    own, team = AssistantFactory(), Group.objects.create(name="Law")
    own.teams.add(team)
    browser = Client()
    browser.force_login(UserFactory(permissions=[*MAY, "chat.view_assistant"], teams=[team]))
    make(browser, own)
    page = browser.post(ADD, form(assistant))
    assert "Select a valid choice" in page.content.decode()
    for shared in (connect(assistant, name="Foreign"), connect(own, assistant, name="Foreign")):
        assert "Foreign" not in browser.get(LIST).content.decode()
        assert browser.get(reverse("admin:chat_apiclient_change", args=[shared[0].pk])).status_code == 302
    assert connect(name="Foreign")[0] not in APIClient.objects.visible_to(User.objects.latest("pk"))


def test_the_list_asks_the_database_a_few_times(
    browser: Client, assistant: Assistant, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        connect(assistant, AssistantFactory(), name=f"Program {number}")
    browser.get(LIST)
    with django_assert_max_num_queries(9):
        browser.get(LIST)

"""What stands in the place of a page that there is not, and what becomes of a button that was pressed too late."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse
from django.utils import translation

from tests.analytics.gaps.rows import new_gap
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
FIRST = reverse("admin:index")
LOGIN = reverse("admin:login")


@pytest.fixture
def member() -> User:
    user: User = UserFactory(permissions=["analytics.change_gap"])
    user.set_password("correct horse battery")
    user.save()
    return user


@pytest.fixture
def browser(member: User) -> Client:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(member)
    return client


def assert_is_page(response: Any, status: int, said: str, back: str) -> None:
    page = response.content.decode()
    assert response.status_code == status
    assert said in page
    assert f'href="{back}"' in page
    assert not re.search(r"<script|<style|style=|\son\w+=", page)  # the policy for scripts and styles forbids them


def test_a_page_that_there_is_not_says_so_and_leads_back(browser: Client) -> None:
    assert_is_page(Client().get("/nowhere/"), 404, "There is no such page", "/")
    assert_is_page(browser.get("/admin/nowhere/"), 404, "There is no such page", FIRST)


def test_a_form_that_is_too_large_says_what_is_allowed() -> None:
    page = Client().post(LOGIN, {f"field-{number}": "" for number in range(1_001)})
    assert_is_page(page, 400, "A form takes 2.5 MB of text and 1,000 fields", FIRST)


def test_a_page_for_others_says_so(browser: Client) -> None:
    assert_is_page(browser.get(reverse("admin:auth_user_changelist")), 403, "You may not see this page", FIRST)


def test_a_mistake_of_ours_says_so_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("secret")

    monkeypatch.setattr("chat.views.place_of", fail)
    page = Client(raise_request_exception=False).get("/")
    assert_is_page(page, 500, "Something went wrong", "/")
    assert "secret" not in page.content.decode()


@pytest.mark.django_db(databases=[])
def test_the_page_of_last_resort_needs_nothing() -> None:
    with translation.override("de"):
        assert '<html lang="de">' in get_template("500.html").render()


def test_a_form_that_was_open_for_too_long_is_not_saved_and_says_so(browser: Client) -> None:
    page = browser.post(reverse("admin:analytics_gap_look"))
    assert_is_page(page, 403, "Nothing was saved", FIRST)
    assert "copy what you typed" in page.content.decode()


# --- buttons that were pressed too late ---


def pressed(on: str, **headers: str) -> Any:
    """Press a button of the gaps' list, by somebody whose session has ended."""
    client = Client(headers={"referer": f"http://testserver{on}", **headers} if on else headers)
    return client, client.post(reverse("admin:analytics_gap_look"))


def test_who_was_signed_out_gets_back_to_the_page_of_the_button_and_is_told(member: User) -> None:
    there = f"{reverse('admin:analytics_gap_changelist')}?state=all"
    client, sent = pressed(there)
    assert urlsplit(sent["Location"]).path == LOGIN
    assert parse_qs(urlsplit(sent["Location"]).query) == {"next": [there]}
    assert "nothing was done or saved" in client.get(sent["Location"]).content.decode()
    login = {"username": member.username, "password": "correct horse battery", "next": there}
    back = client.post(LOGIN, login)
    assert back["Location"] == there
    assert client.get(there).status_code == 200


@pytest.mark.parametrize("on", ["", "/", LOGIN, "//evil.example/admin/"])
def test_without_such_a_page_it_is_the_first_one(on: str) -> None:
    _client, sent = pressed(on)
    assert parse_qs(urlsplit(sent["Location"]).query) == {"next": [FIRST]}


def test_a_page_of_others_is_none() -> None:
    client = Client(headers={"referer": "https://evil.example/admin/"})
    sent = client.post(reverse("admin:analytics_gap_look"))
    assert parse_qs(urlsplit(sent["Location"]).query) == {"next": [FIRST]}


def test_what_a_page_sends_by_itself_is_no_button() -> None:
    client, sent = pressed(reverse("admin:analytics_gap_changelist"), **{"sec-fetch-mode": "cors"})
    assert "nothing was done" not in client.get(sent["Location"]).content.decode()


def test_the_address_of_a_button_says_that_nothing_was_done(browser: Client) -> None:
    gap = new_gap()
    page = browser.get(reverse("admin:analytics_gap_state", args=[gap.pk]))
    assert_is_page(page, 405, "Nothing was done", FIRST)
    assert page["Allow"] == "POST"

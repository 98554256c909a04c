"""Tokens of staff's programs: made by their user, shown once, and how they end."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from marcelcms.models import APIToken
from tests.factories import UserFactory
from tests.staff.api import Program, create_token

pytestmark = pytest.mark.django_db

LIST = "admin:marcelcms_apitoken_changelist"
ADD = "admin:marcelcms_apitoken_add"


@pytest.fixture(autouse=True)
def _nothing_is_counted() -> None:
    cache.clear()


@pytest.fixture
def user() -> User:
    member: User = UserFactory(permissions=["knowledge.view_document"])
    return member


@pytest.fixture
def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def make(browser: Client, **changes: Any) -> str:
    """Create a token; return it as the page shows it."""
    page = browser.post(reverse(ADD), {"name": "Nightly import", "days": "30", **changes})
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'value="(marcel_[\w-]+)"', page.content.decode())
    assert found, page.content.decode()
    return found[1]


def may(token: str) -> bool:
    status = Program(token=token).get("/documents/").status_code
    assert status in {200, 401}
    return bool(status == 200)


def test_a_member_of_staff_makes_a_token_that_is_shown_once_and_kept_as_a_hash(browser: Client, user: User) -> None:
    token = make(browser)
    assert may(token)
    row = APIToken.objects.get()
    assert (row.user, row.name) == (user, "Nightly import")
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    assert token not in str(APIToken.objects.values().get())
    for page in (reverse(LIST), reverse("admin:marcelcms_apitoken_change", args=[row.pk])):
        html = browser.get(page).content.decode()
        assert "Nightly import" in html
        assert token not in html
        assert row.digest not in html
    assert LogEntry.objects.get(user=user).object_repr == "Nightly import"


def test_its_page_tells_when_it_was_last_used(user: User) -> None:
    token = create_token(user)
    assert APIToken.objects.get().last_used_at is None
    assert may(token)
    used = APIToken.objects.get().last_used_at
    assert used is not None
    assert may(token)
    assert APIToken.objects.get().last_used_at == used  # noted once a minute


def test_a_deleted_token_stops_working_at_once(browser: Client, user: User) -> None:
    token, other = create_token(user), create_token(user)
    pages = [reverse("admin:marcelcms_apitoken_delete", args=[row.pk]) for row in APIToken.objects.order_by("pk")]
    assert browser.post(pages[0], {"post": "yes"}).status_code == 302
    assert not may(token)
    assert may(other)
    assert LogEntry.objects.filter(user=user).exists()


def test_a_token_ends_on_its_day(user: User) -> None:
    assert not may(create_token(user, days=-0.001))


def test_a_token_ends_with_its_users_account(user: User) -> None:
    token = create_token(user)
    assert may(token)
    user.is_active = False
    user.save()
    assert not may(token)


def test_a_token_lets_nobody_do_more_than_its_user_may_now(user: User) -> None:
    program = Program(user)
    assert program.get("/documents/").status_code == 200
    user.user_permissions.clear()
    assert program.get("/documents/").status_code == 403
    user.is_staff = False
    user.save()
    assert program.get("/documents/").status_code == 403


@pytest.mark.parametrize("sent", ["", " ", "marcel_", "a b", "ä" * 40, "x" * 5000, "\x00"])
def test_anything_else_is_no_token(user: User, sent: str) -> None:
    create_token(user)
    reply = Program(authorization=f"Bearer {sent}").get("/documents/")
    assert reply.status_code == 401
    assert sent.strip() == "" or sent not in reply.content.decode()


def test_nobody_sees_or_ends_the_tokens_of_others(browser: Client) -> None:
    token = create_token(UserFactory(permissions=["knowledge.view_document"]))
    row = APIToken.objects.get()
    assert "Nightly import" not in browser.get(reverse(LIST)).content.decode()
    for name in ("change", "delete", "history"):
        page = browser.post(reverse(f"admin:marcelcms_apitoken_{name}", args=[row.pk]), {"post": "yes"})
        assert page.status_code in {302, 403, 404, 405}
    assert may(token)


def test_who_may_sees_and_ends_everybodys(user: User) -> None:
    token = create_token(user)
    administrator = Client()
    administrator.force_login(UserFactory(permissions=["marcelcms.view_apitoken", "marcelcms.delete_apitoken"]))
    assert user.username in administrator.get(reverse(LIST)).content.decode()
    page = reverse("admin:marcelcms_apitoken_delete", args=[APIToken.objects.get().pk])
    assert administrator.post(page, {"post": "yes"}).status_code == 302
    assert not may(token)


def test_a_token_is_never_changed(browser: Client, user: User) -> None:
    create_token(user)
    page = reverse("admin:marcelcms_apitoken_change", args=[APIToken.objects.get().pk])
    assert browser.post(page, {"name": "Another", "days": "365"}).status_code == 403


@pytest.mark.parametrize("form", [{"name": ""}, {"days": "9999"}, {"days": "0"}, {"days": ""}])
def test_a_token_has_a_name_and_an_end(browser: Client, form: dict[str, str]) -> None:
    page = browser.post(reverse(ADD), {"name": "Nightly import", "days": "30", **form})
    assert page.status_code == 200
    assert not APIToken.objects.exists()


def test_nobody_collects_tokens(browser: Client, user: User) -> None:
    for _ in range(20):
        create_token(user)
    page = browser.post(reverse(ADD), {"name": "One more", "days": "30"})
    assert "20 tokens already" in page.content.decode()
    assert APIToken.objects.count() == 20


def test_a_session_alone_makes_no_token_over_the_api(browser: Client) -> None:
    assert browser.post("/api/staff/v1/tokens/", {}, content_type="application/json").status_code == 404

"""Staff see where they are logged in and end it; a lost right or a deactivated account ends it at once."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from marcelcms.accounts.open_sessions.devices import describe_device
from marcelcms.accounts.open_sessions.services import name_of
from marcelcms.accounts.roles import CURATOR
from marcelcms.models import StaffSession
from marcelcms.tasks import clear_sessions
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
PASSWORD = "a long and secret sentence"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.0 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
)


@pytest.fixture
def bo() -> User:
    curators, _made = Group.objects.get_or_create(name=CURATOR)
    user: User = UserFactory(username="bo", teams=[curators])
    user.set_password(PASSWORD)
    user.save()
    return user


def log_in(agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    assert client.post(reverse("admin:login"), {"username": "bo", "password": PASSWORD}).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get(reverse("admin:index")).status_code == 200


def deeds(user: User) -> list[tuple[Any, str]]:
    entries = LogEntry.objects.filter(object_id=user.pk).order_by("pk")
    return [(entry.user, entry.get_change_message()) for entry in entries]


@pytest.mark.parametrize(
    ("agent", "words"),
    [(FIREFOX, "Firefox, Windows"), (IPHONE, "Safari, iPhone"), (EDGE, "Edge, macOS"), ("curl/8", ""), ("", "")],
)
def test_a_browser_in_words(agent: str, words: str) -> None:
    assert describe_device(agent) == words


def test_a_long_header_is_read_at_its_beginning_alone() -> None:
    assert describe_device("x" * 1_000_000 + " Firefox/1") == ""


def test_a_member_sees_where_they_are_logged_in(bo: User) -> None:
    here, _phone = log_in(), log_in(IPHONE)
    page = " ".join(here.get(reverse("my-login")).content.decode().split())
    assert "Firefox, Windows (this one)" in page
    assert "Safari, iPhone" in page
    assert StaffSession.objects.filter(user=bo).count() == 2


def test_no_key_of_a_session_stands_on_the_page(bo: User) -> None:
    here, phone = log_in(), log_in(IPHONE)
    page = here.get(reverse("my-login")).content.decode()
    assert str(phone.session.session_key) not in page
    assert name_of(str(phone.session.session_key)) in page


def test_a_session_keeps_no_network_address(bo: User) -> None:
    client = Client(REMOTE_ADDR="198.51.100.77")
    client.post(reverse("admin:login"), {"username": "bo", "password": PASSWORD})
    (row,) = StaffSession.objects.all()
    assert "198.51" not in str(row.get_decoded()) + row.device


def test_a_member_ends_one(bo: User) -> None:
    here, phone = log_in(), log_in(IPHONE)
    here.post(reverse("my-sessions-end"), {"session": name_of(str(phone.session.session_key))})
    assert (is_in(here), is_in(phone)) == (True, False)
    assert deeds(bo) == [(bo, "Changed sessions ended.")]


def test_a_member_ends_all_others(bo: User) -> None:
    here, others = log_in(), [log_in(IPHONE), log_in(EDGE)]
    here.post(reverse("my-sessions-end"))
    assert is_in(here)
    assert not any(map(is_in, others))


def test_nobody_ends_a_strangers(bo: User) -> None:
    eve, client = UserFactory(), log_in()
    other = Client()
    other.force_login(eve)
    other.post(reverse("my-sessions-end"), {"session": name_of(str(client.session.session_key))})
    other.post(reverse("my-sessions-end"))
    assert is_in(client)


def test_an_administrator_ends_those_of_a_colleague(administrator: Client, admin_user: User, bo: User) -> None:
    client = log_in()
    assert "Log out everywhere" in administrator.get(reverse("admin:auth_user_change", args=[bo.pk])).content.decode()
    administrator.post(reverse("sessions-end", args=[bo.pk]))
    assert not is_in(client)
    assert is_in(administrator)
    assert deeds(bo) == [(admin_user, "Changed sessions ended.")]


def test_an_administrator_does_not_end_those_of_a_superuser(administrator: Client) -> None:
    root = UserFactory(is_superuser=True)
    assert administrator.post(reverse("sessions-end", args=[root.pk])).status_code == 403


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_a_deactivated_account_has_no_sessions_and_gets_none_back(bo: User, field: str) -> None:
    client = log_in()
    for value in (False, True):
        setattr(bo, field, value)
        bo.save()
        assert not is_in(client)
    assert not StaffSession.objects.filter(user=bo).exists()


def test_a_lost_role_ends_the_sessions_from_either_side(bo: User) -> None:
    curators = Group.objects.get(name=CURATOR)
    for take in (
        lambda: bo.groups.remove(curators),
        lambda: bo.groups.clear(),
        lambda: curators.user_set.remove(bo),
        lambda: curators.user_set.clear(),
        lambda: bo.groups.set([]),
    ):
        bo.groups.add(curators)
        client = log_in()
        take()
        assert not is_in(client)


def test_a_lost_permission_ends_the_sessions(bo: User) -> None:
    permission = Permission.objects.get(codename="view_faq")
    bo.user_permissions.add(permission)
    client = log_in()
    bo.user_permissions.remove(permission)
    assert not is_in(client)


def test_a_new_role_ends_nothing(bo: User) -> None:
    client = log_in()
    bo.groups.add(Group.objects.create(name="Faculty of Law"))
    bo.first_name = "Bo"
    bo.save()
    assert is_in(client)


def test_the_last_use_is_noted_every_ten_minutes(bo: User) -> None:
    client, now = log_in(), timezone.now()
    StaffSession.objects.update(last_used_at=now - timedelta(minutes=5))
    client.get(reverse("admin:index"))
    assert StaffSession.objects.get().last_used_at == now - timedelta(minutes=5)
    StaffSession.objects.update(last_used_at=now - timedelta(minutes=11))
    client.get(reverse("admin:index"))
    assert StaffSession.objects.get().last_used_at >= now


def test_passwords_turned_off_end_what_they_began(bo: User, settings: Settings) -> None:
    client = log_in()
    settings.OIDC_ISSUER, settings.LOCAL_LOGIN, settings.BREAK_GLASS_USER = "https://login.uni.example", False, "glass"
    assert not is_in(client)
    settings.BREAK_GLASS_USER = "bo"
    settings.LOCAL_LOGIN = True
    client = log_in()
    settings.LOCAL_LOGIN = False
    assert is_in(client)


def test_ended_sessions_are_deleted(bo: User) -> None:
    log_in()
    assert re.fullmatch(r"[a-z0-9]+", StaffSession.objects.get().session_key)
    clear_sessions()
    assert StaffSession.objects.count() == 1
    StaffSession.objects.update(expire_date=timezone.now() - timedelta(minutes=1))
    clear_sessions()
    assert not StaffSession.objects.exists()

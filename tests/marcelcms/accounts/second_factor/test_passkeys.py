"""Passkeys as a second factor: added, used, removed, and what is not taken for one."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from marcelcms.accounts.roles import CURATOR
from marcelcms.accounts.second_factor import services
from marcelcms.models import Passkey, RecoveryCode, RoleWithSecondFactor
from tests.factories import UserFactory
from tests.fakes.authenticator import Authenticator
from tests.marcelcms.accounts.second_factor.test_second_factor import PASSWORD, bo, deeds, is_in  # noqa: F401

pytestmark = pytest.mark.django_db
REFUSED = "The passkey was not accepted."


class Browser(Client):
    """Speaks https, as passkeys need."""

    def get(self, path: str, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().get(path, *arguments, secure=True, **options)

    def post(self, path: str, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        return super().post(path, *arguments, secure=True, **options)


def options_to_add(browser: Client, password: str = PASSWORD) -> dict[str, Any]:
    reply = browser.post(reverse("passkey-options"), {"password": password})
    assert reply.status_code == 200, reply.content
    found: dict[str, Any] = reply.json()
    return found


def add(browser: Client, key: Authenticator, name: str = "My phone", **client: Any) -> Any:
    credential = key.make(options_to_add(browser), **client)
    return browser.post(reverse("passkey"), {"name": name, "credential": credential})


def type_password(browser: Client) -> Any:
    return browser.post(reverse("admin:login"), {"username": "bo", "password": PASSWORD})


def options_to_prove(browser: Client) -> dict[str, Any]:
    page = browser.get(reverse("second-factor")).content.decode()
    found = re.search(r'data-options="([^"]+)"', page)
    assert found
    options: dict[str, Any] = json.loads(html.unescape(found[1]))
    return options


def use(browser: Client, credential: str) -> Any:
    return browser.post(reverse("second-factor"), {"credential": credential})


@pytest.fixture
def key(bo: User) -> Authenticator:  # noqa: F811
    """Have a passkey added; return it."""
    browser, made = Browser(), Authenticator()
    browser.force_login(bo)
    assert "recovery codes" in add(browser, made).content.decode()
    return made


@pytest.fixture
def browser(key: Authenticator) -> Browser:
    """Provide a browser in which the password was typed."""
    made = Browser()
    assert type_password(made)["Location"] == reverse("second-factor")
    return made


# --- as it should be ---


def test_a_passkey_is_added_with_the_password_and_brings_recovery_codes(bo: User, key: Authenticator) -> None:  # noqa: F811
    assert [each.name for each in bo.passkeys.all()] == ["My phone"]
    assert services.has_factor(bo)
    assert RecoveryCode.objects.filter(user=bo).count() == 10
    assert deeds(bo) == ["Changed passkey added."]


def test_who_has_one_logs_in_with_it(bo: User, browser: Browser, key: Authenticator) -> None:  # noqa: F811
    assert not is_in(browser)
    assert use(browser, key.prove(options_to_prove(browser)))["Location"] == reverse("admin:index")
    assert browser.get(reverse("admin:index")).status_code == 200
    assert bo.passkeys.get().last_used_at


def test_a_recovery_code_does_in_its_place(bo: User, browser: Browser) -> None:  # noqa: F811
    (code, *_others) = services.renew_codes(user=bo)
    assert browser.post(reverse("second-factor"), {"code": code})["Location"] == reverse("admin:index")


def test_a_role_that_needs_a_factor_has_a_passkey_added_before_anything_else(bo: User) -> None:  # noqa: F811
    RoleWithSecondFactor.objects.create(role=CURATOR)
    browser, made = Browser(), Authenticator()
    assert type_password(browser)["Location"] == reverse("second-factor-setup")
    assert reverse("passkey") in browser.get(reverse("second-factor-setup")).content.decode()
    add(browser, made)
    assert browser.get(reverse("admin:index")).status_code == 200


def test_a_second_one_brings_no_new_codes_and_the_last_factor_is_not_removed(bo: User, key: Authenticator) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    assert add(browser, Authenticator(), "My key")["Location"] == reverse("my-login")
    first, second = bo.passkeys.all()
    browser.post(reverse("passkey-remove"), {"passkey": first.pk})
    page = browser.post(reverse("passkey-remove"), {"passkey": second.pk}, follow=True)
    assert "This is your only second factor." in page.content.decode()
    assert list(bo.passkeys.all()) == [second]
    assert deeds(bo)[-1] == "Changed passkey removed."


def test_an_administrator_takes_passkeys_away_too(bo: User, key: Authenticator, admin_client: Client) -> None:  # noqa: F811
    admin_client.post(reverse("second-factor-reset", args=[bo.pk]))
    assert not services.has_factor(bo)
    assert not Passkey.objects.exists()


def test_passkeys_belong_to_a_name_and_need_https(bo: User) -> None:  # noqa: F811
    for options in ({}, {"headers": {"Host": "127.0.0.1"}, "secure": True}):
        client = Client()
        client.force_login(bo)
        assert client.get(reverse("passkey"), **options).status_code == 302
        assert client.post(reverse("passkey-options"), {"password": PASSWORD}, **options).status_code == 403


# --- what is refused ---


def test_without_the_password_nobody_adds_one(bo: User) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    reply = browser.post(reverse("passkey-options"), {"password": "guessed"})
    assert (reply.status_code, reply.json()) == (403, {"said": "This password is not right."})
    credential = Authenticator().make({"challenge": "AAAA"})
    assert REFUSED in browser.post(reverse("passkey"), {"name": "x", "credential": credential}).content.decode()
    assert not Passkey.objects.exists()


def test_who_typed_the_password_alone_adds_nothing_to_an_account_with_a_factor(browser: Browser) -> None:
    assert browser.post(reverse("passkey-options"), {}).status_code == 403
    assert browser.get(reverse("passkey")).status_code == 302
    assert browser.get(reverse("second-factor-setup"))["Location"] == reverse("admin:index")
    assert browser.get(reverse("admin:index")).status_code == 302


@pytest.mark.parametrize(
    "client",
    [
        {"origin": "https://testserver.evil.example"},
        {"origin": "http://testserver"},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"type": "webauthn.get"},
    ],
)
def test_a_key_made_for_something_else_is_not_added(bo: User, client: dict[str, str]) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    assert REFUSED in add(browser, Authenticator(), **client).content.decode()
    assert not Passkey.objects.exists()


def test_a_key_for_another_host_is_not_added(bo: User) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    assert REFUSED in add(browser, Authenticator(rp_id="evil.example")).content.decode()


@pytest.mark.parametrize(
    "client",
    [
        {"origin": "https://evil.example"},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"type": "webauthn.create"},
        {"flags": 0x00},
    ],
)
def test_a_proof_of_something_else_lets_nobody_in(browser: Browser, key: Authenticator, client: Any) -> None:
    assert REFUSED in use(browser, key.prove(options_to_prove(browser), **client)).content.decode()
    assert browser.get(reverse("admin:index")).status_code == 302


def test_a_proof_is_good_once_and_in_its_own_session(browser: Browser, key: Authenticator) -> None:
    proof = key.prove(options_to_prove(browser))
    other = Browser()
    type_password(other)
    options_to_prove(other)
    assert REFUSED in use(other, proof).content.decode()
    use(browser, proof)
    browser.post(reverse("admin:logout"))
    type_password(browser)
    assert REFUSED in use(browser, proof).content.decode()


def test_another_key_and_that_of_another_account_let_nobody_in(browser: Browser, key: Authenticator) -> None:
    forged, theirs = Authenticator(), Authenticator()
    forged.id = key.id
    assert REFUSED in use(browser, forged.prove(options_to_prove(browser))).content.decode()
    colleague, other = UserFactory(is_staff=True), Browser()
    colleague.set_password(PASSWORD)
    colleague.save()
    other.force_login(colleague)
    add(other, theirs)
    assert Passkey.objects.filter(user=colleague).exists()
    assert REFUSED in use(browser, theirs.prove(options_to_prove(browser))).content.decode()


def test_a_key_that_was_copied_is_refused_and_stands_in_the_log(bo: User, browser: Browser, key: Authenticator) -> None:  # noqa: F811
    Passkey.objects.update(sign_count=7)
    assert REFUSED in use(browser, key.prove(options_to_prove(browser))).content.decode()
    assert deeds(bo)[-1] == "Changed passkey refused, it may have been copied."


@pytest.mark.parametrize("sent", ["", "nothing", "[]", "{}", '{"rawId": 3}', '{"rawId": "AAAA", "response": {}}'])
def test_what_no_browser_sends_is_refused(browser: Browser, key: Authenticator, sent: str) -> None:
    options_to_prove(browser)
    assert REFUSED in use(browser, sent).content.decode()
    assert key.count == 0

"""Passkeys as a second factor: added, used, removed, and what is not taken for one."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client, RequestFactory
from django.urls import reverse
from webauthn.helpers import bytes_to_base64url

from marcelcms.accounts.roles import CURATOR
from marcelcms.accounts.second_factor import passkeys, services
from marcelcms.models import Passkey, RecoveryCode, RoleWithSecondFactor
from tests.factories import UserFactory
from tests.fakes.authenticator import PRESENT, VERIFIED, Authenticator
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


def test_where_none_works_a_recovery_code_alone_is_asked_for(bo: User, key: Authenticator) -> None:  # noqa: F811
    client = Client()
    type_password(client)
    page = client.get(reverse("second-factor")).content.decode()
    assert "Passkeys do not work at this address. Type one of your recovery codes." in page
    assert "data-options" not in page


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
        {"flags": PRESENT},
        {"flags": VERIFIED},
    ],
)
def test_a_key_made_for_something_else_or_by_nobody_is_not_added(bo: User, client: Any) -> None:  # noqa: F811
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
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"flags": 0x00},
    ],
)
def test_a_proof_of_something_else_or_by_nobody_lets_nobody_in(
    browser: Browser, key: Authenticator, client: Any
) -> None:
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


@pytest.mark.parametrize("known", [1, 7])
def test_a_key_that_was_copied_is_refused_and_stands_in_the_log(
    bo: User,  # noqa: F811
    browser: Browser,
    key: Authenticator,
    known: int,
) -> None:
    Passkey.objects.update(sign_count=known)
    assert REFUSED in use(browser, key.prove(options_to_prove(browser))).content.decode()
    assert deeds(bo)[-1] == "Changed passkey refused, it may have been copied."


def test_a_key_that_does_not_count_is_taken(browser: Browser, key: Authenticator) -> None:
    key.count = -1
    assert use(browser, key.prove(options_to_prove(browser)))["Location"] == reverse("admin:index")


def test_a_challenge_adds_one_key_and_no_second_time(bo: User) -> None:  # noqa: F811
    browser, first, second = Browser(), Authenticator(), Authenticator()
    browser.force_login(bo)
    options = options_to_add(browser)
    for made, is_added in ((first, True), (second, False)):
        reply = browser.post(reverse("passkey"), {"name": "x", "credential": made.make(options)})
        assert (REFUSED in reply.content.decode()) is not is_added
    assert bo.passkeys.count() == 1


def test_a_challenge_to_prove_goes_with_the_first_answer(bo: User, key: Authenticator) -> None:  # noqa: F811
    request = RequestFactory().get("/", secure=True)
    request.session = SessionStore()
    options = passkeys.options_to_prove(request, bo)
    assert options
    with pytest.raises(passkeys.Refused):
        passkeys.prove(request, bo, credential="{}")
    with pytest.raises(passkeys.Refused):
        passkeys.prove(request, bo, credential=key.prove(options))
    options = passkeys.options_to_prove(request, bo)
    assert options
    passkeys.prove(request, bo, credential=key.prove(options))


def test_a_challenge_ends_after_a_while(
    bo: User,  # noqa: F811
    browser: Browser,
    key: Authenticator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, made = Browser(), Authenticator()
    inside.force_login(bo)
    new, proof = made.make(options_to_add(inside)), key.prove(options_to_prove(browser))
    monkeypatch.setattr(passkeys, "CHALLENGE_SECONDS", -1)
    assert REFUSED in inside.post(reverse("passkey"), {"name": "x", "credential": new}).content.decode()
    assert REFUSED in use(browser, proof).content.decode()
    assert bo.passkeys.count() == 1


def test_an_account_has_ten_at_most(bo: User, key: Authenticator) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    for _number in range(9):
        assert add(browser, Authenticator()).status_code == 302
    assert REFUSED in add(browser, Authenticator()).content.decode()
    assert bo.passkeys.count() == 10


def test_nobody_removes_a_colleagues(bo: User, key: Authenticator) -> None:  # noqa: F811
    colleague, browser = UserFactory(is_staff=True), Browser()
    colleague.set_password(PASSWORD)
    colleague.save()
    browser.force_login(colleague)
    add(browser, Authenticator())
    add(browser, Authenticator())
    browser.post(reverse("passkey-remove"), {"passkey": bo.passkeys.get().pk})
    assert (bo.passkeys.count(), colleague.passkeys.count()) == (1, 2)


def test_a_name_with_nul_is_saved_without_it_and_a_huge_id_is_refused(bo: User) -> None:  # noqa: F811
    browser, huge = Browser(), Authenticator()
    browser.force_login(bo)
    add(browser, Authenticator(), "My \x00 phone")
    huge.id = bytes(1024)
    assert REFUSED in add(browser, huge).content.decode()
    assert [each.name for each in bo.passkeys.all()] == ["My phone"]


DEEP = "[" * 100_000
UNUSABLE = {
    "nothing": "",
    "no JSON": "nothing",
    "a list": "[]",
    "an empty object": "{}",
    "a number": '{"rawId": 3}',
    "an object": '{"rawId": {"a": 1}}',
    "NUL": '{"rawId": "\\u0000"}',
    "half a character": '{"rawId": "\\ud800"}',
    "no reply": '{"rawId": "AAAA", "response": {}}',
    "too deep": DEEP,
}


@pytest.mark.parametrize("sent", UNUSABLE.values(), ids=UNUSABLE)
def test_what_no_browser_sends_is_not_added(bo: User, sent: str) -> None:  # noqa: F811
    browser = Browser()
    browser.force_login(bo)
    options_to_add(browser)
    assert REFUSED in browser.post(reverse("passkey"), {"name": "x", "credential": sent}).content.decode()
    assert not Passkey.objects.exists()


def test_what_the_browser_says_too_deeply_is_refused(bo: User, browser: Browser, key: Authenticator) -> None:  # noqa: F811
    proof = json.loads(key.prove(options_to_prove(browser)))
    proof["response"]["clientDataJSON"] = bytes_to_base64url(DEEP.encode())
    assert REFUSED in use(browser, json.dumps(proof)).content.decode()
    inside = Browser()
    inside.force_login(bo)
    new = json.loads(Authenticator().make(options_to_add(inside)))
    new["response"] |= {"clientDataJSON": bytes_to_base64url(DEEP.encode())}
    assert REFUSED in inside.post(reverse("passkey"), {"name": "x", "credential": json.dumps(new)}).content.decode()
    new["response"] |= {"attestationObject": bytes_to_base64url(b"\x81" * 100_000)}
    new["response"] |= {
        "clientDataJSON": json.loads(Authenticator().make(options_to_add(inside)))["response"]["clientDataJSON"]
    }
    assert REFUSED in inside.post(reverse("passkey"), {"name": "x", "credential": json.dumps(new)}).content.decode()


@pytest.mark.parametrize("sent", UNUSABLE.values(), ids=UNUSABLE)
def test_what_no_browser_sends_is_refused(browser: Browser, key: Authenticator, sent: str) -> None:
    options_to_prove(browser)
    assert REFUSED in use(browser, sent).content.decode()
    assert key.count == 0

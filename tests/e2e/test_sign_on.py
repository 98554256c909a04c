"""Staff log in with the directory and with a second factor, in Chromium on a phone: no barrier, and no way lost."""

import re
from collections.abc import Iterator

import pyotp
import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, CDPSession, Page, expect
from pytest_django import Settings

from marcelcms.accounts.roles import ANALYST, CURATOR, make_roles
from marcelcms.models import DirectoryGroup, RoleWithSecondFactor
from tests.analytics.inbox.mail_server import free_port
from tests.e2e.conftest import keep, violations
from tests.factories import UserFactory
from tests.fakes.oidc import Provider, running_provider
from tests.fakes.saml import running_identity_provider
from tests.marcelcms.accounts.sign_on.conftest import BO, configure
from tests.marcelcms.accounts.sign_on.saml.conftest import configure as configure_saml
from tests.servers import Server

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume"),  # static files, as ASGI has them
]
PASSWORD = "a long and secret sentence"
NOT_USED = "The passkey was not used. Please try again, or take another way."


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark", base_url=server.origin
    )
    yield context.new_page()
    context.close()


def assert_clean(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert violations(page) == []


@pytest.fixture
def directory(server: Server, settings: Settings) -> Iterator[Provider]:
    with running_provider(free_port(), server.origin) as provider:
        configure(settings, provider.issuer)
        settings.PUBLIC_URL = server.origin
        yield provider


def test_a_curator_logs_in_with_the_directory_and_out_of_both(phone: Page, directory: Provider, server: Server) -> None:
    make_roles()
    team = Group.objects.create(name="Faculty of Law")
    DirectoryGroup.objects.create(name="law-web", role=CURATOR).teams.add(team)
    directory.set_person(**BO, groups=["choir"])
    phone.goto("/admin/")
    assert_clean(phone)
    phone.get_by_role("link", name="Anmelden mit Ihrem Hochschulkonto").click()
    expect(phone.get_by_role("heading", name="Sie haben keine Rolle in MarcelCMS")).to_be_visible()
    assert_clean(phone)
    directory.set_person(**BO, groups=["law-web"])
    phone.goto("/admin/faqs/faq/")
    phone.get_by_role("link", name="Anmelden mit Ihrem Hochschulkonto").click()
    phone.wait_for_url("**/admin/faqs/faq/")
    phone.goto("/admin/my-login/")
    assert_clean(phone)
    phone.goto("/admin/")
    phone.locator(".account-button").click()
    phone.locator("#logout-form button").click()
    phone.wait_for_url(f"{directory.issuer}/session/end**")
    assert phone.context.request.get(f"{server.origin}/admin/", max_redirects=0).status == 302


def test_a_curator_logs_in_with_a_saml_provider_of_another_site_and_out_of_both(
    phone: Page, server: Server, settings: Settings
) -> None:
    """The provider is localhost and the product 127.0.0.1: the provider's form brings no cookie of the session."""
    make_roles()
    DirectoryGroup.objects.create(name="law-web", role=CURATOR)
    with running_identity_provider("localhost") as provider:
        configure_saml(settings, provider, server.origin)
        phone.goto("/admin/faqs/faq/")
        phone.get_by_role("link", name="Anmelden mit Ihrem Hochschulkonto").click()
        phone.wait_for_url("**/admin/faqs/faq/")
        phone.goto("/admin/")
        phone.locator(".account-button").click()
        phone.locator("#logout-form button").click()
        phone.wait_for_url("**/admin/login/")
        assert provider.logged_out == ["a-name-of-bo"]
        assert phone.context.request.get(f"{server.origin}/admin/", max_redirects=0).status == 302
        phone.goto("/sign-on/saml/finish/?answer=x")
        expect(phone.get_by_role("heading", name="Die Anmeldung hat nicht geklappt")).to_be_visible()
        assert_clean(phone)


def test_an_analyst_sets_a_second_factor_up_and_logs_in_with_it(phone: Page, server: Server) -> None:
    make_roles()
    user: User = UserFactory(username="lin", teams=[Group.objects.get(name=ANALYST)])
    user.set_password(PASSWORD)
    user.save()
    RoleWithSecondFactor.objects.create(role=ANALYST)
    type_password(phone)
    expect(phone.get_by_role("heading", name="Zweiten Faktor einrichten")).to_be_visible()
    assert phone.locator("img.plain-form__picture").evaluate("image => image.naturalWidth") > 100
    assert_clean(phone)
    key = phone.locator("code").inner_text().replace(" ", "")
    phone.get_by_label("Code").fill(pyotp.TOTP(key).now())
    phone.get_by_role("button", name="Einschalten").click()
    expect(phone.get_by_role("heading", name="Ihre Ersatzcodes")).to_be_visible()
    assert_clean(phone)
    recovery = phone.locator("code").first.inner_text()
    phone.get_by_role("link", name="Ich habe sie aufbewahrt").click()
    phone.goto("/admin/my-login/")
    assert_clean(phone)
    phone.context.clear_cookies()
    type_password(phone)
    expect(phone.get_by_role("heading", name="Ihr zweiter Faktor")).to_be_visible()
    phone.get_by_label("Code").fill("000000")
    phone.get_by_role("button", name="Anmelden").click()
    expect(phone.get_by_text("Dieser Code stimmt nicht")).to_be_visible()
    assert_clean(phone)
    phone.get_by_label("Code").fill(recovery)
    phone.get_by_role("button", name="Anmelden").click()
    phone.wait_for_url("**/admin/")
    phone.goto("/admin/my-login/")
    expect(phone.get_by_text("Dort abmelden").first).to_be_visible()
    assert_clean(phone)


def test_a_passkey_is_added_and_logs_in_on_a_phone(browser: Browser, server: Server) -> None:
    """Chromium's own authenticator makes the key; it belongs to a host's name, and so not to an address."""
    make_roles()
    user: User = UserFactory(username="lin", teams=[Group.objects.get(name=ANALYST)])
    user.set_password(PASSWORD)
    user.save()
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, base_url=server.origin.replace("127.0.0.1", "localhost"), locale="en-GB"
    )
    phone, errors = context.new_page(), list[str]()
    phone.on("pageerror", lambda error: errors.append(str(error)))
    # axe itself tries inline styles, so scripts alone are looked at.
    phone.on("console", lambda said: errors.append(said.text) if "script-src" in said.text else None)
    devtools = context.new_cdp_session(phone)
    devtools.send("WebAuthn.enable")
    key = {"protocol": "ctap2", "transport": "internal", "hasUserVerification": True, "isUserVerified": True}
    made = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": key | {"automaticPresenceSimulation": True}})
    type_password(phone)
    phone.goto("/second-factor/setup/")
    assert_clean(phone)
    phone.get_by_role("link", name="Use a passkey").click()
    phone.get_by_label("What you call it:").fill("My phone")
    phone.get_by_label("Your password, once more:").fill("guessed")
    phone.get_by_role("button", name="Add the passkey").click()
    expect(phone.get_by_role("alert")).to_have_text("This password is not right.")
    assert_clean(phone)
    keep(phone, "passkey-wrong-password")
    phone.get_by_label("Your password, once more:").fill(PASSWORD)
    phone.get_by_role("button", name="Add the passkey").click()
    expect(phone.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    phone.get_by_role("link", name="I have kept them").click()
    expect(phone.get_by_role("listitem").filter(has_text="My phone")).to_be_visible()
    assert_clean(phone)
    keep(phone, "passkey-my-login")
    context.clear_cookies()
    type_password(phone)
    expect(phone.get_by_role("heading", name="Your second factor")).to_be_visible()
    assert_clean(phone)
    keep(phone, "passkey-log-in")
    unlocks(devtools, made, False)
    phone.get_by_role("button", name="Use the passkey").click()
    expect(phone.get_by_role("alert")).to_have_text(NOT_USED)
    assert_clean(phone)
    unlocks(devtools, made, True)
    phone.get_by_role("button", name="Use the passkey").click()
    phone.wait_for_url("**/admin/")
    phone.goto("/admin/my-login/")
    phone.get_by_role("button", name=re.compile("Remove.*My phone")).click()
    expect(phone.get_by_text("This is your only second factor.")).to_be_visible()
    phone.get_by_role("link", name="Set up an app for codes too").click()
    phone.get_by_label("Code").fill(pyotp.TOTP(phone.locator("code").inner_text().replace(" ", "")).now())
    phone.get_by_role("button", name="Switch on").click()
    phone.get_by_role("link", name="I have kept them").click()
    phone.get_by_role("button", name=re.compile("Remove.*My phone")).click()
    expect(phone.get_by_text("The passkey is removed.")).to_be_visible()
    expect(phone.get_by_role("listitem").filter(has_text="My phone")).to_be_hidden()
    assert errors == []
    context.close()


def unlocks(devtools: CDPSession, authenticator: dict[str, str], is_right: bool) -> None:
    """Have the finger or PIN be right or wrong from now on."""
    devtools.send("WebAuthn.setUserVerified", {**authenticator, "isUserVerified": is_right})


def type_password(page: Page) -> None:
    page.goto("/admin/login/")
    page.locator("#id_username").fill("lin")
    page.locator("#id_password").fill(PASSWORD)
    page.locator("#login-form input[type=submit]").click()

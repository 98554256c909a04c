"""Settings of the directory: what is unsafe or leaves nobody a way in stops the start."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from marcelcms import checks, env
from tests.marcelcms.test_checks import check


@pytest.mark.parametrize(
    "address", ["https://login.uni.example/staff", "http://127.0.0.1:8080", "http://localhost/x", ""]
)
def test_an_issuer_is_https_or_on_this_machine(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_ISSUER", address)
    assert env.issuer("OIDC_ISSUER") == address


@pytest.mark.parametrize(
    "address",
    [
        "http://login.uni.example",
        "http://10.0.0.5",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "ftp://localhost",
        "login.uni.example",
        "https://",
        "https://login.uni.example/?realm=staff",
    ],
)
def test_any_other_issuer_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_ISSUER", address)
    with pytest.raises(ImproperlyConfigured, match="OIDC_ISSUER is"):
        env.issuer("OIDC_ISSUER")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"LOCAL_LOGIN": "false"}, "nobody could log in"),
        ({"OIDC_ISSUER": "https://login.uni.example"}, "OIDC_CLIENT_ID is not set"),
        ({"OIDC_SCOPES": "profile"}, "without openid"),
        ({"SAML_IDP_ENTITY_ID": "https://idp.uni.example"}, "SAML_IDP_METADATA is not set"),
    ],
)
def test_settings_that_leave_nobody_a_way_in_stop_the_start(changes: dict[str, str], says: str) -> None:
    done = check(**changes)
    assert done.returncode != 0
    assert says in done.stderr


def test_no_account_for_emergencies_is_warned_of(settings: Settings) -> None:
    settings.LOCAL_LOGIN, settings.BREAK_GLASS_USER = False, ""
    assert "marcelcms.W005" in {each.id for each in checks.unwise()}
    settings.BREAK_GLASS_USER = "glass"
    assert "marcelcms.W005" not in {each.id for each in checks.unwise()}

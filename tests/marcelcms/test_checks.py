"""What must not face the public is named by `check --deploy` and refused by a web process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from marcelcms import checks, env
from marcelcms.embedded.run import ROOT

#: As the operators' guide names them.
PRODUCTION = {
    "SECRET_KEY": "bT8WkB0m7pYvX3s5zQ2uL9cR4eN6aJ1hG0fD8tKxV7wZ5yMqP3nS6dF1",
    "ALLOWED_HOSTS": "chat.uni.example",
    "CSRF_TRUSTED_ORIGINS": "https://chat.uni.example",
    "PUBLIC_URL": "https://chat.uni.example",
    "HTTPS": "true",
    "TRUSTED_PROXIES": "1",
    "DATABASE_URL": "postgresql://marcelcms:x@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}


def check(**changes: str) -> subprocess.CompletedProcess[str]:
    """`manage.py check --deploy` in the production environment; warnings count."""
    environment = {"PATH": os.environ["PATH"], "STATE_DIR": os.environ["STATE_DIR"], **(PRODUCTION | changes)}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_documented_production_environment_is_clean() -> None:
    done = check()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"DEBUG": "true"}, "E001"),
        ({"SECRET_KEY": "short"}, "E002"),
        ({"SECRET_KEY": "a" * 60}, "E002"),
        ({"ALLOWED_HOSTS": "*"}, "E003"),
        ({"PUBLIC_URL": "http://chat.uni.example"}, "E004"),
        ({"PUBLIC_URL": "http://localhost:8000"}, "E004"),
        ({"HTTPS": "false"}, "E005"),
    ],
)
def test_each_unsafe_setting_is_refused(changes: dict[str, str], number: str, settings: Settings) -> None:
    values: dict[str, object] = {**PRODUCTION, "DEBUG": False} | changes
    settings.SECRET_KEY, settings.PUBLIC_URL = values["SECRET_KEY"], values["PUBLIC_URL"]
    settings.ALLOWED_HOSTS = [values["ALLOWED_HOSTS"]]
    settings.HTTPS, settings.DEBUG = values["HTTPS"] == "true", values["DEBUG"] == "true"
    assert number in {each.id.removeprefix("marcelcms.") for each in checks.unsafe() if each.id}
    with pytest.raises(ImproperlyConfigured) as caught:
        checks.refuse_unsafe()
    assert "Set" in str(caught.value) or "Name" in str(caught.value)


@pytest.mark.slow
def test_a_web_process_does_not_start_unsafely() -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "STATE_DIR": os.environ["STATE_DIR"],
        **PRODUCTION,
        "SECRET_KEY": "short",
    }
    command = [sys.executable, "-c", "import marcelcms.asgi"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "openssl rand" in done.stderr


@pytest.mark.parametrize("number", ["W001", "W002", "W003", "W004"])
def test_unwise_settings_are_named(number: str, settings: Settings) -> None:
    settings.PUBLIC_URL, settings.HTTPS, settings.TRUSTED_PROXIES = "https://chat.uni.example", True, 0
    settings.ALLOWED_HOSTS = ["other.uni.example"]
    settings.EMAIL_HOST_PASSWORD, settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = "x", False, False
    settings.MAILBOX = env.Mailbox("mail.uni.example", 143, "replies", "x")
    assert f"marcelcms.{number}" in {each.id for each in checks.unwise()}


def test_on_a_machine_of_ones_own_everything_goes(settings: Settings) -> None:
    settings.PUBLIC_URL, settings.SECRET_KEY, settings.DEBUG = "http://127.0.0.1:8000", "x", True
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "web", "10.0.0.5"]
    assert list(checks.unsafe()) == []
    checks.refuse_unsafe()


@pytest.mark.parametrize("host", [".uni.example", "chat.uni.example", "2001:4860:4860::8888", "*"])
def test_names_and_addresses_that_the_public_reaches(host: str) -> None:
    assert checks.is_public(host)


def test_a_browser_that_is_not_there_is_named_by_every_command(settings: Settings, tmp_path: Path) -> None:
    settings.CRAWL_BROWSER = ""
    assert checks.check_crawl_browser(None) == []
    settings.CRAWL_BROWSER = sys.executable
    assert checks.check_crawl_browser(None) == []
    (tmp_path / "text").write_text("no program")
    for path in (tmp_path / "none", tmp_path / "text", tmp_path):
        settings.CRAWL_BROWSER = str(path)
        (error,) = checks.check_crawl_browser(None)
        assert error.id == "marcelcms.E007"
        assert str(path) in error.msg


def test_a_browser_without_the_extra_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CRAWL_BROWSER = sys.executable
    monkeypatch.setattr(checks, "find_spec", lambda _name: None)
    (error,) = checks.check_crawl_browser(None)
    assert error.id == "marcelcms.E006"
    assert "marcelcms[render]" in (error.hint or "")

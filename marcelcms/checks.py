"""Settings with which this must not face the public: `check --deploy` names them, a web process refuses them. And a
setting that would do nothing: every command names it."""

import ipaddress
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

LEAST_SECRET, LEAST_DIFFERENT = 32, 5


def is_public(host: str) -> bool:
    """Return whether a name has a dot or an address is public: `web`, `localhost`, 127.0.0.1, 10.0.0.5 are not."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." in host.strip(".") or host == "*"


def public_hosts() -> list[str]:
    return [host for host in settings.ALLOWED_HOSTS if is_public(host)]


@register(Tags.security, deploy=True)
def check_deployment(app_configs: Sequence[Any] | None, **_kwargs: object) -> list[CheckMessage]:
    return [*unsafe(), *unwise()]


@register()
def check_crawl_browser(app_configs: Sequence[Any] | None, **_kwargs: object) -> list[CheckMessage]:
    return [*unusable_browser()]


def unusable_browser() -> Iterator[Error]:
    """Yield what keeps the crawler's browser from starting; nothing if none is set."""
    program = settings.CRAWL_BROWSER
    if not program:
        return
    if find_spec("playwright") is None:
        yield _error(
            "E006",
            "CRAWL_BROWSER is set, and the product is installed without its extra `render`.",
            "Install it with the extra, marcelcms[render], or leave CRAWL_BROWSER empty.",
        )
    if not Path(program).is_file() or not os.access(program, os.X_OK):
        yield _error(
            "E007",
            f"CRAWL_BROWSER is {program}, which is no program here.",
            "Set it to Chromium's path, such as CRAWL_BROWSER=/usr/bin/chromium, or leave it empty.",
        )


def unsafe() -> Iterator[Error]:
    """Yield the settings that a web process refuses to start with; none if no public name leads here."""
    address = urlsplit(settings.PUBLIC_URL)
    hosts = public_hosts()
    if not hosts and not is_public(address.hostname or ""):
        return
    if settings.DEBUG:
        yield _error("E001", "DEBUG is on: error pages show settings and code.", "Set DEBUG=false.")
    if len(settings.SECRET_KEY) < LEAST_SECRET or len(set(settings.SECRET_KEY)) < LEAST_DIFFERENT:
        yield _error(
            "E002",
            f"SECRET_KEY has fewer than {LEAST_SECRET} characters, or hardly any different ones: whoever guesses it is "
            "every visitor and every member of staff.",
            "Set it to what `openssl rand -base64 48` prints.",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield _error("E003", "ALLOWED_HOSTS allows every name.", "Name the hosts: ALLOWED_HOSTS=chat.uni.example.")
    if address.scheme != "https" or not is_public(address.hostname or ""):
        yield _error(
            "E004",
            f"PUBLIC_URL is {settings.PUBLIC_URL}, though the product answers to {', '.join(hosts) or 'it'}.",
            "Set it to what browsers see: PUBLIC_URL=https://chat.uni.example.",
        )
    if not settings.HTTPS:
        yield _error(
            "E005",
            "HTTPS is off: cookies of staff go over the network unprotected.",
            "Set HTTPS=true, with a proxy in front that speaks TLS and sets X-Forwarded-Proto.",
        )


def unwise() -> Iterator[Warning]:
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    if settings.HTTPS and not settings.TRUSTED_PROXIES:
        yield _warning(
            "W001",
            "TRUSTED_PROXIES is 0, though only a proxy can speak TLS here: all visitors seem to be one address, and "
            "share its limits.",
            "Set it to the number of proxies before this server, such as TRUSTED_PROXIES=1.",
        )
    if is_public(host) and not any(_names(allowed, host) for allowed in settings.ALLOWED_HOSTS):
        yield _warning("W002", f"ALLOWED_HOSTS lacks {host}, the host of PUBLIC_URL.", "Add it.")
    if settings.EMAIL_HOST_PASSWORD and not (settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL):
        yield _warning(
            "W003",
            "EMAIL_URL has a password and no TLS: the password goes over the network unprotected.",
            "Add ?tls=true to it, or begin it with smtps://.",
        )
    if settings.MAILBOX.host and not (settings.MAILBOX.tls or settings.MAILBOX.starttls):
        yield _warning(
            "W004",
            "IMAP_URL has a password and no TLS: the password goes over the network unprotected.",
            "Begin it with imaps://, or add ?tls=true to it.",
        )
    if not settings.LOCAL_LOGIN and not settings.BREAK_GLASS_USER:
        yield _warning(
            "W005",
            "LOCAL_LOGIN is off and BREAK_GLASS_USER is empty: nobody logs in while the directory does not answer.",
            "Set it to the name of one superuser, whose password two people can find.",
        )


def _names(allowed: str, host: str) -> bool:
    return allowed in {"*", host} or (allowed.startswith(".") and f".{host}".endswith(allowed))


def _error(number: str, message: str, hint: str) -> Error:
    return Error(message, hint=hint, id=f"marcelcms.{number}")


def _warning(number: str, message: str, hint: str) -> Warning:
    return Warning(message, hint=hint, id=f"marcelcms.{number}")


def refuse_unsafe() -> None:
    """Raise ImproperlyConfigured with everything that is wrong and what to do."""
    found = list(unsafe())
    if found:
        lines = [f"{each.msg} {each.hint}" for each in found]
        raise ImproperlyConfigured("\n".join(["This must not face the public:", *lines]))

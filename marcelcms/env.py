"""Typed reads of environment variables; a wrong value names the variable, the value and what would be right."""

import os
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """The variable's value, or `default`; raises ImproperlyConfigured where both are missing."""
    value = os.environ.get(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set: set it in the environment, or start with `make run`.")
    return value.strip()


def boolean(name: str, *, default: bool) -> bool:
    value = text(name, str(default)).lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes true or false.")
    return value in TRUE


def integer(name: str, *, default: int, least: int = 0) -> int:
    value = text(name, str(default))
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes a whole number of at least {least}.")
    return int(value)


def web_address(name: str, default: str) -> str:
    """The beginning of addresses, such as https://chat.uni.example, without a slash at its end."""
    value = text(name, default).rstrip("/")
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
    except ValueError:
        is_one = False
    if not is_one:
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes an address such as https://chat.uni.example.")
    return value


def words(name: str, *, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def database(name: str) -> dict[str, Any]:
    """A PostgreSQL URL (libpq's URI form) as a Django database entry."""
    url = text(name)
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"{name} cannot be read ({error}): it takes postgresql://user:password@host:port/database."
        ) from error
    if not url.startswith(("postgres://", "postgresql://")) or "dbname" not in parts:
        raise ImproperlyConfigured(f"{name} takes postgresql://user:password@host:port/database.")
    known = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    entry: dict[str, Any] = {known[key]: value for key, value in parts.items() if key in known}
    options = {key: value for key, value in parts.items() if key not in known}
    return {"ENGINE": "django.db.backends.postgresql", **entry, "OPTIONS": options}

"""Typed reads of environment variables; a wrong value names the variable, the value and what would be right."""

import os
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

#: Connections of a web process, where DATABASE_POOL does not say how many.
WEB_POOL = 10
#: How long is waited for the database's server, and for one that is to take its place: for a connection, and until one
#: that gives no sign of life counts as broken. Otherwise TCP takes a quarter of an hour to notice a cut network.
DATABASE_SECONDS, REPLICA_SECONDS = 5, 2
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """Return the variable's value, or the content of the file that NAME_FILE names, or `default`, without outer blanks.

    A secret belongs into a file: a process's environment is shown by `docker inspect` and inherited by its children.
    Raise ImproperlyConfigured if all are missing, both are set, or the file cannot be read.
    """
    value, file = os.environ.get(name), os.environ.get(f"{name}_FILE")
    if value is not None and file:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set: set one of them.")
    if file:
        return _content(f"{name}_FILE", file)
    if value is None:
        value = default
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set: set it in the environment, or start with `make run`.")
    return value.strip()


def _content(name: str, file: str) -> str:
    try:
        value = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ImproperlyConfigured(f"{name} is {file!r}, which cannot be read ({reason}).") from error
    if not value:
        raise ImproperlyConfigured(f"{name} is {file!r}, which is empty: write the value into it.")
    return value


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


def choice(name: str, default: str, *, among: Collection[str]) -> str:
    value = text(name, default)
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes one of {', '.join(among)}.")
    return value


def web_address(name: str, default: str) -> str:
    """Return the beginning of addresses, such as https://chat.uni.example, without a slash at its end."""
    value = text(name, default).rstrip("/")
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
    except ValueError:
        is_one = False
    if not is_one:
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes an address such as https://chat.uni.example.")
    return value


def is_https_or_loopback(address: str) -> bool:
    """Return whether nobody on the way can read what is sent there."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        is_loopback = host == "localhost" or ((host[:1].isdigit() or ":" in host) and ip_address(host).is_loopback)
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback))


def issuer(name: str) -> str:
    """Return the address of an OpenID Connect provider, letter by letter: a slash at its end counts. Empty for none."""
    value = text(name, "")
    parts = urlsplit(value)
    if value and (not is_https_or_loopback(value) or parts.query or parts.fragment):
        raise ImproperlyConfigured(f"{name} is {value!r}: it takes an address that begins with https://.")
    return value


def words(name: str, *, default: str = "") -> list[str]:
    """Return the items of a comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Return the networks and addresses of a comma-separated list."""
    try:
        return [ip_network(word, strict=False) for word in words(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}; it takes networks such as 10.0.0.0/8.") from error


def connection_name() -> str:
    """Return who holds a connection, as `pg_stat_activity` shows it; a restore asks it."""
    return f"marcelcms {os.getpid()}@{socket.gethostname()}"[:63]


def use_pools(databases: Mapping[str, dict[str, Any]], size: int) -> None:
    """Have a process borrow its connections from pools, so that none is held while a model speaks."""
    for alias, database in databases.items():
        # Where the replica has no connection soon, the primary is asked instead.
        wait = DATABASE_SECONDS if alias == "default" else REPLICA_SECONDS
        # A pool that tried for minutes would do so ever more rarely: who asks next has it begin anew.
        database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": size, "timeout": wait, "reconnect_timeout": wait}
        database["CONN_MAX_AGE"] = 0


def replica(name: str, *, is_pooled: bool) -> dict[str, Any]:
    """Return the Django database entry of a replica, whose absence is noticed still sooner: see `database`."""
    return database(name, is_pooled=is_pooled, seconds=REPLICA_SECONDS)


def database(name: str, *, is_pooled: bool = False, seconds: int = DATABASE_SECONDS) -> dict[str, Any]:
    """Return a PostgreSQL URL (libpq's URI form) as a Django database entry.

    A server that is silent for so many `seconds` is away; one that computes for minutes is not silent, since its
    machine answers. What the URL says of that counts.

    DATABASE_PASSWORD (or the file that DATABASE_PASSWORD_FILE names) is the password where the URL has none, so that
    an address can be shown and its secret kept in one file for all who need it. If it `is_pooled`, the address is
    that of PgBouncer in transaction mode, which gives a connection to others between two transactions: no cursor may
    outlive its transaction, and what a session is to begin with is set in PgBouncer, as docker/pgbouncer.ini does.
    """
    url = text(name)
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"{name} cannot be read ({error}): it takes postgresql://user:password@host:port/database."
        ) from error
    if not url.startswith(("postgres://", "postgresql://")) or "dbname" not in parts:
        raise ImproperlyConfigured(f"{name} takes postgresql://user:password@host:port/database.")
    if password := text("DATABASE_PASSWORD", ""):
        if "password" in parts:
            raise ImproperlyConfigured(f"{name} has a password, and so has DATABASE_PASSWORD: leave one of them out.")
        parts["password"] = password
    known = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    entry: dict[str, Any] = {known[key]: value for key, value in parts.items() if key in known}
    silence = {
        "connect_timeout": str(seconds),
        # What was sent and not received; and where nothing is sent, because a reply is waited for.
        "tcp_user_timeout": str(1_000 * seconds),
        "keepalives_idle": str(seconds),
        "keepalives_interval": "1",
        "keepalives_count": str(seconds),
    }
    options = silence | {key: value for key, value in parts.items() if key not in known}
    if is_pooled:
        entry["DISABLE_SERVER_SIDE_CURSORS"] = True
        options["options"] = ""
    return {"ENGINE": "django.db.backends.postgresql", **entry, "OPTIONS": options}


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server that takes mails; an empty `host` is none. `tls` is from the start, `starttls` after it."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    tls: bool = False
    starttls: bool = False


def mail_server(name: str) -> MailServer:
    """Return an address such as smtp://user:password@host:587?tls=true, or smtps://host; empty for none."""
    url = text(name, "")
    if not url:
        return MailServer()
    # The value may hold a password, so no message repeats it.
    wrong = ImproperlyConfigured(f"{name} takes smtp://user:password@host:587?tls=true, or smtps://user:password@host.")
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise wrong from None
    asked = options.pop("tls", "false").lower()
    tls, starttls = parts.scheme == "smtps", asked in TRUE
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname or parts.path not in {"", "/"}:
        raise wrong
    if options or asked not in TRUE | FALSE or parts.fragment or (tls and starttls):
        raise wrong
    usual = 465 if tls else 587 if starttls else 25
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port or usual, user, password, tls, starttls)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The IMAP mailbox that is read; an empty `host` is none. `tls` is from the start, `starttls` after it."""

    host: str = ""
    port: int = 993
    user: str = ""
    password: str = ""
    folder: str = "INBOX"
    tls: bool = False
    starttls: bool = False


def mailbox(name: str) -> Mailbox:
    """Return an address such as imaps://user:password@host:993/INBOX, or imap://…?tls=true; empty for none."""
    url = text(name, "")
    if not url:
        return Mailbox()
    # The value holds a password, so no message repeats it.
    wrong = ImproperlyConfigured(
        f"{name} takes imaps://user:password@host:993/INBOX, or imap://user:password@host?tls=true."
    )
    try:
        parts = urlsplit(url)
        port = parts.port
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise wrong from None
    asked = options.pop("tls", "false").lower()
    tls, starttls = parts.scheme == "imaps", asked in TRUE
    if parts.scheme not in {"imap", "imaps"} or not parts.hostname or not parts.username or not parts.password:
        raise wrong
    if options or asked not in TRUE | FALSE or parts.fragment or (tls and starttls):
        raise wrong
    folder = unquote(parts.path.strip("/")) or "INBOX"
    if not folder.isascii() or not folder.isprintable() or '"' in folder or "\\" in folder:
        raise wrong
    user, password = unquote(parts.username), unquote(parts.password)
    return Mailbox(parts.hostname, port or (993 if tls else 143), user, password, folder, tls, starttls)


def reply_address(name: str, *, has_mail_server: bool) -> str:
    """Return the address that students' replies go to, such as replies@chat.uni.example; empty for none.

    What is behind a plus is added to it, so it has none of its own.
    """
    value = text(name, "").lower()
    if not value:
        return ""
    try:
        validate_email(value)
    except ValidationError:
        value = "+"
    if "+" in value:
        raise ImproperlyConfigured(f"{name} takes an address without a plus, such as replies@chat.uni.example.")
    if not has_mail_server:
        raise ImproperlyConfigured(f"{name} is set and EMAIL_URL is not: set both, or neither.")
    return value


def sender(name: str, *, is_needed: bool) -> str:
    """Return whom mails are from, such as MarcelCMS <marcel@uni.example>."""
    value = text(name, "")
    if not value and not is_needed:
        return ""
    try:
        validate_email(parseaddr(value)[1])
    except ValidationError:
        raise ImproperlyConfigured(
            f"{name} is {value!r}: with EMAIL_URL it takes an address such as MarcelCMS <marcel@uni.example>."
        ) from None
    return value

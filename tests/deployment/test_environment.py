"""What a container's environment may say, and what it is told where that is wrong."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from marcelcms import env

URL = "postgresql://marcelcms@database:5432/marcelcms"


@pytest.fixture(autouse=True)
def no_database_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "DATABASE_URL_FILE", "DATABASE_PASSWORD", "DATABASE_PASSWORD_FILE", "PGBOUNCER"):
        monkeypatch.delenv(name, raising=False)


def secret(folder: Path, content: str) -> str:
    file = folder / "secret"
    file.write_text(content)
    return str(file)


def test_a_secret_is_read_from_the_file_that_its_variable_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOKEN_FILE", secret(tmp_path, "s3cret\n"))
    assert env.text("TOKEN") == env.text("TOKEN", "other") == "s3cret"


def test_a_typed_value_may_stand_in_a_file_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAGES_FILE", secret(tmp_path, "12\n"))
    assert env.integer("PAGES", default=1) == 12


def test_an_empty_name_of_a_file_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_FILE", "")
    assert env.text("TOKEN", "other") == "other"


def test_a_value_and_a_file_for_the_same_variable_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOKEN", "one")
    monkeypatch.setenv("TOKEN_FILE", secret(tmp_path, "another"))
    with pytest.raises(ImproperlyConfigured, match="TOKEN and TOKEN_FILE are both set"):
        env.text("TOKEN")


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOKEN_FILE", str(tmp_path / "missing"))
    with pytest.raises(ImproperlyConfigured, match=r"TOKEN_FILE is '.*missing'.*No such file"):
        env.text("TOKEN", "other")


def test_an_empty_file_is_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOKEN_FILE", secret(tmp_path, "\n"))
    with pytest.raises(ImproperlyConfigured, match=r"TOKEN_FILE is .*, which is empty"):
        env.text("TOKEN")


def test_what_is_no_text_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_bytes(b"\xff\xfe\xff")
    monkeypatch.setenv("TOKEN_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match="it is no text"):
        env.text("TOKEN")


def test_the_password_of_the_database_comes_from_its_own_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", URL)
    monkeypatch.setenv("DATABASE_PASSWORD_FILE", secret(tmp_path, "p@ss:word/%\n"))
    entry = env.database("DATABASE_URL")
    assert (entry["USER"], entry["PASSWORD"], entry["HOST"]) == ("marcelcms", "p@ss:word/%", "database")


def test_two_passwords_are_refused_without_saying_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", URL.replace("marcelcms@", "marcelcms:first@"))
    monkeypatch.setenv("DATABASE_PASSWORD", "second")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL has a password, and so has") as refused:
        env.database("DATABASE_URL")
    assert "first" not in str(refused.value)
    assert "second" not in str(refused.value)


def test_behind_pgbouncer_nothing_outlives_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", URL)
    assert "DISABLE_SERVER_SIDE_CURSORS" not in env.database("DATABASE_URL")
    entry = env.database("DATABASE_URL", is_pooled=True)
    assert entry["DISABLE_SERVER_SIDE_CURSORS"]
    assert entry["OPTIONS"]["options"] == ""  # PgBouncer refuses what it cannot hand on


# --- the mail server ---


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("", env.MailServer()),
        ("smtp://mail.uni.example", env.MailServer("mail.uni.example", 25)),
        (
            "smtp://marcel:p%40ss@mail.uni.example:2525?tls=true",
            env.MailServer("mail.uni.example", 2525, "marcel", "p@ss", starttls=True),
        ),
        ("smtp://mail.uni.example?tls=true", env.MailServer("mail.uni.example", 587, starttls=True)),
        ("smtp://mail.uni.example/?tls=false", env.MailServer("mail.uni.example", 25)),
        ("smtps://a:b@mail.uni.example", env.MailServer("mail.uni.example", 465, "a", "b", tls=True)),
        ("smtp://[::1]:26", env.MailServer("::1", 26)),
    ],
)
def test_the_address_of_a_mail_server(monkeypatch: pytest.MonkeyPatch, url: str, server: env.MailServer) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    assert env.mail_server("EMAIL_URL") == server


@pytest.mark.parametrize(
    "url",
    [
        *("mail.uni.example", "http://:s3cret@mail.uni.example", "smtp://", "smtp://u:s3cret@mail.uni.example:mail"),
        *("smtp://u:s3cret@mail.uni.example?tls=perhaps", "smtp://u:s3cret@mail.uni.example?ssl=true"),
        *(
            "smtps://u:s3cret@mail.uni.example?tls=true",
            "smtp://u:s3cret@mail.uni.example/inbox",
            "smtp://u:s3cret@[::1",
        ),
        *("smtp://u:s3cret@mail.uni.example?tls", "smtp://u:s3cret@mail.uni.example:99999"),
    ],
)
def test_what_is_no_mail_server_is_refused_without_saying_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL takes smtp://") as refused:
        env.mail_server("EMAIL_URL")
    assert "s3cret" not in str(refused.value)


def test_who_mails_are_from_is_needed_where_mails_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEFAULT_FROM_EMAIL", raising=False)
    assert env.sender("DEFAULT_FROM_EMAIL", is_needed=False) == ""
    for value in ("", "Marcel", "Marcel <marcel>"):
        monkeypatch.setenv("DEFAULT_FROM_EMAIL", value)
        with pytest.raises(ImproperlyConfigured, match=r"DEFAULT_FROM_EMAIL is .* with EMAIL_URL it takes an address"):
            env.sender("DEFAULT_FROM_EMAIL", is_needed=True)
    monkeypatch.setenv("DEFAULT_FROM_EMAIL", "MarcelCMS <marcel@uni.example>")
    assert env.sender("DEFAULT_FROM_EMAIL", is_needed=True) == "MarcelCMS <marcel@uni.example>"


# --- the mailbox of students' answers ---


@pytest.mark.parametrize(
    ("url", "mailbox"),
    [
        ("", env.Mailbox()),
        ("imaps://a:b@mail.uni.example", env.Mailbox("mail.uni.example", 993, "a", "b", tls=True)),
        (
            "imaps://replies%40uni.example:p%2Fss@mail.uni.example:9993/Chat/In",
            env.Mailbox("mail.uni.example", 9993, "replies@uni.example", "p/ss", "Chat/In", tls=True),
        ),
        ("imap://a:b@localhost?tls=true", env.Mailbox("localhost", 143, "a", "b", starttls=True)),
        ("imap://a:b@[::1]:1143/", env.Mailbox("::1", 1143, "a", "b")),
    ],
)
def test_the_address_of_a_mailbox(monkeypatch: pytest.MonkeyPatch, url: str, mailbox: env.Mailbox) -> None:
    monkeypatch.setenv("IMAP_URL", url)
    assert env.mailbox("IMAP_URL") == mailbox


@pytest.mark.parametrize(
    "url",
    [
        *(
            "mail.uni.example",
            "imaps://mail.uni.example",
            "imaps://u@mail.uni.example",
            "smtp://u:s3cret@mail.uni.example",
        ),
        *(
            "imaps://u:s3cret@mail.uni.example?tls=true",
            "imap://u:s3cret@mail.uni.example?ssl=1",
            "imap://u:s3cret@[::1",
        ),
        *("imaps://u:s3cret@mail.uni.example/a%22b", "imaps://u:s3cret@mail.uni.example/a%0D%0Ab"),
    ],
)
def test_what_is_no_mailbox_is_refused_without_saying_its_password(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("IMAP_URL", url)
    with pytest.raises(ImproperlyConfigured, match="IMAP_URL takes imaps://") as refused:
        env.mailbox("IMAP_URL")
    assert "s3cret" not in str(refused.value)


def test_the_address_of_students_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CASE_MAIL_ADDRESS", raising=False)
    assert env.reply_address("CASE_MAIL_ADDRESS", has_mail_server=False) == ""
    monkeypatch.setenv("CASE_MAIL_ADDRESS", "Replies@chat.uni.example")
    assert env.reply_address("CASE_MAIL_ADDRESS", has_mail_server=True) == "replies@chat.uni.example"
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL is not"):
        env.reply_address("CASE_MAIL_ADDRESS", has_mail_server=False)
    for value in ("replies", "a+b@uni.example", "Chat <replies@uni.example>"):
        monkeypatch.setenv("CASE_MAIL_ADDRESS", value)
        with pytest.raises(ImproperlyConfigured, match="takes an address without a plus"):
            env.reply_address("CASE_MAIL_ADDRESS", has_mail_server=True)

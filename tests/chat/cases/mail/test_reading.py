"""Mails from students, read over IMAP: each is taken once, and what is no answer of theirs is not."""

import logging
import ssl
import subprocess
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from chat.cases.mail import mailbox
from chat.cases.mail.inbound import take_mail
from chat.cases.mail.mailbox import read_mailbox
from chat.cases.mail.queue import add_reply
from chat.cases.mail.sending import send_due
from chat.cases.mail.signing import bounce_address, reply_address
from chat.models import Case, CaseAddress, CaseMail, CaseMessage
from tests.analytics.inbox.mail_server import MailServer
from tests.chat.cases.mail.conftest import STUDENT, from_student, new_case, reply, said
from tests.fakes.imap import MailboxServer

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FOLDER = Path(__file__).parent


@pytest.fixture(autouse=True)
def _servers(smtp: MailServer, imap: MailboxServer) -> None:
    """Every test has both servers."""


def read() -> list[int]:
    published: list[int] = []
    read_mailbox(published.append)
    return published


def test_an_answer_by_mail_is_a_message_of_the_case_and_the_case_waits_again(
    smtp: MailServer, imap: MailboxServer
) -> None:
    case = new_case()
    add_reply(reply(case))
    send_due()
    (mail,) = smtp.mails
    answer = from_student(case, "It is called Zoe.\n\nOn Tue, 24 Nov 2026 at 9:00, Housing Office wrote:\n> Yes")
    answer["In-Reply-To"] = mail["Message-ID"]
    imap.deliver(answer)
    assert read() == [case.pk]
    assert said(case) == ["It is called Zoe."]
    assert Case.objects.get().state == Case.State.OPEN
    assert imap.mails() == []
    assert read() == []


def test_a_mail_that_is_delivered_twice_is_taken_once(imap: MailboxServer) -> None:
    case = new_case()
    mail = from_student(case)
    imap.deliver(mail)
    imap.deliver(mail)
    assert read() == [case.pk]
    imap.deliver(mail)
    assert read() == []
    assert said(case) == ["It is called Zoe."]
    assert imap.mails() == []


def test_a_mail_without_an_id_is_taken_once_too(imap: MailboxServer) -> None:
    case = new_case()
    mail = from_student(case, Message_ID="")
    for _time in range(2):
        imap.deliver(mail)
        read()
    assert said(case) == ["It is called Zoe."]


def test_a_reader_that_is_killed_before_it_deletes_the_mail_takes_it_once(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(from_student(case))

    def killed(_case: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_mailbox(killed)
    assert len(imap.mails()) == 1
    assert read() == []
    assert said(case) == ["It is called Zoe."]
    assert imap.mails() == []


def test_what_mail_servers_write_in_capitals_is_read(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(from_student(case, To=reply_address(case.pk).upper(), From=STUDENT.upper()))
    assert read() == [case.pk]


# --- who it is from ---


@pytest.mark.parametrize(
    "sender",
    [
        "Eve <eve@evil.example>",
        f"{STUDENT} <eve@evil.example>",
        f"{STUDENT}, eve@evil.example",
        f"eve@evil.example, {STUDENT}",
        f'"{STUDENT}" <eve@evil.example>',
        "",
    ],
)
def test_a_forged_sender_is_refused_and_not_answered(
    imap: MailboxServer, smtp: MailServer, caplog: pytest.LogCaptureFixture, sender: str
) -> None:
    caplog.set_level(logging.INFO, logger="chat")
    case = new_case()
    imap.deliver(from_student(case, "My zebra is ill.", From=sender))
    assert read() == []
    assert said(case) == []
    assert len(imap.mails("Refused")) == 1
    assert smtp.mails == []
    assert "reason=another_sender" in caplog.text
    assert "zebra" not in caplog.text
    assert "example" not in caplog.text


def test_an_address_that_we_did_not_sign_is_refused(imap: MailboxServer) -> None:
    case, other = new_case(), new_case(email="bob@students.example")
    signed = reply_address(case.pk)
    number, _dot, mac = signed.partition("+")[2].partition("@")[0].partition(".")
    for to in (
        "replies@chat.uni.example",
        signed.replace(mac, mac[::-1]),
        signed.replace(f"+{number}.", f"+{other.pk}."),
        signed.replace("chat.uni.example", "evil.example"),
        signed.replace("+", "+b"),
    ):
        imap.deliver(from_student(case, To=to))
    assert read() == []
    assert said(case) == said(other) == []
    assert len(imap.mails("Refused")) == 5


def test_an_address_that_was_not_confirmed_opens_nothing(imap: MailboxServer) -> None:
    case = new_case(is_confirmed=False)
    imap.deliver(from_student(case))
    assert read() == []
    assert said(case) == []


# --- what no person wrote ---


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "auto-generated; owner-email=x"},
        {"Precedence": "bulk"},
        {"Precedence": "auto_reply"},
        {"X_Autoreply": "yes"},
        {"List_Id": "<students.uni.example>"},
        {"Return_Path": "<>"},
        {"Subject": "Automatic reply: Your question"},
        {"Subject": "Abwesenheitsnotiz: Ihre Frage"},
        {"X_MarcelCMS_Case": "1"},
        {"Message_ID": "<marcelcms-case-mail-1.abc@chat.uni.example>"},
    ],
    ids=str,
)
def test_what_a_program_answers_is_dropped_and_never_answered(
    imap: MailboxServer, smtp: MailServer, headers: dict[str, str]
) -> None:
    case = new_case()
    imap.deliver(from_student(case, "I am away until Monday.", **headers))
    assert read() == []
    assert said(case) == []
    assert smtp.mails == []
    assert imap.mails() == imap.mails("Refused") == []


def test_a_person_who_says_so_is_no_program(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(from_student(case, Auto_Submitted="no"))
    assert read() == [case.pk]


def test_a_mail_loop_ends(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case()
    for n in range(25):
        imap.deliver(from_student(case, f"Echo {n}"))
    read()
    assert len(said(case)) == 20
    assert len(imap.mails("Refused")) == 5
    assert smtp.mails == []


def report(case: Case, *, action: str = "failed", status: str = "5.1.1") -> bytes:
    """Return a delivery report as Postfix sends it."""
    lines = (FOLDER / "bounce.eml").read_text("utf-8")
    return (
        lines.replace("{to}", bounce_address(case.address.pk))
        .replace("{action}", action)
        .replace("{status}", status)
        .replace("\n", "\r\n")
        .encode()
    )


def test_a_mail_that_comes_back_stops_the_next_ones(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case()
    add_reply(reply(case))
    imap.deliver(report(case))
    assert read() == []
    assert CaseAddress.objects.get().unreachable_at is not None
    assert CaseMail.objects.get().state == CaseMail.State.REFUSED
    assert not add_reply(reply(case))
    assert send_due() == 0
    assert said(case) == []


def test_a_mail_that_is_only_late_stops_nothing(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(report(case, action="delayed", status="4.4.1"))
    read()
    assert CaseAddress.objects.get().unreachable_at is None


def test_a_report_about_an_earlier_address_does_not_count(imap: MailboxServer) -> None:
    case = new_case()
    late = report(case)
    case.address.delete()
    CaseAddress.objects.create(case=case, email=STUDENT, confirmed_at=timezone.now())
    imap.deliver(late)
    read()
    assert CaseAddress.objects.get().unreachable_at is None


# --- what it holds ---


def test_attachments_are_not_taken_and_named(imap: MailboxServer) -> None:
    case = new_case(language="de")
    mail = from_student(case, "Anbei meine Bescheinigung.")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Bescheinigung für Zoe.pdf")
    mail.add_attachment("zebra", filename="notes.txt")
    imap.deliver(mail)
    read()
    expected = "[2 Anhänge wurden nicht übernommen: Bescheinigung für Zoe.pdf, notes.txt]"
    assert said(case) == [f"Anbei meine Bescheinigung.\n\n{expected}"]


def test_a_mail_of_20_mb_is_not_loaded_and_its_sender_is_told(
    imap: MailboxServer, smtp: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = new_case()
    mail = from_student(case)
    mail.add_attachment(b"\0" * 15_000_000, maintype="image", subtype="png", filename="photo.png")
    imap.deliver(mail)
    fetched: list[int] = []
    fetch = mailbox.Mailbox._fetch

    def counted(self: mailbox.Mailbox, uid: str, what: str) -> bytes:
        raw = fetch(self, uid, what)
        fetched.append(len(raw))
        return raw

    monkeypatch.setattr(mailbox.Mailbox, "_fetch", counted)
    assert read() == []
    assert max(fetched) < 2_000
    assert said(case) == []
    (answer,) = smtp.mails
    assert smtp.recipients == [STUDENT]
    assert answer["Auto-Submitted"] == "auto-replied"
    assert answer["In-Reply-To"] == mail["Message-ID"]
    assert "has more than 10 MB" in answer.get_content()
    assert imap.mails() == []


def test_of_a_long_mail_the_beginning_is_taken_and_it_says_so(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(from_student(case, "zebra " * 5_000))
    read()
    (text,) = said(case)
    assert len(text) <= 8_000
    assert text.endswith("[The e-mail was longer. The rest was not taken.]")


def test_an_html_mail_becomes_text(imap: MailboxServer) -> None:
    case = new_case()
    mail = from_student(case)
    mail.set_content(
        "<html><head><style>p{}</style></head><body><p>Dear&nbsp;office,</p><p>it is<br>small.<script>x()</script></p>"
        '<ul><li>One<li>Two</ul><img src="https://evil.example/pixel.png"><div style="display: none">hidden</div>'
        '<div class="gmail_quote"><div>On Tue, 24 Nov 2026 at 9:00 Housing Office &lt;a@b.example&gt; wrote:</div>'
        "<blockquote>Yes, <b>one</b> zebra.</blockquote></div></body></html>",
        subtype="html",
    )
    imap.deliver(mail)
    read()
    assert said(case) == ["Dear office,\n\nit is\nsmall.\n\n- One\n- Two"]


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("utf-8", b"Gr\xfc\xdfe", "Gr\ufffd\ufffde"),
        ("x-klingon", "Grüße".encode(), "Grüße"),
        ("us-ascii", "Grüße".encode(), "Gr\ufffd\ufffd\ufffd\ufffde"),
    ],
)
def test_a_wrong_charset_breaks_nothing(imap: MailboxServer, charset: str, body: bytes, text: str) -> None:
    case = new_case()
    head = from_student(case).as_bytes().split(b"\n\n")[0]
    head = head.replace(b'charset="utf-8"', f'charset="{charset}"'.encode()).replace(b"7bit", b"8bit")
    imap.deliver(head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body + b"\r\n")
    read()
    assert said(case) == [text]


def test_a_mail_that_says_nothing_is_no_message(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case()
    imap.deliver(from_student(case, "> Yes, one zebra.\n\n-- \nAda"))
    assert read() == []
    assert said(case) == []
    assert imap.mails() == []


def test_a_mail_that_cannot_be_read_keeps_no_other_waiting(
    imap: MailboxServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = new_case()
    imap.deliver(b"From: x@y.example\r\n\r\n")
    imap.deliver(b"\xff\xfe\0\0 no mail at all")
    imap.deliver(from_student(case))

    def broken(raw: bytes, *, size: int) -> Any:
        if b"no mail at all" in raw:
            raise RecursionError("zebra")
        return take_mail(raw, size=size)

    monkeypatch.setattr(mailbox, "take_mail", broken)
    assert read() == [case.pk]
    assert imap.mails() == []
    assert "error=RecursionError" in caplog.text
    assert "zebra" not in caplog.text


# --- cases that take none ---


def test_who_answers_in_a_deleted_case_is_told_a_few_times(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case()
    mails = [from_student(case) for _n in range(5)]
    Case.objects.all().delete()
    for mail in mails:
        imap.deliver(mail)
    read()
    assert smtp.recipients == [STUDENT] * 3
    assert "Your question was deleted." in smtp.mails[0].get_content()
    assert imap.mails() == []


def test_who_answers_long_after_the_end_is_told(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case(language="de", state="closed", closed_at=timezone.now() - timedelta(days=31))
    imap.deliver(from_student(case))
    read()
    assert said(case) == []
    assert "vor langer Zeit abgeschlossen" in smtp.mails[0].get_content()


def test_soon_after_the_end_a_mail_opens_the_case_again(imap: MailboxServer) -> None:
    case = new_case(state="closed", closed_at=timezone.now() - timedelta(days=3))
    imap.deliver(from_student(case))
    read()
    assert Case.objects.get().state == Case.State.OPEN


def test_while_the_mail_server_is_away_who_is_to_be_told_waits_and_nobody_else(
    imap: MailboxServer, smtp: MailServer, settings: Settings
) -> None:
    closed = new_case(state="closed", closed_at=timezone.now() - timedelta(days=31))
    case = new_case()
    imap.deliver(from_student(closed))
    imap.deliver(from_student(case))
    settings.EMAIL_PORT = 9
    for _minute in range(5):
        read()
    assert said(case) == ["It is called Zoe."]
    assert len(imap.mails()) == 1
    settings.EMAIL_PORT = smtp.port
    read()
    read()
    assert smtp.recipients == [STUDENT]
    assert imap.mails() == []


def test_who_may_have_been_told_is_not_told_again(imap: MailboxServer, smtp: MailServer) -> None:
    imap.deliver(from_student(new_case(state="closed", closed_at=timezone.now() - timedelta(days=31))))
    smtp.hang_ups = 1
    for _minute in range(3):
        read()
    assert smtp.recipients == [STUDENT]
    assert imap.mails() == []


# --- the mailbox ---


def test_while_the_mailbox_is_away_nothing_is_lost(
    imap: MailboxServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    case = new_case()
    imap.deliver(from_student(case))
    where = settings.MAILBOX
    settings.MAILBOX = type(where)(where.host, 9, where.user, where.password)
    assert read() == []
    settings.MAILBOX = type(where)(where.host, where.port, where.user, "wrong")
    assert read() == []
    assert "mailbox not read, tried again later error=ConnectionRefusedError" in caplog.text
    assert "error=error" in caplog.text
    settings.MAILBOX = where
    assert read() == [case.pk]


def test_a_server_without_tls_is_not_given_the_password_where_tls_is_wanted(
    imap: MailboxServer, settings: Settings
) -> None:
    where = settings.MAILBOX
    settings.MAILBOX = type(where)(where.host, where.port, where.user, where.password, starttls=True)
    assert read() == []
    settings.MAILBOX = type(where)(where.host, where.port, where.user, where.password, tls=True)
    assert read() == []
    with pytest.raises((ssl.SSLError, OSError)), mailbox.open_mailbox():
        pass


def test_a_password_goes_only_to_a_server_whose_certificate_is_trusted(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, certificate = tmp_path / "both.pem", tmp_path / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(both), "-out", str(certificate)]
    subprocess.run(["openssl", *made, *names], check=True, capture_output=True)
    both.write_text(both.read_text() + certificate.read_text())
    server = MailboxServer(both)
    server.start()
    settings.MAILBOX = replace(server.address, host="localhost", starttls=True)
    with pytest.raises(ssl.SSLCertVerificationError), mailbox.open_mailbox():
        pass
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mailbox.open_mailbox() as opened:
        assert list(opened.take_all()) == []
    server.stop()


def test_what_was_refused_is_deleted_after_two_weeks(imap: MailboxServer) -> None:
    stranger = EmailMessage()
    stranger["From"], stranger["To"] = "eve@evil.example", "replies@chat.uni.example"
    old = (timezone.now() - timedelta(days=16)).strftime('"%d-%b-%Y %H:%M:%S +0000"')
    imap.deliver(stranger, at=old)
    imap.deliver(stranger)
    read()
    assert len(imap.mails("Refused")) == 1


def test_nothing_of_a_case_is_left_when_it_is_deleted(imap: MailboxServer, smtp: MailServer) -> None:
    case = new_case()
    add_reply(reply(case, "One quagga."))
    send_due()
    mail = from_student(case, "It is an quokka.")
    imap.deliver(mail)
    read()
    words = [STUDENT, "quagga", "quokka", mail["Message-ID"].strip("<>")]
    assert all(map(stands_somewhere, words))
    case.conversation.visitor.delete()
    assert not any(map(stands_somewhere, words))
    assert not CaseMessage.objects.exists()
    assert not CaseMail.objects.exists()
    assert imap.mails() == imap.mails("Refused") == []


def stands_somewhere(word: str) -> bool:
    """Return whether any row of any table holds the word."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(f"SELECT EXISTS (SELECT FROM {table} AS each WHERE each::text ILIKE %s)", [f"%{word}%"])
            if cursor.fetchone() == (True,):
                return True
    return False

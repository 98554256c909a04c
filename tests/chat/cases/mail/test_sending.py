"""Mails to students: one for each reply, in order, never twice, and none lost while the mail server is away."""

import asyncio
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chat.cases.mail import sending
from chat.cases.mail.queue import add_closed, add_reply, claim, describe_mails
from chat.cases.mail.signing import bounce_address, reply_address
from chat.models import CaseAddress, CaseMail
from tests.analytics.inbox.mail_server import MailServer
from tests.chat.cases.mail.conftest import STUDENT, new_case, reply
from tests.fakes.imap import MailboxServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Provide a clock that can be moved on."""
    real, ahead = timezone.now, [timedelta()]

    def now() -> datetime:
        return real() + ahead[0]

    def move(by: timedelta) -> None:
        ahead[0] += by

    monkeypatch.setattr(timezone, "now", now)
    return move


def plain(mail: Any) -> str:
    text: str = mail.get_body(("plain",)).get_content()
    return text.replace("\r\n", "\n")


def test_a_reply_arrives_once_and_says_how_to_answer(smtp: MailServer, imap: MailboxServer) -> None:
    case = new_case()
    message = reply(case)
    add_reply(message)
    assert add_reply(message), "queued twice is queued once"
    assert (sending.send_due(), sending.send_due()) == (1, 0)
    (mail,) = smtp.mails
    assert smtp.recipients == [STUDENT]
    assert mail["From"] == "Housing Office <marcel@uni.example>"
    assert mail["Reply-To"] == reply_address(case.pk)
    assert mail["Subject"] == f"Your question to Housing Office (#{case.pk})"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert "Yes, **one** zebra." in plain(mail)
    assert "To answer, reply to this e-mail or write in the chat." in plain(mail)
    html = mail.get_body(("html",)).get_content()
    assert "<strong>one</strong>" in html
    assert "keep my zebra" not in str(mail), "the question stays here"
    (row,) = CaseMail.objects.all()
    assert (row.state, row.attempts) == (CaseMail.State.SENT, 1)
    assert row.sent_at is not None


def test_what_the_office_writes_is_no_markup_and_loads_nothing(smtp: MailServer) -> None:
    add_reply(reply(new_case(), "<script>x()</script> ![pixel](https://evil.example/p.png) [page](javascript:x())"))
    sending.send_due()
    html = smtp.mails[0].get_body(("html",)).get_content()  # type: ignore[union-attr]
    assert "<script" not in html
    assert "src=" not in html
    assert 'href="javascript' not in html


def test_without_a_mailbox_the_mail_says_that_the_chat_is_where_to_answer(smtp: MailServer) -> None:
    add_reply(reply(new_case(language="de"), closes=True))
    sending.send_due()
    (mail,) = smtp.mails
    assert mail["Reply-To"] is None
    assert "Wohnungsamt" in mail["From"]
    assert "Antworten auf diese E-Mail werden nicht gelesen." in plain(mail)
    assert "Wohnungsamt hat Ihre Frage abgeschlossen." in plain(mail)


def test_that_a_case_was_closed_is_mailed(smtp: MailServer) -> None:
    case = new_case(state="closed")
    add_closed(case)
    sending.send_due()
    assert "Housing Office has closed your question." in plain(smtp.mails[0])


def test_the_mails_of_a_case_stand_together_and_come_back_to_a_signed_address(
    smtp: MailServer, imap: MailboxServer
) -> None:
    case = new_case()
    add_reply(reply(case))
    sending.send_due()
    case.messages.create(by="student", text="Thanks", mail_id="<one@students.example>")
    add_reply(reply(case, "And a stable."))
    sending.send_due()
    first, second = smtp.mails
    assert second["References"] == f"{first['Message-ID']} <one@students.example>"
    assert second["In-Reply-To"] == "<one@students.example>"
    assert smtp.senders == [bounce_address(case.address.pk)] * 2


def test_until_the_address_is_confirmed_nothing_is_queued(smtp: MailServer) -> None:
    assert not add_reply(reply(new_case(is_confirmed=False)))
    assert not CaseMail.objects.exists()


# --- the server is away ---


def test_while_the_server_is_away_for_an_hour_nothing_is_lost_and_nothing_sent_twice(
    smtp: MailServer,
    settings: Settings,
    clock: Callable[[timedelta], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    cases = [new_case(email=f"student{n}@students.example") for n in range(5)]
    settings.EMAIL_PORT = 9  # nobody listens there
    for minute in range(60):
        if minute in {0, 20, 40}:
            for case in cases:
                add_reply(reply(case, f"Minute {minute}"))
        assert sending.send_due() == 0
        clock(timedelta(minutes=1))
    assert "mail server away, tried again later error=ConnectionRefusedError" in caplog.text
    assert "students.example" not in caplog.text
    assert max(CaseMail.objects.values_list("attempts", flat=True)) < 12, "the pauses grow"
    settings.EMAIL_PORT = smtp.port
    for _minute in range(16):
        sending.send_due()
        clock(timedelta(minutes=1))
    assert len(smtp.mails) == 15
    for case in cases:
        own = [plain(mail) for mail in smtp.mails if mail["To"] == case.address.email]
        assert ["Minute 0" in own[0], "Minute 20" in own[1], "Minute 40" in own[2]] == [True] * 3


def test_after_three_days_a_mail_is_given_up_and_staff_read_that(
    smtp: MailServer, settings: Settings, clock: Callable[[timedelta], None]
) -> None:
    case = new_case()
    add_reply(reply(case))
    settings.EMAIL_PORT = 9
    sending.send_due()
    assert describe_mails(case) == "The latest reply waits to be sent by e-mail."
    clock(timedelta(days=3, minutes=2))
    settings.EMAIL_PORT = smtp.port
    assert sending.send_due() == 0
    assert CaseMail.objects.get().state == CaseMail.State.GIVEN_UP
    assert describe_mails(case).startswith("The latest reply could not be sent for three days.")


def test_a_worker_that_was_killed_while_sending_leaves_the_mail_to_another_one_later(
    smtp: MailServer, clock: Callable[[timedelta], None]
) -> None:
    add_reply(reply(new_case()))
    assert claim(timezone.now())
    assert sending.send_due() == 0
    clock(timedelta(minutes=11))
    assert sending.send_due() == 1


def test_who_is_killed_before_saving_that_a_mail_was_sent_leaves_one_more_of_the_same_id(
    smtp: MailServer, clock: Callable[[timedelta], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_reply(reply(new_case()))

    def killed(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sending, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            sending.send_due()
    assert sending.send_due() == 0
    clock(timedelta(minutes=11))
    assert sending.send_due() == 1
    first, second = smtp.mails
    assert first["Message-ID"] == second["Message-ID"]


def test_a_server_that_breaks_off_when_it_has_a_mail_gets_it_again_seldom_and_with_the_same_id(
    smtp: MailServer, clock: Callable[[timedelta], None]
) -> None:
    case, other = new_case(), new_case(email="bob@students.example")
    add_reply(reply(case))
    add_reply(reply(other))
    smtp.hang_ups = 1
    assert (sending.send_due(), sending.send_due()) == (0, 1), "the other one goes on with the next run"
    clock(timedelta(minutes=14))
    assert sending.send_due() == 0
    clock(timedelta(minutes=2))
    assert sending.send_due() == 1
    first, second = (mail for mail in smtp.mails if mail["To"] == STUDENT)
    assert first["Message-ID"] == second["Message-ID"]
    assert smtp.recipients.count("bob@students.example") == 1
    clock(timedelta(hours=1))
    assert sending.send_due() == 0


def test_a_server_that_always_breaks_off_gets_a_mail_a_few_times_in_three_days(
    smtp: MailServer, clock: Callable[[timedelta], None]
) -> None:
    add_reply(reply(new_case()))
    smtp.hang_ups = 1_000
    for _quarter in range(4 * 24 * 4):
        sending.send_due()
        clock(timedelta(minutes=15))
    assert CaseMail.objects.get().state == CaseMail.State.GIVEN_UP
    assert 4 < len(smtp.mails) < 12
    assert len({mail["Message-ID"] for mail in smtp.mails}) == 1


def test_a_server_that_looks_through_a_mail_for_long_has_it_once(
    smtp: MailServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_TIMEOUT = 0.5
    take = smtp.handle_DATA

    async def slow(*given: Any) -> str:
        await asyncio.sleep(1)
        return await take(*given)

    monkeypatch.setattr(smtp, "handle_DATA", slow)
    add_reply(reply(new_case()))
    assert sending.send_due() == 1
    assert len(smtp.mails) == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_each_mail_once(smtp: MailServer) -> None:
    for n in range(12):
        add_reply(reply(new_case(email=f"student{n}@students.example")))
    counts: list[int] = []

    def work() -> None:
        try:
            counts.append(sending.send_due())
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(counts) == 12
    assert len(set(smtp.recipients)) == len(smtp.mails) == 12


def test_a_mail_of_a_reply_that_was_not_saved_is_not_sent(smtp: MailServer) -> None:
    case = new_case()
    with transaction.atomic():
        add_reply(reply(case))
        transaction.set_rollback(True)
    assert sending.send_due() == 0


# --- refused ---


def test_who_is_refused_for_good_gets_no_more_and_keeps_nobody_waiting(
    smtp: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="chat")
    case, other = new_case(), new_case(email="bob@students.example")
    smtp.refused[STUDENT] = "550 unknown"
    add_reply(reply(case))
    add_reply(reply(other))
    assert sending.send_due() == 1
    assert smtp.recipients == ["bob@students.example"]
    assert CaseMail.objects.first().state == CaseMail.State.REFUSED  # type: ignore[union-attr]
    assert not add_reply(reply(case, "Another"))
    assert describe_mails(case) == "The student’s e-mail address cannot be reached. Replies appear in the chat."
    assert "students.example" not in caplog.text
    assert "zebra" not in caplog.text


def test_who_is_refused_for_now_is_tried_again(smtp: MailServer, clock: Callable[[timedelta], None]) -> None:
    add_reply(reply(new_case()))
    smtp.refused[STUDENT] = "451 later"
    assert sending.send_due() == 0
    smtp.refused.clear()
    assert sending.send_due() == 0
    clock(timedelta(minutes=2))
    assert sending.send_due() == 1


def test_an_address_that_is_none_is_settled(smtp: MailServer) -> None:
    add_reply(reply(new_case(email="ada@students.example\nBcc: eve@evil.example")))
    assert sending.send_due() == 0
    assert CaseMail.objects.get().state == CaseMail.State.REFUSED


def test_deleting_the_address_deletes_what_waits(smtp: MailServer) -> None:
    case = new_case()
    add_reply(reply(case))
    CaseAddress.objects.all().delete()
    assert sending.send_due() == 0
    assert not CaseMail.objects.exists()


def test_staff_read_what_came_of_the_mail_and_never_the_address(admin_client: Client, smtp: MailServer) -> None:
    case = new_case()
    add_reply(reply(case))
    page = admin_client.get(reverse("admin:chat_case_change", args=[case.pk])).content.decode()
    assert "The latest reply waits to be sent by e-mail." in page
    assert STUDENT not in page

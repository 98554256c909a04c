"""Refused mails are kept for an administrator, and go with the cases that they may belong to."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings as configured
from django.utils import timezone
from pytest_django import Settings

from analytics.retention.run import apply_retention
from chat.cases.mail.mailbox import read_mailbox
from chat.cases.mail.signing import bounce_address
from chat.models import Case, CaseAddress, Conversation, RefusedMail, Visitor
from tests.analytics.inbox.mail_server import MailServer
from tests.chat.cases.mail.conftest import STUDENT, from_student, new_case, said
from tests.fakes.imap import MailboxServer

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _servers(smtp: MailServer, imap: MailboxServer) -> None:
    """Every test has both servers."""


def read() -> None:
    read_mailbox(lambda _case: None)


def refused(imap: MailboxServer) -> list[str]:
    """Return the subjects of what lies there."""
    return [mail["Subject"] for mail in imap.mails("Refused")]


def deliver_four(imap: MailboxServer, case: Case) -> None:
    """Have mails refused that belong to a case in each way, and one of a stranger."""
    imap.deliver(from_student(case, "My quokka", To="replies@chat.uni.example", Subject="unsigned"))
    imap.deliver(from_student(case, "My quokka", From="ada@home.example", Subject="another sender"))
    to = bounce_address(case.address.pk)
    imap.deliver(from_student(case, "My quokka", To=to, From="ada@home.example", Subject="to the bounce address"))
    stranger = from_student(case, "Buy", To="replies@chat.uni.example", From="eve@evil.example", Subject="stranger")
    imap.deliver(stranger)


def erase_visitor() -> None:
    Visitor.objects.all().delete()


def delete_case() -> None:
    Case.objects.all().delete()


def let_it_expire() -> None:
    long_ago = timezone.now() - timedelta(days=configured.RETENTION_DAYS + 1)
    Conversation.objects.update(updated_at=long_ago)
    apply_retention()


@pytest.mark.parametrize("erase", [erase_visitor, delete_case, let_it_expire])
def test_what_was_refused_goes_with_the_case_however_it_is_deleted(
    imap: MailboxServer, erase: Callable[[], None]
) -> None:
    case = new_case()
    deliver_four(imap, case)
    read()
    assert refused(imap) == ["unsigned", "another sender", "to the bounce address", "stranger"]
    assert said(case) == []
    read()
    assert len(refused(imap)) == 4, "they are kept while the case is"
    erase()
    assert not Case.objects.exists()
    read()
    assert refused(imap) == ["stranger"]
    assert not RefusedMail.objects.exists()


def test_while_the_mailbox_is_away_what_is_to_be_deleted_there_is_not_forgotten(
    imap: MailboxServer, settings: Settings
) -> None:
    case = new_case()
    deliver_four(imap, case)
    read()
    erase_visitor()
    where = settings.MAILBOX
    for _minute in range(3):
        settings.MAILBOX = type(where)(where.host, 9, where.user, where.password)
        read()
    assert RefusedMail.objects.count() == 3
    settings.MAILBOX = where
    read()
    assert refused(imap) == ["stranger"]


def test_a_mailbox_that_breaks_off_while_it_deletes_is_asked_again(
    imap: MailboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = new_case()
    deliver_four(imap, case)
    read()
    erase_visitor()
    with monkeypatch.context() as patch:

        def broken(*_arguments: object) -> None:
            raise ConnectionResetError

        patch.setattr("chat.cases.mail.mailbox.hash_headers", broken)
        read()
    assert len(refused(imap)) == 4
    read()
    assert refused(imap) == ["stranger"]


def test_of_two_students_only_the_mails_of_the_erased_one_go(imap: MailboxServer) -> None:
    ada, bob = new_case(), new_case(email="bob@students.example")
    imap.deliver(from_student(ada, To="replies@chat.uni.example", Subject="of Ada"))
    bobs = from_student(bob, To="replies@chat.uni.example", From="bob@students.example", Subject="of Bob")
    imap.deliver(bobs)
    read()
    ada.conversation.visitor.delete()
    read()
    assert refused(imap) == ["of Bob"]


def test_a_mail_that_comes_after_the_address_was_taken_back_belongs_to_the_case(imap: MailboxServer) -> None:
    case = new_case()
    CaseAddress.objects.all().delete()
    imap.deliver(from_student(case, Subject="too late"))
    read()
    assert refused(imap) == ["too late"]
    erase_visitor()
    read()
    assert refused(imap) == []


def test_a_note_holds_no_address_and_no_words_and_ends_with_its_mail(
    imap: MailboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = new_case()
    deliver_four(imap, case)
    read()
    notes = str([*RefusedMail.objects.values_list()])
    assert not any(word in notes for word in (STUDENT, "home.example", "quokka", "sender"))
    RefusedMail.objects.update(refused_at=timezone.now() - timedelta(days=17))
    read()
    assert not RefusedMail.objects.exists()
    assert Case.objects.exists()


def test_a_sender_that_no_table_can_hold_keeps_no_other_waiting(imap: MailboxServer) -> None:
    case = new_case()
    imap.deliver(b"From: <a\xff\x00b@students.example>\r\nTo: replies@chat.uni.example\r\n\r\nHello\r\n")
    imap.deliver(from_student(case))
    read()
    assert said(case) == ["It is called Zoe."]
    assert imap.mails() == []

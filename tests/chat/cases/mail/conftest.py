"""Cases whose students want mails, a mail server, and the mailbox to which they answer."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from chat.cases.mail.signing import reply_address
from chat.cases.messages import add_office_message, lock_case
from chat.models import Case, CaseAddress, CaseMessage, Office
from marcelcms import env
from tests.analytics.inbox.mail_server import MailServer, mail_server, use
from tests.factories import AssistantFactory, ConversationFactory, UserFactory
from tests.fakes.imap import MailboxServer

STUDENT = "ada@students.example"


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    """Forget how many mails a recipient got today."""
    cache.clear()


@pytest.fixture
def smtp(settings: Settings) -> Iterator[MailServer]:
    """Provide a mail server, configured."""
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        yield server


@pytest.fixture(scope="session")
def _imap() -> Iterator[MailboxServer]:
    server = MailboxServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def imap(_imap: MailboxServer, settings: Settings) -> MailboxServer:
    """Provide an empty mailbox, configured."""
    _imap.empty()
    settings.CASE_MAIL_ADDRESS, settings.MAILBOX = "replies@chat.uni.example", _imap.address
    return _imap


def new_case(*, email: str = STUDENT, is_confirmed: bool = True, **values: Any) -> Case:
    """Create a case whose student wants mails."""
    assistant = AssistantFactory()
    office = Office.objects.create(assistant=assistant, name="Housing Office", name_de="Wohnungsamt")
    known = {
        "conversation": ConversationFactory(assistant=assistant),
        "assistant": assistant,
        "office": office,
        "question": "May I keep my zebra in the dormitory?",
        "language": "en",
        "reason": Case.Reason.PERSON,
        "client_id": uuid.uuid4(),
        "reply_due": timezone.now() + timedelta(days=2),
    }
    case = Case.objects.create(**known | values)
    confirmed_at = timezone.now() if is_confirmed else None
    CaseAddress.objects.create(case=case, email=email, confirmed_at=confirmed_at)
    return case


@transaction.atomic
def reply(case: Case, text: str = "Yes, **one** zebra.", *, closes: bool = False) -> CaseMessage:
    """Save what the office writes, without queueing a mail."""
    locked = lock_case(case.pk)
    return add_office_message(case=locked, text=text, by=UserFactory(), asks_back=False, closes=closes)


def from_student(case: Case, text: str = "It is called Zoe.", **headers: str) -> EmailMessage:
    """Return what the student's mail program sends as an answer; a header that is empty is left out."""
    known = {
        "From": f"Ada <{STUDENT}>",
        "To": reply_address(case.pk),
        "Subject": "Re: Your question",
        "Message-ID": f"<{uuid.uuid4()}@students.example>",
    }
    mail = EmailMessage()
    for name, value in {**known, **{name.replace("_", "-"): value for name, value in headers.items()}}.items():
        if value:
            mail[name] = value
    mail.set_content(text)
    return mail


def said(case: Case) -> list[str]:
    """Return what the student said in the case."""
    return [each.text for each in case.messages.filter(by=CaseMessage.By.STUDENT)]

"""A real mail server that is away for an hour, or breaks off when it has a mail, before the real stack's workers."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.analytics.inbox.mail_server import MailServer, mail_server
from tests.e2e.conftest import start
from tests.runtime.stack import Run
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
STUDENTS, REPLIES = 6, 3
#: Cases whose students confirmed an address.
CASES = f"""
import uuid
from django.utils import timezone
from chat.models import Assistant, Case, CaseAddress, Conversation, Office, Visitor
office = Office.objects.first()
for number in range({STUDENTS}):
    conversation = Conversation.objects.create(
        pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=office.assistant
    )
    case = Case.objects.create(
        conversation=conversation, assistant=office.assistant, office=office, question="May I?", language="en",
        reason="person", client_id=uuid.uuid4(),
    )
    email = f"student{{number}}@students.example"
    CaseAddress.objects.create(case=case, email=email, confirmed_at=timezone.now())
"""
#: The office replies once to everybody, as its page does it.
REPLY = """
from django.contrib.auth.models import User
from chat.models import Case
from chat.services import office_cases
by = User.objects.get(username="admin")
for case in Case.objects.order_by("pk"):
    office_cases.reply(case=case.pk, version=case.version, text="{text}", by=by)
"""
#: Moves the queue's clock: what was queued is so much older, and what pauses is due so much earlier.
LATER = """
from datetime import timedelta
from django.db.models import F
from chat.models import CaseMail
by = timedelta(minutes={minutes})
CaseMail.objects.waiting().update(created_at=F("created_at") - by, next_at=F("next_at") - by)
"""
#: Several at once, as the schedule and each reply queue it.
SEND = """
from chat.tasks import send_case_mails
for _time in range(3):
    send_case_mails.delay()
"""
STATES = """
from chat.models import CaseMail
print(*CaseMail.objects.order_by("pk").values_list("state", flat=True))
"""
TRIED = """
from chat.models import CaseMail
print(sum(CaseMail.objects.values_list("attempts", flat=True)))
"""


@pytest.fixture(scope="module")
def smtp() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def stack(smtp: MailServer) -> Iterator[Run]:
    with start(EMAIL_URL=f"smtp://127.0.0.1:{smtp.port}", DEFAULT_FROM_EMAIL="Lindi <chat@uni.example>") as run:
        run.does(CASES)
        yield run


def states(stack: Run) -> Counter[str]:
    return Counter(stack.does(STATES).split())


def replies_to(smtp: MailServer, number: int) -> list[str]:
    """Return what a student got, in the order of arrival."""
    mails = [mail for mail in smtp.mails if mail["To"] == f"student{number}@students.example"]
    found = [re.search(r"Reply \d", str(mail.get_body(("plain",)))) for mail in mails]
    return [each[0] for each in found if each]


def test_a_mail_server_that_is_away_for_an_hour_gets_each_mail_once_and_in_order(smtp: MailServer, stack: Run) -> None:
    smtp.stop()
    for number in range(REPLIES):
        stack.does(REPLY.format(text=f"Reply {number}"))
        for _time in range(2):
            stack.does(SEND)
            stack.does(LATER.format(minutes=10))
    assert states(stack) == {"waiting": STUDENTS * REPLIES}
    wait_until(lambda: int(stack.does(TRIED)) > 3, 60)
    assert smtp.mails == []
    smtp.start()

    def is_sent() -> bool:
        stack.does(LATER.format(minutes=15))
        stack.does(SEND)
        return states(stack) == {"sent": STUDENTS * REPLIES}

    wait_until(is_sent, 120)
    stack.does(SEND)
    for number in range(STUDENTS):
        assert replies_to(smtp, number) == ["Reply 0", "Reply 1", "Reply 2"]
    ids = Counter(mail["Message-ID"] for mail in smtp.mails)
    assert set(ids.values()) == {1}
    assert len(ids) == STUDENTS * REPLIES


def test_what_a_server_got_before_it_broke_off_comes_again_under_the_same_id_and_nothing_else_does(
    smtp: MailServer, stack: Run
) -> None:
    smtp.mails.clear()
    smtp.hang_ups = 1
    stack.does(REPLY.format(text="Reply 7"))

    def others_are_sent() -> bool:
        stack.does(SEND)
        return states(stack)["waiting"] == 1

    wait_until(others_are_sent, 120)
    assert len(smtp.mails) == STUDENTS, "one of them without a reply of the server's"
    stack.does(LATER.format(minutes=16))

    def all_are_sent() -> bool:
        stack.does(SEND)
        return states(stack)["waiting"] == 0

    wait_until(all_are_sent, 60)
    ids = Counter(mail["Message-ID"] for mail in smtp.mails)
    assert sorted(ids.values()) == [1] * (STUDENTS - 1) + [2]
    (twice,) = (each for each, count in ids.items() if count == 2)
    (case,) = {mail["To"] for mail in smtp.mails if mail["Message-ID"] == twice}
    assert {replies_to(smtp, number)[-1] for number in range(STUDENTS)} == {"Reply 7"}
    assert case in {f"student{number}@students.example" for number in range(STUDENTS)}

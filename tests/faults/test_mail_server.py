"""A real mail server that is away for an hour, or breaks off when it has a mail, before the real stack's workers."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.analytics.inbox.mail_server import MailServer, mail_server
from tests.e2e.conftest import start
from tests.runtime.stack import Run

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
#: The office replies to everybody, as its page does it. When time passes, what waits is so much older and due so much
#: earlier, and several runs are queued at once, as the schedule and each reply queue them; then they are waited for.
RUNS = """
import time
from datetime import timedelta
from django.contrib.auth.models import User
from django.db.models import F, Sum
from chat.models import Case, CaseMail
from chat.services import office_cases
from chat.tasks import send_case_mails

def reply(text):
    by = User.objects.get(username="admin")
    for case in Case.objects.order_by("pk"):
        office_cases.reply(case=case.pk, version=case.version, text=text, by=by)

def pass_time(minutes):
    by = timedelta(minutes=minutes)
    CaseMail.objects.waiting().update(created_at=F("created_at") - by, next_at=F("next_at") - by)
    for _time in range(3):
        send_case_mails.delay()
    seen = None
    while seen != (seen := list(CaseMail.objects.order_by("pk").values_list("attempts", "state"))):
        time.sleep(1.5)

def pass_time_until(waiting, minutes):
    for _time in range(30):
        if CaseMail.objects.waiting().count() == waiting:
            break
        pass_time(minutes)

def print_states():
    print(*CaseMail.objects.order_by("pk").values_list("state", flat=True))
"""
AWAY = """
for number in range({replies}):
    reply(f"Reply {{number}}")
    pass_time(10)
    pass_time(10)
assert CaseMail.objects.aggregate(tried=Sum("attempts"))["tried"] > 3, "workers try"
print_states()
"""
BACK = """
pass_time_until(0, minutes=15)
pass_time(15)
print_states()
"""
BROKEN_OFF = """
reply("Reply 7")
pass_time_until(1, minutes=0)
print_states()
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


def after(stack: Run, code: str) -> Counter[str]:
    """Return how many mails have which state after that was run beside the stack."""
    return Counter(stack.does(RUNS + code).split())


def replies_to(smtp: MailServer, number: int) -> list[str]:
    """Return what a student got, in the order of arrival."""
    mails = [mail for mail in smtp.mails if mail["To"] == f"student{number}@students.example"]
    found = [re.search(r"Reply \d", str(mail.get_body(("plain",)))) for mail in mails]
    return [each[0] for each in found if each]


def test_a_mail_server_that_is_away_for_an_hour_gets_each_mail_once_and_in_order(smtp: MailServer, stack: Run) -> None:
    smtp.stop()
    assert after(stack, AWAY.format(replies=REPLIES)) == {"waiting": STUDENTS * REPLIES}
    assert smtp.mails == []
    smtp.start()
    assert after(stack, BACK) == {"sent": STUDENTS * REPLIES}
    for number in range(STUDENTS):
        assert replies_to(smtp, number) == [f"Reply {count}" for count in range(REPLIES)]
    ids = Counter(mail["Message-ID"] for mail in smtp.mails)
    assert set(ids.values()) == {1}
    assert len(ids) == STUDENTS * REPLIES


def test_what_a_server_got_before_it_broke_off_comes_again_under_the_same_id_and_nothing_else_does(
    smtp: MailServer, stack: Run
) -> None:
    smtp.mails.clear()
    smtp.hang_ups = 1
    assert after(stack, BROKEN_OFF)["waiting"] == 1
    assert len(smtp.mails) == STUDENTS, "one of them without a reply of the server's"
    assert after(stack, BACK)["waiting"] == 0
    ids = Counter(mail["Message-ID"] for mail in smtp.mails)
    assert sorted(ids.values()) == [1] * (STUDENTS - 1) + [2]
    assert {replies_to(smtp, number)[-1] for number in range(STUDENTS)} == {"Reply 7"}

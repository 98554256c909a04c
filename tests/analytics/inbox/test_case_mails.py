"""E-mails to staff about cases that come, go on or wait too long."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from analytics.cases.news import raise_late_cases, tell_of_case
from analytics.inbox.mails import mail_notices
from analytics.inbox.services import assign_all
from analytics.models import Notice
from chat.models import Case
from chat.services.office_cases import close
from tests.analytics.cases.conftest import ANSWERS
from tests.analytics.cases.rows import new_case
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import WORKS, away, staff
from tests.analytics.inbox.mail_server import MailServer

pytestmark = pytest.mark.django_db
NEW, MESSAGE, LATE = Notice.Kind.NEW_CASE, Notice.Kind.CASE_MESSAGE, Notice.Kind.LATE_CASE


def clerk(first: str, **values: Any) -> User:
    """Create somebody who answers cases, with an address."""
    return staff(first, **{"permissions": ANSWERS} | values)


@pytest.fixture
def dora(db: None) -> User:
    return clerk("Dora")


def happens(case: Case, kind: str) -> None:
    """Tell staff what happens in a case; one that is late waits since yesterday."""
    if kind == LATE:
        Case.objects.filter(pk=case.pk).update(reply_due=timezone.now() - timedelta(days=1))
        assert raise_late_cases() == 1
    else:
        tell_of_case(case.pk, kind)


@pytest.mark.parametrize(
    ("kind", "subject", "said", "named"),
    [
        (NEW, "News of cases in MarcelCMS", "New: 1 case.", "- A case for Student Service Centre\n"),
        (
            MESSAGE,
            "News of cases in MarcelCMS",
            "The student wrote again: 1 case.",
            "- A case for Student Service Centre, the student wrote again\n",
        ),
        (
            LATE,
            "Students wait for a reply in MarcelCMS",
            "Wait for too long: 1 case.",
            "- A case for Student Service Centre, waits for a reply for too long\n",
        ),
    ],
)
def test_what_happens_in_a_case_is_mailed_once_without_a_word_of_the_student(
    smtp: MailServer, dora: User, kind: str, subject: str, said: str, named: str
) -> None:
    case = new_case()
    happens(case, kind)
    assert mail_notices() == 1
    body = smtp.body_to("dora@uni.example")
    assert smtp.mails[0]["Subject"] == subject
    assert said in body
    assert named in body
    assert f"http://localhost:8000/admin/chat/case/{case.pk}/change/" in body
    assert "dog" not in str(smtp.mails[0]).lower()
    assert mail_notices() == 0


@pytest.mark.parametrize("kind", [NEW, MESSAGE, LATE])
def test_who_turned_mails_of_cases_off_gets_none_and_reads_the_notice_all_the_same(
    smtp: MailServer, dora: User, kind: str
) -> None:
    away(dora, None, None, mails_cases=False)
    clerk("Emil")
    happens(new_case(), kind)
    assert mail_notices() == 1
    assert smtp.recipients == ["emil@uni.example"]
    assert Notice.objects.filter(user=dora, read_at=None, kind=kind).exists()


def test_without_mails_of_cases_those_of_assignments_still_come_and_name_no_case(
    smtp: MailServer, bob: User, dora: User
) -> None:
    eve = clerk("Eve", permissions=[*ANSWERS, *WORKS])
    away(eve, None, None, mails_cases=False)
    away(dora, None, None, mails_cases=False)
    assign_all(items=[new_gap()], to=eve, due_on=None, by=bob)
    happens(new_case(), NEW)
    assert mail_notices() == 1
    body = smtp.body_to("eve@uni.example")
    assert "- A topic, from Bob" in body
    assert "case" not in body.lower()


def test_new_cases_stand_in_one_mail(smtp: MailServer, dora: User) -> None:
    for _case in range(3):
        happens(new_case(), NEW)
    assert mail_notices() == 1
    assert "New: 3 cases." in smtp.body_to("dora@uni.example")


def test_a_case_that_was_closed_before_the_mail_is_not_mailed(smtp: MailServer, dora: User) -> None:
    case = new_case()
    happens(case, LATE)
    close(case=case.pk, version=case.version, by=dora)
    assert mail_notices() == 0


def test_the_substitute_gets_the_mail_of_a_late_case(smtp: MailServer, dora: User) -> None:
    emil = clerk("Emil")
    away(dora, timezone.localdate(), emil)
    happens(new_case(assigned_to=dora), LATE)
    assert mail_notices() == 1
    assert "waits for a reply for too long, instead of Dora, who is away until" in smtp.body_to("emil@uni.example")

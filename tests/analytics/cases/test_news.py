"""Staff are told of cases that come, go on or wait too long; silent ones are closed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from analytics.cases.news import QUIET, close_quiet_cases, raise_late_cases, tell_of_case
from analytics.inbox.notices import count_unread
from analytics.models import Notice
from chat.models import Case
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import new_case
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_everybody_who_may_answer_is_told_of_a_new_case(ada: User, bob: User) -> None:
    UserFactory(username="reader", permissions=["chat.view_case"])
    case = new_case()
    tell_of_case(case.pk, Notice.Kind.NEW_CASE)
    assert set(Notice.objects.values_list("user", flat=True)) == {ada.pk, bob.pk}
    assert count_unread(ada) == 1


def test_of_a_person_in_need_only_those_are_told_who_may_read_it(ada: User) -> None:
    dora = desk("dora", permissions=[*ANSWERS, "chat.read_help_message"])
    tell_of_case(new_case(reason=Case.Reason.HELP).pk, Notice.Kind.LATE_CASE)
    assert Notice.objects.get().user == dora


def test_who_looks_after_a_case_alone_is_told_that_it_goes_on(ada: User, bob: User) -> None:
    case = new_case(assigned_to=bob)
    tell_of_case(case.pk, Notice.Kind.CASE_MESSAGE)
    assert Notice.objects.get().user == bob


def test_a_case_that_waits_longer_than_promised_is_raised_once(ada: User) -> None:
    case = new_case(reply_due=timezone.now() - timedelta(minutes=1))
    assert raise_late_cases() == 1
    assert raise_late_cases() == 0
    case.refresh_from_db()
    assert case.is_late
    assert Notice.objects.get().kind == Notice.Kind.LATE_CASE


def test_a_case_that_is_answered_is_not_late(ada: User) -> None:
    new_case(reply_due=timezone.now() - timedelta(days=1), state=Case.State.REPLIED)
    assert raise_late_cases() == 0


def test_a_case_in_which_the_student_has_been_silent_is_closed() -> None:
    silent, recent, waiting = (new_case(state=state) for state in ("replied", "replied", "open"))
    long_ago = timezone.now() - QUIET - timedelta(hours=1)
    Case.objects.filter(pk__in=[silent.pk, waiting.pk]).update(state_at=long_ago)
    assert close_quiet_cases() == 1
    for case, state in ((silent, "closed"), (recent, "replied"), (waiting, "open")):
        case.refresh_from_db()
        assert case.state == state

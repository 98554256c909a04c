"""Staff are told of cases that come, go on or wait too long; silent ones are closed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone

from analytics.cases.news import QUIET, close_quiet_cases, raise_late_cases, tell_of_case
from analytics.inbox.notices import count_unread, describe, unread_notices
from analytics.models import Notice
from chat.cases.messages import add_student_message
from chat.models import Case
from chat.services import office_cases
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import new_case
from tests.analytics.inbox.conftest import away
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


def raised(case: Case) -> set[tuple[int, int | None]]:
    """Raise the case, which is late; return who is told, and instead of whom."""
    Case.objects.filter(pk=case.pk).update(reply_due=timezone.now() - timedelta(minutes=1))
    assert raise_late_cases() == 1
    return set(Notice.objects.filter(case=case, kind=Notice.Kind.LATE_CASE).values_list("user", "instead_of"))


def test_the_substitute_of_who_is_away_is_told_and_reads_instead_of_whom(ada: User, bob: User) -> None:
    away(bob, timezone.localdate(), ada)
    desk("carla")
    case = new_case(assigned_to=bob)
    assert raised(case) == {(ada.pk, bob.pk)}
    tell_of_case(case.pk, Notice.Kind.CASE_MESSAGE)
    told = unread_notices(ada).get(kind=Notice.Kind.CASE_MESSAGE)
    assert "instead of Bob, who is away until" in describe(told, "A case")


def test_where_nobody_stands_in_for_who_is_away_everybody_is_told(ada: User, bob: User) -> None:
    away(bob, timezone.localdate(), None)
    assert raised(new_case(assigned_to=bob)) == {(ada.pk, None), (bob.pk, None)}


def test_a_substitute_who_may_not_answer_the_case_is_not_told_but_who_may(ada: User, bob: User) -> None:
    away(bob, timezone.localdate(), UserFactory(username="reader", is_staff=True, permissions=["chat.view_case"]))
    assert raised(new_case(assigned_to=bob)) == {(ada.pk, None), (bob.pk, None)}


def test_the_substitute_of_who_left_meanwhile_is_told(ada: User, bob: User) -> None:
    away(bob, timezone.localdate(), ada)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    desk("carla")
    assert raised(new_case(assigned_to=bob)) == {(ada.pk, bob.pk)}


@pytest.mark.parametrize("kind", [Notice.Kind.LATE_CASE, Notice.Kind.CASE_MESSAGE])
@pytest.mark.parametrize("leaves", ["deactivated", "no staff", "no permission", "other office"])
def test_if_who_looks_after_a_case_may_answer_it_no_longer_everybody_who_may_is_told(
    ada: User, bob: User, leaves: str, kind: str
) -> None:
    case = new_case(assigned_to=bob)
    values = {"deactivated": {"is_active": False}, "no staff": {"is_staff": False}}.get(leaves)
    if values:
        User.objects.filter(pk=bob.pk).update(**values)
    elif leaves == "no permission":
        bob.user_permissions.remove(Permission.objects.get(codename="change_case"))
    else:
        bob.user_permissions.remove(Permission.objects.get(codename="whole_university"))
        bob.groups.add(Group.objects.create(name="Library"))
        case.office.teams.add(Group.objects.create(name="Housing"))
    tell_of_case(case.pk, kind)
    assert Notice.objects.get().user == ada


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


def test_once_a_case_is_answered_nobody_has_it_to_read_any_more(ada: User, bob: User) -> None:
    case, other = new_case(), new_case()
    for each in (case, other):
        tell_of_case(each.pk, Notice.Kind.NEW_CASE)
    assert (count_unread(ada), count_unread(bob)) == (2, 2)
    office_cases.reply(case=case.pk, version=case.version, text="Yes.", by=ada)
    assert (count_unread(ada), count_unread(bob)) == (1, 1)
    assert set(Notice.objects.filter(read_at=None).values_list("case", flat=True)) == {other.pk}
    office_cases.close(case=other.pk, version=other.version, by=ada)
    assert not Notice.objects.filter(read_at=None).exists()


def test_a_student_who_writes_again_is_news_again(ada: User) -> None:
    case = new_case()
    tell_of_case(case.pk, Notice.Kind.NEW_CASE)
    office_cases.reply(case=case.pk, version=case.version, text="Yes.", by=ada)
    case.refresh_from_db()
    add_student_message(case=case, text="Really?")
    tell_of_case(case.pk, Notice.Kind.CASE_MESSAGE)
    assert count_unread(ada) == 1


def test_of_a_case_that_was_answered_meanwhile_nobody_is_told(ada: User) -> None:
    case = new_case()
    office_cases.reply(case=case.pk, version=case.version, text="Yes.", by=ada)
    tell_of_case(case.pk, Notice.Kind.NEW_CASE)
    assert not Notice.objects.exists()

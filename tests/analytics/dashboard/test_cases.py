"""Analysts see how many questions offices got, how soon they replied, and whether it helped."""

import datetime

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from analytics.counts.refresh import count_changed, freeze
from analytics.dashboard.admin.cards import build_card_groups
from analytics.dashboard.admin.links import Links
from analytics.dashboard.cases import CaseFigures, case_figures
from analytics.dashboard.overview import overview, reach
from analytics.dashboard.visibility import SEE_SMALL_GROUPS, View
from analytics.models import Assumptions
from analytics.periods import Period, Step
from chat.models import Case
from tests.analytics.cases.rows import new_case
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def analyst() -> User:
    made: User = UserFactory(permissions=["knowledge.whole_university", SEE_SMALL_GROUPS])
    return made


def view(by: User, **values: object) -> View:
    today = timezone.localdate()
    week = Period(today - datetime.timedelta(days=6), today)
    return View(week, Step.DAY, by, **values)  # type: ignore[arg-type]


def figures(asked: View) -> tuple[CaseFigures, CaseFigures]:
    count_changed()
    return case_figures(asked)


def replied(after: datetime.timedelta, **values: object) -> Case:
    case = new_case(**values)
    Case.objects.filter(pk=case.pk).update(first_reply_at=case.opened_at + after)
    return case


def test_the_median_counts_cases_that_were_replied_to(analyst: User) -> None:
    for hours in (1, 2, 9):
        replied(hours * HOUR)
    new_case()
    now, before = figures(view(analyst))
    assert (now.count, now.closed) == (4, None)
    assert now.first_reply is not None
    assert abs(now.first_reply - 2 * HOUR) <= 0.05 * 2 * HOUR
    assert before == CaseFigures()


def test_the_share_that_it_helped_is_of_those_who_said_so(analyst: User) -> None:
    for helped in (True, True, False, None):
        new_case(helped=helped)
    assert figures(view(analyst))[0].helped == pytest.approx(2 / 3)


def test_merged_cases_and_those_of_people_in_need_are_not_counted(analyst: User) -> None:
    case = new_case()
    new_case(merged_into=case)
    new_case(reason=Case.Reason.HELP)
    assert figures(view(analyst))[0].count == 1


def test_few_cases_are_not_shown_and_neither_is_what_leaves_few(settings) -> None:  # type: ignore[no-untyped-def]
    settings.SMALLEST_GROUP = 3
    member = UserFactory(permissions=["knowledge.whole_university"])
    for _ in range(2):
        new_case(language="de")
    assert figures(view(member))[0].count is None
    for _ in range(4):
        new_case(language="en")
    assert figures(view(member))[0].count == 6
    assert figures(view(member, language="de"))[0].count is None
    assert figures(view(member, language="en"))[0].count is None


def test_it_takes_two_queries(analyst: User, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    asked = view(analyst)
    analyst.has_perm(SEE_SMALL_GROUPS)
    with django_assert_num_queries(2):
        case_figures(asked)


def test_the_dashboard_says_it_in_hours(analyst: User) -> None:
    replied(3 * HOUR)
    count_changed()
    asked = view(analyst)
    groups = build_card_groups(overview(asked, with_gaps=False), Links(asked, reach(analyst, None)), Assumptions(pk=1))
    (group,) = (each for each in groups if each.title == "Questions to offices")
    assert [card.value for card in group.cards] == ["1", "2.9 h", "–", "–"]  # to within 5 %


def test_a_reply_a_merge_and_an_erasure_change_the_figures(analyst: User) -> None:
    cases = [new_case() for _ in range(4)]
    assert figures(view(analyst))[0] == CaseFigures(4)
    Case.objects.filter(pk=cases[0].pk).update(closed_at=cases[0].opened_at + 48 * HOUR)
    now = figures(view(analyst))[0]
    assert now.closed is not None
    assert abs(now.closed - 48 * HOUR) <= 0.05 * 48 * HOUR
    Case.objects.filter(pk=cases[1].pk).update(merged_into=cases[2])
    assert figures(view(analyst))[0].count == 3
    cases[3].conversation.delete()
    assert figures(view(analyst))[0].count == 2


def test_figures_outlive_the_cases_that_retention_deletes(analyst: User) -> None:
    for hours in (1, 2, 9):
        replied(hours * HOUR, helped=True)
    before = figures(view(analyst))[0]
    freeze(dict.fromkeys(Case.objects.values_list("assistant", flat=True), timezone.now()))
    for case in Case.objects.all():
        case.conversation.delete()
    assert figures(view(analyst))[0] == before
    assert before.count == 3


def test_whole_months_count_as_their_days(analyst: User) -> None:
    today = timezone.localdate()
    for days in range(0, 200, 9):
        case = replied(5 * HOUR, helped=True)
        opened = case.opened_at - datetime.timedelta(days=days)
        Case.objects.filter(pk=case.pk).update(opened_at=opened, first_reply_at=opened + 5 * HOUR)
    year = View(Period(today - datetime.timedelta(days=364), today), Step.MONTH, analyst)
    now = figures(year)[0]
    assert (now.count, now.helped) == (23, 1.0)
    assert now.first_reply is not None
    assert abs(now.first_reply - 5 * HOUR) <= 0.05 * 5 * HOUR


def test_an_office_of_another_team_is_in_no_figures() -> None:
    mine, other = Group.objects.create(name="Mine"), Group.objects.create(name="Other")
    for team in (mine, other):
        case = new_case()
        case.assistant.teams.set([mine])
        case.office.teams.set([team])
    assert figures(view(UserFactory(permissions=[SEE_SMALL_GROUPS], teams=[mine])))[0].count == 1

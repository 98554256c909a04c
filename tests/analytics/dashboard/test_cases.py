"""Analysts see how many questions offices got, how soon they replied, and whether it helped."""

import datetime

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

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


def replied(after: datetime.timedelta, **values: object) -> Case:
    case = new_case(**values)
    Case.objects.filter(pk=case.pk).update(first_reply_at=case.opened_at + after)
    return case


def test_the_median_counts_cases_that_were_replied_to(analyst: User) -> None:
    for hours in (1, 2, 9):
        replied(hours * HOUR)
    new_case()
    now, before = case_figures(view(analyst))
    assert (now.count, now.first_reply, now.closed) == (4, 2 * HOUR, None)
    assert before == CaseFigures()


def test_the_share_that_it_helped_is_of_those_who_said_so(analyst: User) -> None:
    for helped in (True, True, False, None):
        new_case(helped=helped)
    assert case_figures(view(analyst))[0].helped == pytest.approx(2 / 3)


def test_merged_cases_and_those_of_people_in_need_are_not_counted(analyst: User) -> None:
    case = new_case()
    new_case(merged_into=case)
    new_case(reason=Case.Reason.HELP)
    assert case_figures(view(analyst))[0].count == 1


def test_few_cases_are_not_shown_and_neither_is_what_leaves_few(settings) -> None:  # type: ignore[no-untyped-def]
    settings.SMALLEST_GROUP = 3
    member = UserFactory(permissions=["knowledge.whole_university"])
    for _ in range(2):
        new_case(language="de")
    assert case_figures(view(member))[0].count is None
    for _ in range(4):
        new_case(language="en")
    assert case_figures(view(member))[0].count == 6
    assert case_figures(view(member, language="de"))[0].count is None
    assert case_figures(view(member, language="en"))[0].count is None


def test_it_takes_two_queries(analyst: User, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    asked = view(analyst)
    analyst.has_perm("chat.read_help_message")
    with django_assert_num_queries(2):
        case_figures(asked)


def test_the_dashboard_says_it_in_hours(analyst: User) -> None:
    replied(3 * HOUR)
    asked = view(analyst)
    groups = build_card_groups(overview(asked, with_gaps=False), Links(asked, reach(analyst, None)), Assumptions(pk=1))
    (group,) = (each for each in groups if each.title == "Questions to offices")
    assert [card.value for card in group.cards] == ["1", "3.0 h", "–", "–"]


def test_medians_of_many_cases_are_taken_from_every_second_or_third_one(
    analyst: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Squares: no every-third-one of them has the median of all.
    for hours in range(12):
        replied(hours**2 * HOUR)
    whole = case_figures(view(analyst))[0]
    monkeypatch.setattr("analytics.dashboard.cases.MEDIAN_OF", 5)
    part = case_figures(view(analyst))[0]
    assert (part.count, part.helped) == (whole.count, whole.helped)
    assert part.first_reply != whole.first_reply
    assert part.first_reply is not None
    assert whole.first_reply is not None
    assert abs(part.first_reply - whole.first_reply) <= 14 * HOUR

import datetime

import pytest
from django.contrib.auth.models import Group
from hypothesis import given
from hypothesis import strategies as st

from analytics.counts.refresh import count_changed
from analytics.dashboard.queries import series, spreads
from analytics.dashboard.rankings import never_cited, top_documents, top_faqs
from analytics.dashboard.visibility import View
from analytics.histograms import ACCURACY
from analytics.periods import Period, Step, next_start
from chat.models import Feedback
from tests.analytics.counts.test_daily import asks, begins
from tests.factories import AssistantFactory, DocumentFactory, FAQFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
SMALL = "analytics.see_small_groups"
DAYS = st.dates(datetime.date(2024, 1, 1), datetime.date(2027, 12, 31))


def at(month, day, hour=12):
    return datetime.datetime(2026, month, day, hour, tzinfo=datetime.UTC)


def view(first, last, *, step=Step.DAY, by=None, **chosen):
    period = Period(datetime.date(2026, *first), datetime.date(2026, *last))
    return View(period, step, by or UserFactory(), **chosen)


@given(DAYS, st.integers(0, 900), st.sampled_from(Step))
def test_the_steps_of_a_period_cover_each_of_its_days_once(first, length, step):
    period = Period(first, first + datetime.timedelta(days=length))
    starts = list(period.steps(step))
    assert starts[0] <= period.first
    assert starts == sorted(set(starts))
    assert all(later > period.first for later in starts[1:])
    assert starts[-1] <= period.last


@given(DAYS, st.integers(0, 900))
def test_whole_months_are_whole_and_in_the_period(first, length):
    period = Period(first, first + datetime.timedelta(days=length))
    months = period.months(today=period.last + datetime.timedelta(days=1))
    if months is None:
        assert period.days < 62
    else:
        assert period.first <= months.first <= months.last <= period.last
        assert months.first.day == 1
        assert (months.last + datetime.timedelta(days=1)).day == 1
        assert (months.first - period.first).days < 31
        assert (period.last - months.last).days < 31


@given(DAYS, st.integers(0, 900), st.integers(0, 60))
def test_up_to_today_the_current_month_counts_as_a_whole_one(first, length, later):
    period = Period(first, first + datetime.timedelta(days=length))
    today = max(period.first, period.last - datetime.timedelta(days=later))
    current = Period(today.replace(day=1), next_start(today.replace(day=1), Step.MONTH) - datetime.timedelta(days=1))
    months = period.months(today)
    if period.first > current.first:
        assert months is None or months.first > current.last
    else:
        assert months is not None
        assert months.first <= current.first
        assert months.last >= current.last


def test_a_period_does_not_end_before_it_begins():
    with pytest.raises(ValueError, match="ends no earlier"):
        Period(datetime.date(2026, 2, 1), datetime.date(2026, 1, 31))


def test_a_period_that_ended_yesterday_adds_up_to_its_points():
    """The total and its series were told apart once, in the system before this one."""
    for day in range(1, 20):
        asks(begins(at(3, day)), at(3, day), status="abstained" if day % 3 == 0 else "complete")
    count_changed()
    for step in Step:
        points, now, before = series(view((3, 8), (3, 14), step=step))
        assert now.questions == 7 == sum(point.totals.questions for point in points)
        assert now.abstained == 2
        assert before.questions == 7


def test_days_without_a_question_are_there_as_zeros():
    asks(begins(at(3, 2)), at(3, 2))
    count_changed()
    points, _now, _before = series(view((3, 1), (3, 5)))
    assert [point.totals.questions for point in points] == [0, 1, 0, 0, 0]


def test_a_step_that_the_period_cuts_says_so():
    points, _now, _before = series(view((3, 4), (4, 15), step=Step.MONTH))
    assert [(point.start.month, point.is_whole) for point in points] == [(3, False), (4, False)]


def test_long_periods_read_months_and_come_to_the_same():
    assistant = AssistantFactory()
    documents, faq = [DocumentFactory(title="A"), DocumentFactory(title="B")], FAQFactory(question="Fees?")
    for month in range(1, 9):
        for day in (1, 15, 28):
            answer = asks(
                begins(at(month, day), assistant=assistant),
                at(month, day, hour=day % 20),
                first_token=month * 100.0,
                document=documents[day % 2],
                faq=faq,
            )
            Feedback.objects.create(message=answer, value=-1, reasons=["wrong"])
    count_changed()
    long = view((1, 15), (7, 15))
    _points, now, _before = series(long)
    spread, earlier = spreads(long)
    assert now.questions == sum(spread.hours) == 19
    assert now.newcomers == sum(spread.newcomers_by_hour) == spread.newcomers_by_reason["wrong"] == 19
    assert (now.busiest, now.people.at_least) == (1, 19)
    assert spread.reasons["wrong"] == 19
    assert abs(spread.first_token[0] - 400) <= 400 * ACCURACY
    assert sum(earlier.hours) == 1
    assert sum(each.answers for each in top_documents(long)) == 19
    (steering,) = top_faqs(long)
    assert (steering.people.newcomers, steering.newcomers_down, steering.people_before.newcomers) == (19, 19, 1)
    assert (steering.name, steering.answers, steering.before, steering.thumbs_down) == ("Fees?", 19, 1, 19)


def test_documents_that_nothing_cites_are_named():
    cited, never = DocumentFactory(title="Cited"), DocumentFactory(title="Never", status="published")
    cited.status = "published"
    cited.save()
    asks(begins(at(3, 2)), at(3, 2), document=cited)
    count_changed()
    found = never_cited(view((3, 1), (3, 31), by=UserFactory(permissions=[SMALL])))
    assert found.count == 1
    assert found.documents == [(never.pk, "Never")]
    assert never_cited(view((3, 1), (3, 31))).documents == [(never.pk, "Never"), (cited.pk, "Cited")]


def test_each_choice_narrows_the_figures():
    assistants = [AssistantFactory(), AssistantFactory()]
    asks(begins(at(3, 2), assistant=assistants[0]), at(3, 2), language="de")
    asks(begins(at(3, 2), assistant=assistants[1]), at(3, 2), language="en")
    count_changed()
    counted = {"all": {}, "first": {"assistant": assistants[0].pk}, "german": {"language": "de"}}
    found = {name: series(view((3, 1), (3, 31), **chosen))[1].questions for name, chosen in counted.items()}
    assert found == {"all": 2, "first": 1, "german": 1}
    assert series(view((3, 1), (3, 31), assistant=assistants[0].pk, language="en"))[1].questions == 0


def test_a_team_sees_the_figures_of_its_assistants_alone():
    team = Group.objects.create(name="Law")
    own = AssistantFactory()
    own.teams.add(team)
    asks(begins(at(3, 2), assistant=own), at(3, 2))
    asks(begins(at(3, 2)), at(3, 2))
    count_changed()
    by = UserFactory(teams=[team])
    assert series(view((3, 1), (3, 31), by=by))[1].questions == 1
    assert series(view((3, 1), (3, 31)))[1].questions == 2


def test_figures_cost_five_queries_however_long_the_period(django_assert_num_queries):
    for month in range(1, 9):
        asks(begins(at(month, 3)), at(month, 3), document=DocumentFactory(), faq=FAQFactory())
    count_changed()
    long = view((1, 3), (8, 30))
    long.by.has_perm("knowledge.whole_university")
    with django_assert_num_queries(5):
        series(long), spreads(long), top_documents(long), top_faqs(long), never_cited(long)

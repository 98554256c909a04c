"""The pages of quality over time, of the sample to judge, and of the promise."""

import datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from analytics.models import QualityDrop, SampledAnswer, SampleVerdict
from analytics.tasks import draw_samples
from chat.models import Assistant
from chat.pipeline.question import profile_for
from tests.analytics.quality.rows import asked, sampled, yesterday
from tests.factories import AssistantFactory, CitationFactory, UserFactory

pytestmark = pytest.mark.django_db
VIEW, JUDGE = "analytics.view_sampledanswer", "analytics.change_sampledanswer"


def member(*may: str, **values: Any) -> Client:
    client = Client()
    client.force_login(UserFactory(permissions=list(may), **values))
    return client


def judged_month(assistant: Assistant, *, wrong: int = 3, right: int = 57) -> None:
    """Sixty answers of twelve days; those with little evidence are wrong."""
    members = [UserFactory(), UserFactory()]
    for number in range(wrong + right):
        verdict = "wrong_answer" if number < wrong else "correct_answer"
        day = yesterday() - datetime.timedelta(days=number % 12)
        sampled(assistant, verdict, verdict, day=day, evidence=0.45 if number < wrong else 0.8, by=members)


def test_an_answer_is_judged_without_seeing_the_colleagues_verdict_and_recorded() -> None:
    asked(AssistantFactory(name="Info desk"), text="Until the 15th of July.")
    draw_samples()
    first, second = member(VIEW, JUDGE), member(VIEW, JUDGE)
    page = first.get("/admin/quality/judge/").content.decode()
    assert "Until the 15th of July." in page
    row = SampledAnswer.objects.get()
    assert first.post("/admin/quality/judge/", {"answer": row.pk, "verdict": "wrong_answer"}).status_code == 302
    assert LogEntry.objects.get().object_id == str(row.pk)
    assert "judged everything" in first.get("/admin/quality/judge/").content.decode()
    shown = second.get("/admin/quality/judge/").content.decode()
    assert "Until the 15th of July." in shown
    assert "checked" not in shown
    second.post("/admin/quality/judge/", {"answer": row.pk, "verdict": "correct_answer"})
    assert SampleVerdict.objects.count() == 2


def test_a_source_whose_address_is_no_web_page_is_no_link() -> None:
    answer = asked(AssistantFactory())
    CitationFactory(message=answer, document=None, title="Fees", url="javascript:hacked()")
    draw_samples()
    page = member(JUDGE).get("/admin/quality/judge/").content.decode()
    assert "Fees" in page
    assert "javascript:" not in page


def test_a_second_verdict_of_one_member_is_refused() -> None:
    asked(AssistantFactory())
    draw_samples()
    client, row = member(JUDGE), SampledAnswer.objects.get()
    client.post("/admin/quality/judge/", {"answer": row.pk, "verdict": "wrong_answer"})
    told = client.post("/admin/quality/judge/", {"answer": row.pk, "verdict": "correct_answer"}, follow=True)
    assert "You have judged this answer already." in told.content.decode()
    assert SampleVerdict.objects.get().verdict == "wrong_answer"


def test_others_assistants_and_answers_are_not_found() -> None:
    asked(AssistantFactory(name="Info desk"))
    draw_samples()
    row = SampledAnswer.objects.get()
    stranger = member(VIEW, JUDGE, "chat.change_assistant", teams=[Group.objects.create(name="Law")])
    assert "Info desk" not in stranger.get("/admin/quality/").content.decode()
    assert "judged everything" in stranger.get("/admin/quality/judge/").content.decode()
    for given in (row.pk, "x", 10**30):
        assert stranger.post("/admin/quality/judge/", {"answer": given, "verdict": "x"}).status_code == 404
    assert stranger.get(f"/admin/quality/promise/{row.assistant_id}/").status_code == 404


def test_quality_is_a_line_with_its_table_and_agreement_in_words() -> None:
    assistant = AssistantFactory(name="Info desk")
    judged_month(assistant)
    page = member(VIEW).get("/admin/quality/").content.decode()
    assert "Cohen’s kappa 1.00" in page
    assert "almost perfect agreement" in page
    assert "95\N{NO-BREAK SPACE}%" in page
    assert 'data-chart="chart-quality-data"' in page


def test_figures_of_few_people_are_hidden() -> None:
    sampled(AssistantFactory(), "wrong_answer", "wrong_answer")
    assert "hidden for privacy" in member(VIEW).get("/admin/quality/").content.decode()
    shown = member(VIEW, "analytics.see_small_groups").get("/admin/quality/").content.decode()
    assert "hidden for privacy" not in shown


def test_weeks_that_are_all_of_few_people_are_said_to_be_hidden_in_place_of_their_chart() -> None:
    assistant, by = AssistantFactory(), [UserFactory(), UserFactory()]
    for number in range(8):
        day = yesterday() - datetime.timedelta(weeks=number)
        sampled(assistant, "correct_answer", "correct_answer", day=day, by=by)
    page = member(VIEW).get("/admin/quality/").content.decode()
    assert "Hidden for privacy: each week’s figures are from fewer than 5 visitors" in page
    assert 'data-chart="chart-quality-data"' not in page


def test_a_week_without_a_right_answer_is_drawn_at_0() -> None:
    assistant, by = AssistantFactory(), [UserFactory(), UserFactory()]
    for number in range(6):
        day = yesterday() - datetime.timedelta(weeks=2 * (number == 0))
        sampled(assistant, "wrong_answer", "wrong_answer", day=day, by=by)
    page = member(VIEW).get("/admin/quality/").content.decode()
    assert 'data-chart="chart-quality-data"' in page
    assert "Hidden for privacy" not in page


def test_the_page_takes_few_queries_however_much_is_judged(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    judged_month(AssistantFactory())
    client = member(VIEW, JUDGE)
    with django_assert_max_num_queries(16):
        client.get("/admin/quality/")


def test_a_drop_stands_on_the_first_page_for_a_week() -> None:
    assistant = AssistantFactory(name="Info desk")
    drop = QualityDrop.objects.create(assistant=assistant, share=0.3, share_before=0.9, first_day=yesterday())
    client = member(VIEW)
    assert "Fewer answers of 1 assistant are right than before." in client.get("/admin/").content.decode()
    shown = client.get("/admin/quality/").content.decode()
    assert "Fewer answers are right than before, since" in shown  # of few people, so without their share
    judged_month(assistant)
    shown = client.get("/admin/quality/").content.decode()
    assert "Fewer answers are right than before: 30\N{NO-BREAK SPACE}% since" in shown
    QualityDrop.objects.filter(pk=drop.pk).update(noticed_at=timezone.now() - datetime.timedelta(days=8))
    assert "Fewer answers of" not in client.get("/admin/").content.decode()


def test_without_verdicts_enough_the_promise_says_how_many_are_missing() -> None:
    assistant = AssistantFactory()
    for _ in range(10):
        sampled(assistant, "correct_answer", "correct_answer")
    client = member(VIEW, "chat.change_assistant")
    page = client.get(f"/admin/quality/promise/{assistant.pk}/").content.decode()
    assert "Not enough verdicts yet: 10 of 19." in page
    page = client.get(f"/admin/quality/promise/{assistant.pk}/?share=5&form=probable").content.decode()
    assert "Not enough verdicts yet: 10 of 45." in page
    told = client.post(f"/admin/quality/promise/{assistant.pk}/", {"share": 5, "form": "mean"}, follow=True)
    assert "do not support this promise" in told.content.decode()
    assistant.refresh_from_db()
    assert assistant.evidence_needed is None


def test_a_promise_is_kept_in_one_click_and_recorded() -> None:
    assistant = AssistantFactory()
    judged_month(assistant)
    client = member(VIEW, "chat.change_assistant")
    page = client.get(f"/admin/quality/promise/{assistant.pk}/?share=5&form=probable").content.decode()
    assert "Need evidence of 0.46" in page
    assert "5\N{NO-BREAK SPACE}% of all questions get a wrong answer" in page
    assert 'data-chart="chart-promise-data"' in page
    client.post(f"/admin/quality/promise/{assistant.pk}/", {"share": 5, "form": "probable"})
    assistant.refresh_from_db()
    assert assistant.evidence_needed == 0.46
    assert profile_for(assistant).threshold == 0.46
    entry = LogEntry.objects.get()
    assert (entry.object_id, "evidence_needed" in entry.change_message) == (str(assistant.pk), True)
    assert (
        "Today’s threshold keeps it." in client.get(f"/admin/quality/promise/{assistant.pk}/?share=6").content.decode()
    )


def test_days_on_which_more_evidence_was_needed_tell_nothing_of_less() -> None:
    assistant = AssistantFactory(evidence_needed=0.5)
    sampled(assistant, "correct_abstention", "correct_abstention", evidence=0.55, threshold=0.6, is_shown=False)
    for _ in range(7):
        sampled(assistant, "correct_answer", "correct_answer", threshold=0.5)
    page = member(VIEW).get(f"/admin/quality/promise/{assistant.pk}/").content.decode()
    assert "Not enough verdicts yet: 7 of 19." in page


def test_who_may_not_change_the_assistant_only_reads_the_promise() -> None:
    assistant = AssistantFactory()
    judged_month(assistant)
    client = member(VIEW)
    page = client.get(f"/admin/quality/promise/{assistant.pk}/?form=probable").content.decode()
    assert "Evidence needed 0.46" in page
    assert "Need evidence of" not in page
    assert client.post(f"/admin/quality/promise/{assistant.pk}/", {"share": 5, "form": "mean"}).status_code == 403
    assert member().get(f"/admin/quality/promise/{assistant.pk}/").status_code == 403


@pytest.mark.parametrize("query", ["share=0", "share=x", "share=99", "form=never"])
def test_a_promise_that_cannot_be_read_is_said_so(query: str) -> None:
    page = member(VIEW).get(f"/admin/quality/promise/{AssistantFactory().pk}/?{query}")
    assert page.status_code == 200
    assert "errorlist" in page.content.decode()

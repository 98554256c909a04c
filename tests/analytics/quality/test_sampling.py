"""The nightly random sample of answers, and what staff find of it."""

import datetime

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import Settings

from analytics.models import SampledAnswer, SampleNight, SampleVerdict
from analytics.quality.drops import notice_drops
from analytics.quality.figures import by_week, read_judged
from analytics.quality.judging import judge_answer, left_to_judge
from analytics.tasks import draw_samples, notice_quality_drops
from chat.models import Conversation
from tests.analytics.quality.rows import asked, sampled, yesterday
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_so_many_answers_of_each_assistant_are_drawn_once(settings: Settings) -> None:
    settings.QUALITY_SAMPLE = 3
    one, other = AssistantFactory(), AssistantFactory()
    for _ in range(6):
        asked(one)
    asked(other)
    draw_samples()
    drawn = set(SampledAnswer.objects.values_list("message", flat=True))
    assert SampledAnswer.objects.filter(assistant=one).count() == 3
    assert SampledAnswer.objects.filter(assistant=other).count() == 1
    asked(other)
    draw_samples()
    assert set(SampledAnswer.objects.values_list("message", flat=True)) == drawn


def test_a_day_and_its_answers_give_one_sample(settings: Settings) -> None:
    settings.QUALITY_SAMPLE = 4
    assistant = AssistantFactory()
    for _ in range(12):
        asked(assistant)
    draw_samples()
    first = set(SampledAnswer.objects.values_list("message", flat=True))
    SampledAnswer.objects.all().delete()
    SampleNight.objects.all().delete()
    draw_samples()
    assert set(SampledAnswer.objects.values_list("message", flat=True)) == first


def test_only_ended_answers_to_questions_of_that_day_are_drawn(settings: Settings) -> None:
    settings.QUALITY_SAMPLE = 50
    assistant = AssistantFactory()
    answer = asked(assistant)
    abstention = asked(assistant, status="abstained", strategy="", evidence=0.2)
    asked(assistant, route="chit-chat")
    asked(assistant, route="crisis")
    asked(assistant, status="failed")
    asked(assistant, status="clarifying")
    asked(assistant, is_replaced=True)
    asked(assistant, days_ago=2)
    asked(assistant, days_ago=0)
    draw_samples()
    shown = dict(SampledAnswer.objects.values_list("message", "is_shown"))
    assert shown == {answer.pk: True, abstention.pk: False}


def test_staffs_own_answers_count_as_shown_at_every_threshold() -> None:
    asked(AssistantFactory(), office={"faq": 1}, evidence=0.1)
    draw_samples()
    assert SampledAnswer.objects.get().evidence is None


def test_a_visitor_is_counted_once_a_week(settings: Settings) -> None:
    settings.QUALITY_SAMPLE = 9
    assistant = AssistantFactory()
    first = asked(assistant)
    again = asked(assistant)
    again.conversation.visitor = first.conversation.visitor
    again.conversation.save()
    draw_samples()
    assert sorted(SampledAnswer.objects.values_list("is_newcomer", flat=True)) == [False, True]


def test_two_members_judge_each_answer_and_nobody_twice() -> None:
    asked(AssistantFactory())
    draw_samples()
    row = SampledAnswer.objects.get()
    one, other, third = UserFactory(), UserFactory(), UserFactory()
    judge_answer(answer=row, verdict="correct_answer", by=one)
    with pytest.raises(ValidationError):
        judge_answer(answer=row, verdict="wrong_answer", by=one)
    assert (left_to_judge(one).count(), left_to_judge(other).count()) == (0, 1)
    judge_answer(answer=row, verdict="wrong_answer", by=other)
    assert left_to_judge(third).count() == 0
    with pytest.raises(ValidationError):
        judge_answer(answer=row, verdict="wrong_answer", by=third)


def test_a_verdict_fits_what_was_shown() -> None:
    asked(AssistantFactory(), status="abstained", strategy="")
    draw_samples()
    row = SampledAnswer.objects.get()
    for verdict in ("correct_answer", "abuse", ""):
        with pytest.raises(ValidationError):
            judge_answer(answer=row, verdict=verdict, by=UserFactory())
    judge_answer(answer=row, verdict="correct_abstention", by=UserFactory())


def test_what_is_half_judged_comes_first() -> None:
    assistant = AssistantFactory()
    for _ in range(3):
        asked(assistant)
    draw_samples()
    last = SampledAnswer.objects.last()
    assert last
    judge_answer(answer=last, verdict="correct_answer", by=UserFactory())
    assert left_to_judge(UserFactory()).first() == last


def test_figures_outlive_the_conversation_and_what_nobody_can_judge_any_more_goes() -> None:
    assistant = AssistantFactory()
    asked(assistant)
    asked(assistant)
    draw_samples()
    judged, unjudged = SampledAnswer.objects.all()
    for verdict in ("correct_answer", "wrong_answer"):
        judge_answer(answer=judged, verdict=verdict, by=UserFactory())
    Conversation.objects.all().delete()
    draw_samples()
    assert SampledAnswer.objects.get() == judged
    assert not SampledAnswer.objects.filter(pk=unjudged.pk).exists()
    [found] = read_judged(assistant)
    assert found.is_wrong
    assert not found.is_right


def test_a_day_counts_once_all_of_it_is_judged() -> None:
    assistant = AssistantFactory()
    asked(assistant)
    draw_samples()
    sampled(assistant, "correct_answer", "correct_answer")
    waiting = SampledAnswer.objects.exclude(message=None).get()
    judge_answer(answer=waiting, verdict="correct_answer", by=UserFactory())
    assert read_judged(assistant) == []
    judge_answer(answer=waiting, verdict="correct_answer", by=UserFactory())
    assert len(read_judged(assistant)) == 2


def test_weeks_of_few_people_are_hidden() -> None:
    assistant = AssistantFactory()
    monday = datetime.date(2026, 3, 2)
    for _ in range(5):
        sampled(assistant, "correct_answer", "correct_answer", day=monday)
    for _ in range(4):
        sampled(assistant, "wrong_answer", "wrong_answer", day=monday + datetime.timedelta(days=7))
    first, second = by_week(read_judged(assistant), least=5)
    assert (first.share, first.judged) == (1.0, 5)
    assert second.share is None


def test_a_drop_is_noticed_once_and_ends() -> None:
    assistant = AssistantFactory()
    members = [UserFactory(), UserFactory()]
    for days in range(20, 0, -1):
        verdict = "wrong_answer" if days <= 2 else "correct_answer"
        for _ in range(5):
            sampled(assistant, verdict, verdict, day=timezone.localdate() - datetime.timedelta(days=days), by=members)
    [drop] = notice_drops()
    assert (drop.share, drop.share_before) == (0, 1)
    assert drop.first_day == yesterday() - datetime.timedelta(days=1)
    assert notice_drops() == []
    SampleVerdict.objects.update(verdict="correct_answer")
    notice_quality_drops()
    drop.refresh_from_db()
    assert drop.ended_at

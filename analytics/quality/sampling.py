"""Draws the nightly sample: of each assistant the same number of yesterday's answers, each with the same chance."""

import datetime
import random
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from analytics.counts.daily import find_day_bounds
from analytics.models import SampledAnswer, SampleNight
from chat.models import Assistant, Message
from chat.models.experiments import Arm
from chat.pipeline.question import profile_for

Status = Message.Status
#: Those who judge an answer.
REVIEWERS = 2


def draw_samples(day: datetime.date | None = None) -> int:
    """Draw the samples of a day, yesterday's by default, and return how many answers; a second call draws none.

    Rows whose conversation was deleted before two members or the model had judged them are deleted first: nobody can
    judge them any more.
    """
    unjudged = SampledAnswer.objects.filter(message=None, model_verdict="").annotate(count=Count("verdicts"))
    lost = unjudged.filter(count__lt=REVIEWERS)
    SampledAnswer.objects.filter(pk__in=list(lost.values_list("pk", flat=True))).delete()
    chosen = day or timezone.localdate() - datetime.timedelta(days=1)
    return sum(_draw(assistant, chosen) for assistant in Assistant.objects.select_related("profile").order_by("pk"))


def answers_of(assistant: Assistant, day: datetime.date) -> QuerySet[Message]:
    """Return the answers and abstentions of a day that a sample is drawn from: those to questions, as they ended."""
    begins, ends = find_day_bounds(day)
    return Message.objects.filter(
        conversation__assistant=assistant,
        role=Message.Role.ASSISTANT,
        route=Message.Route.QUESTION,
        status__in=(Status.COMPLETE, Status.ABSTAINED),
        is_replaced=False,
        created_at__gte=begins,
        created_at__lt=ends,
    )


def _draw(assistant: Assistant, day: datetime.date) -> int:
    """Draw one assistant's sample; its seed is the day, so that nobody chooses it."""
    with transaction.atomic():
        ids = list(answers_of(assistant, day).order_by("pk").values_list("pk", flat=True))
        _night, is_new = SampleNight.objects.get_or_create(assistant=assistant, day=day, defaults={"asked": len(ids)})
        if not is_new:
            return 0
        chance = random.Random(f"{assistant.pk} {day}")  # noqa: S311 – no secret
        drawn = chance.sample(ids, min(settings.QUALITY_SAMPLE, len(ids)))
        # Locked, so that none is deleted before the rows that name it are saved.
        rows = Message.objects.filter(pk__in=drawn).select_for_update(no_key=True, of=("self",)).order_by("pk")
        rows = rows.select_related("conversation__experiment__profile")
        answers = list(rows)
        visitors = dict(rows.values_list("pk", "conversation__visitor"))
        seen = _visitors_of_the_week(assistant, day)
        made = []
        for answer in answers:
            visitor = visitors[answer.pk]
            made.append(_sampled(answer, assistant, day, is_newcomer=visitor not in seen))
            seen.add(visitor)
        SampledAnswer.objects.bulk_create(made)
        return len(made)


def _visitors_of_the_week(assistant: Assistant, day: datetime.date) -> set[object]:
    monday = day - datetime.timedelta(days=day.weekday())
    rows: Iterable[object] = SampledAnswer.objects.filter(
        assistant=assistant, day__gte=monday, day__lt=day
    ).values_list("message__conversation__visitor", flat=True)
    return set(rows)


def _sampled(answer: Message, assistant: Assistant, day: datetime.date, *, is_newcomer: bool) -> SampledAnswer:
    """Build a row; an answer that staff wrote is shown whatever the evidence for pages is."""
    said = answer.conversation
    tried = said.experiment if said.arm == Arm.OTHER else None
    return SampledAnswer(
        message=answer,
        assistant=assistant,
        day=day,
        evidence=None if answer.office else answer.evidence,
        threshold=profile_for(tried.lay_over(assistant) if tried else assistant).threshold,
        is_shown=answer.status == Status.COMPLETE,
        is_newcomer=is_newcomer,
    )

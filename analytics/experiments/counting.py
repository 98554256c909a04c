"""Counts what became of conversations in experiments: settled days once and for all, the newest ones each time."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from analytics.counts.outcomes import SMALL_TALK, with_outcome
from analytics.experiments.statistics import Tally
from analytics.models import ExperimentCount
from chat.models import Assistant, Conversation, Experiment, Feedback, Message
from chat.models.experiments import Arm

#: Days after which a conversation is settled: by then students have rated it, asked again, or left it with an office.
SETTLES_AFTER = 3
#: Outcomes that nothing spoke against. Silence is no praise, but both arms are met with the same silence.
HELPED = ("confirmed", "silent")


@dataclass(frozen=True, slots=True)
class Counted:
    """Conversations of an arm, and how many of them are of each kind."""

    conversations: int = 0
    newcomers: int = 0
    helped: int = 0
    answered: int = 0
    abstained: int = 0
    disliked: int = 0
    failed: int = 0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def tally(self, name: str) -> Tally:
        return Tally(self.conversations, getattr(self, name))


NAMES = tuple(each.name for each in fields(Counted))


def kept_days(assistant: Assistant) -> int:
    return assistant.keep_conversations_days or settings.RETENTION_DAYS


def settled_day(assistant: Assistant) -> datetime.date:
    """Return the newest day that is settled; sooner where conversations are deleted sooner."""
    return timezone.localdate() - datetime.timedelta(days=min(SETTLES_AFTER, kept_days(assistant)))


def count_until(experiment: Experiment, day: datetime.date) -> None:
    """Count the days that are not counted yet, up to this one. What is counted stays as it is."""
    rows = _by_day(_uncounted(experiment).filter(day__lte=day), "day", "arm")
    ExperimentCount.objects.bulk_create(
        ExperimentCount(experiment=experiment, day=row["day"], arm=row["arm"], **_counts(row)) for row in rows
    )


def days_of(experiment: Experiment) -> list[tuple[datetime.date, Counted, Counted]]:
    """Return the counted days, oldest first: the arm as now, and the other one."""
    found: dict[datetime.date, dict[str, Counted]] = {}
    for row in ExperimentCount.objects.filter(experiment=experiment).order_by("day").values():
        found.setdefault(row["day"], {})[row["arm"]] = Counted(**_counts(row))
    return [(day, arms.get(Arm.NOW, Counted()), arms.get(Arm.OTHER, Counted())) for day, arms in found.items()]


def newest_of(experiment: Experiment) -> tuple[Counted, Counted]:
    """Return what is not counted yet, as it stands now."""
    arms = {row["arm"]: Counted(**_counts(row)) for row in _by_day(_uncounted(experiment), "arm")}
    return arms.get(Arm.NOW, Counted()), arms.get(Arm.OTHER, Counted())


def recent_of(assistant: Assistant, days: int) -> Counted:
    """Return what became of the conversations of the last days that an experiment could have split."""
    since = timezone.now() - datetime.timedelta(days=days)
    # Programs bring their history along: each of their questions is a conversation of its own, and is never split.
    begun = Conversation.objects.filter(assistant=assistant, created_at__gte=since, visitor__api_clients=None)
    return next((Counted(**_counts(row)) for row in _by_day(_with_day(begun), "assistant")), Counted())


def _uncounted(experiment: Experiment) -> "QuerySet[Any]":
    rows = _with_day(Conversation.objects.filter(experiment=experiment))
    counted = ExperimentCount.objects.filter(experiment=experiment).order_by("-day").values_list("day", flat=True)
    latest = counted.first()
    return rows.filter(day__gt=latest) if latest else rows


def _with_day(conversations: QuerySet[Conversation]) -> "QuerySet[Any]":
    zone = timezone.get_default_timezone()
    return conversations.annotate(
        day=TruncDate("created_at", tzinfo=zone), agreed=TruncDate("visitor__consented_at", tzinfo=zone)
    )


def _by_day(conversations: "QuerySet[Any]", *by: str) -> Iterable[dict[str, Any]]:
    answers = Message.objects.filter(conversation=OuterRef("pk"), role=Message.Role.ASSISTANT, is_replaced=False)
    asked = answers.exclude(route__in=SMALL_TALK)
    disliked = Feedback.objects.filter(message__conversation=OuterRef("pk"), value=-1)
    rows = with_outcome(conversations).exclude(outcome="")
    rows = rows.annotate(
        has_abstained=Exists(asked.filter(status=Message.Status.ABSTAINED)),
        has_failed=Exists(asked.filter(status=Message.Status.FAILED)),
        is_disliked=Exists(disliked),
    )
    grouped: Iterable[dict[str, Any]] = (
        rows.order_by(*by)
        .values(*by)
        .annotate(
            conversations=Count("pk"),
            newcomers=Count("visitor", distinct=True, filter=Q(agreed=F("day"))),
            helped=Count("pk", filter=Q(outcome__in=HELPED)),
            answered=Count("pk", filter=Q(has_abstained=False, has_failed=False)),
            abstained=Count("pk", filter=Q(has_abstained=True)),
            disliked=Count("pk", filter=Q(is_disliked=True)),
            failed=Count("pk", filter=Q(has_failed=True)),
        )
    )
    return grouped


def _counts(row: Mapping[str, Any]) -> dict[str, int]:
    return {name: row[name] for name in NAMES}

"""Services of experiments: plan, start, look, and end."""

import datetime
import json
import logging
import math
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.experiments.counting import (
    SETTLES_AFTER,
    Counted,
    count_until,
    days_of,
    kept_days,
    newest_of,
    recent_of,
    settled_day,
)
from analytics.experiments.statistics import (
    Decision,
    Plan,
    Rule,
    conversations_needed,
    decide,
    is_surely_worse,
)
from chat.models import Assistant, Experiment
from chat.pipeline.moment import describe_profile
from chat.pipeline.question import assistant_config
from chat.services.profiles import check_usable
from core.inference.llm import client

logger = logging.getLogger(__name__)

State, Ending = Experiment.State, Experiment.Ending
#: What ends the other arm at once, in this order.
GUARDS = (Ending.FAILED, Ending.ABSTAINED, Ending.DISLIKED)
#: Days that a plan looks back on, conversations that it takes the share from, and the share without so many: the one
#: that needs the most.
LOOKS_BACK, LEAST_KNOWN, UNKNOWN = 28, 30, 0.5
LONGEST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Outlook:
    """The conversations and days that a plan needs; `days` is None if there were no conversations lately."""

    baseline: float
    is_known: bool
    needed: int
    a_day: float
    days: int | None

    @property
    def is_too_long(self) -> bool:
        return self.days is None or self.days > LONGEST_DAYS


def plan_of(experiment: Experiment) -> Plan:
    return Plan(Rule(experiment.rule), experiment.needed or 0, experiment.share / 100)


def foresee(experiment: Experiment) -> Outlook:
    """Return what the plan needs, from the share and the traffic of the last weeks."""
    back = min(LOOKS_BACK, kept_days(experiment.assistant))
    recent = recent_of(experiment.assistant, back)
    is_known = recent.conversations >= LEAST_KNOWN
    baseline = recent.tally(experiment.measure).share if is_known else UNKNOWN
    difference = experiment.least_difference / 100
    needed = conversations_needed(Rule(experiment.rule), baseline, difference, experiment.share / 100)
    a_day = recent.conversations / back
    days = math.ceil(needed / a_day) + SETTLES_AFTER if a_day else None
    return Outlook(baseline, is_known, needed, a_day, days)


def describe_arms(experiment: Experiment) -> dict[str, Any]:
    """Return the settings of both arms as they answer now."""
    assistant = Assistant.objects.select_related("profile", "prompt").get(pk=experiment.assistant_id)
    arms = {"now": _described(assistant, None), "other": _described(assistant, experiment)}
    described: dict[str, Any] = json.loads(json.dumps(arms | {"tried": tried_settings(experiment)}))
    return described


def tried_settings(experiment: Experiment) -> list[str]:
    """Return the names of the settings that the other arm has a value of its own for."""
    return [*experiment.overrides, *(["collections"] if experiment.collections.exists() else [])]


def _described(assistant: Assistant, experiment: Experiment | None) -> dict[str, Any]:
    ask = assistant_config(assistant, assistant.languages[0], experiment)
    return {
        "profile": asdict(describe_profile(ask.profile)),
        "instructions": [ask.template.name, ask.template.system, ask.template.question],
        "uses_model": ask.uses_model,
        "model": [ask.sampling.model, ask.sampling.temperature, ask.sampling.max_tokens],
        "strictness": ask.strictness.value,
        "persona": ask.persona,
        "collections": sorted(ask.collections),
    }


@transaction.atomic
def start_experiment(*, experiment: Experiment, by: AbstractBaseUser) -> Experiment:
    """Split new conversations from now on; what is asked is fixed. Raise ValidationError."""
    Assistant.objects.select_for_update(no_key=True).get(pk=experiment.assistant_id)
    row = (
        Experiment.objects.select_for_update(of=("self",)).select_related("assistant", "profile").get(pk=experiment.pk)
    )
    check_start(row)
    outlook = foresee(row)
    if outlook.is_too_long:
        raise ValidationError(_("It would take longer than a year. Choose a larger difference, or equal shares."))
    row.state, row.started_at, row.started_by_id = State.RUNNING, timezone.now(), by.pk
    row.baseline, row.needed, row.began_with = outlook.baseline, outlook.needed, describe_arms(row)
    row.save()
    return row


def check_start(experiment: Experiment) -> None:
    """Raise ValidationError where an experiment could not begin, or could tell nothing."""
    if not experiment.is_draft:
        raise ValidationError(_("This experiment was started before."))
    if Experiment.objects.running().filter(assistant=experiment.assistant_id).exists():
        raise ValidationError(_("Another experiment of this assistant is running."))
    arms = describe_arms(experiment)
    if arms["now"] == arms["other"]:
        raise ValidationError(_("Both arms are the same: choose a setting that differs from the assistant’s own."))
    if experiment.profile:
        check_usable(experiment.profile)
    writes = client.is_configured() and experiment.assistant.uses_model
    of_pages = ("profile", "collections")
    if not writes and all(arms["now"][name] == arms["other"][name] for name in of_pages):
        raise ValidationError(
            _("No language model writes for this assistant: its instructions and name change nothing.")
        )


def look_at_experiments() -> None:
    """Count, end and decide what is due; each experiment in a transaction of its own."""
    for key in list(Experiment.objects.running().order_by("pk").values_list("pk", flat=True)):
        _look_at(key)


@transaction.atomic
def _look_at(key: int) -> None:
    experiment = _running(key)
    if experiment is None:
        return
    if describe_arms(experiment) != experiment.began_with:
        _end(experiment, Ending.CHANGED)
        _record_end(experiment)
        return
    count_until(experiment, settled_day(experiment.assistant))
    if broken := broken_guard(experiment):
        _end(experiment, broken)
        _record_end(experiment)
    elif decision := decision_of(experiment):
        experiment.state, experiment.ended_at = State.ENDED, timezone.now()
        experiment.ending = Ending(decision.verdict.value)
        experiment.save(update_fields=["state", "ended_at", "ending"])
        logger.info("experiment decided experiment=%d ending=%s", experiment.pk, experiment.ending)
        _record_end(experiment)


def _record_end(experiment: Experiment) -> None:
    """Write into the audit log that it ended by itself, for whoever started it: an entry needs somebody."""
    if experiment.started_by_id:
        said = _("Ended by itself: %(why)s") % {"why": experiment.get_ending_display()}
        LogEntry.objects.log_actions(experiment.started_by_id, [experiment], CHANGE, said, single_object=True)


def _running(key: int) -> Experiment | None:
    rows = Experiment.objects.running().select_for_update(of=("self",)).select_related("assistant", "profile", "prompt")
    return rows.filter(pk=key).first()


def broken_guard(experiment: Experiment) -> Experiment.Ending | None:
    """Return the guard rail that the other arm has surely broken, with the newest conversations as they stand."""
    now, other = totals_of(experiment, with_newest=True)
    margin = experiment.guard_margin / 100
    names = {guard: guard.value for guard in GUARDS}
    return next(
        (each for each in GUARDS if is_surely_worse(now.tally(names[each]), other.tally(names[each]), margin)), None
    )


def decision_of(experiment: Experiment) -> Decision | None:
    """Return what the settled days decide by the experiment's own rule."""
    tallies = [
        (now.tally(experiment.measure), other.tally(experiment.measure)) for _day, now, other in days_of(experiment)
    ]
    return decide(tallies, plan_of(experiment))


def totals_of(experiment: Experiment, *, with_newest: bool = False, days: int | None = None) -> tuple[Counted, Counted]:
    """Return the sums of both arms, of the first so many days or of all."""
    counted = days_of(experiment)[:days]
    now = sum((each for _day, each, _other in counted), Counted())
    other = sum((each for _day, _now, each in counted), Counted())
    if not with_newest:
        return now, other
    more_now, more_other = newest_of(experiment)
    return now + more_now, other + more_other


def _end(experiment: Experiment, ending: Experiment.Ending) -> None:
    """End what is not decided, and count what there is: it decides nothing any more, so it need not settle."""
    count_until(experiment, timezone.localdate())
    experiment.state, experiment.ending, experiment.ended_at = State.ENDED, ending, timezone.now()
    experiment.save(update_fields=["state", "ending", "ended_at"])
    logger.info("experiment ended experiment=%d ending=%s", experiment.pk, ending)


@transaction.atomic
def stop_experiment(*, experiment: Experiment) -> Experiment:
    """Answer everybody as now from the next question on. Raise ValidationError unless it is running."""
    row = _running(experiment.pk)
    if row is None:
        raise ValidationError(_("This experiment is not running."))
    _end(row, Ending.STOPPED)
    return row


def count_before_deletion(assistant: Assistant, before: datetime.datetime) -> None:
    """Count the days whose conversations are about to be deleted: those without a message since `before`."""
    day = timezone.localtime(before).date()
    for experiment in Experiment.objects.running().filter(assistant=assistant).select_related("assistant"):
        count_until(experiment, day)

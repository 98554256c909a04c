"""An experiment as its page tells it: what it needs before it starts, and both arms side by side, in words."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.dashboard.formatting import MINUS, decimal, percent, whole
from analytics.experiments.adoption import may_adopt, may_take_back
from analytics.experiments.counting import Counted
from analytics.experiments.services import (
    GUARDS,
    decision_of,
    foresee,
    totals_of,
    tried_settings,
)
from analytics.experiments.statistics import LEVEL, Decision
from chat.models import Experiment

Ending = Experiment.Ending
#: The figures of an arm, in the order of the table.
FIGURES: dict[str, Promise] = {
    "helped": gettext_lazy("Answered, and nothing spoke against it"),
    "answered": gettext_lazy("No question stayed without an answer"),
    "abstained": gettext_lazy("With a question without an answer"),
    "disliked": gettext_lazy("With a thumb down"),
    "failed": gettext_lazy("With an answer that failed"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A figure of both arms; `decides` marks the one that was chosen before."""

    label: str
    now: str
    other: str
    decides: bool = False


def build_outlook(experiment: Experiment) -> dict[str, Any]:
    """Describe what the plan of an experiment needs that has not started."""
    outlook = foresee(experiment)
    return {
        "needed": whole(outlook.needed),
        "a_day": decimal(outlook.a_day),
        "days": outlook.days,
        "is_too_long": outlook.is_too_long,
        "baseline": percent(outlook.baseline),
        "is_known": outlook.is_known,
        "has_settings": bool(tried_settings(experiment)),
    }


def build_result(experiment: Experiment, *, sees_small_groups: bool) -> dict[str, Any]:
    """Describe an experiment that runs or has ended; its figures are hidden where they tell of few people."""
    decision = decision_of(experiment) if experiment.ending in {Ending.OTHER, Ending.NOW, Ending.NONE} else None
    now, other = totals_of(experiment, days=decision.days if decision else None)
    least = 1 if sees_small_groups else settings.SMALLEST_GROUP
    hides = min(now.newcomers, other.newcomers) < least
    done = now.conversations + other.conversations
    return {
        "sentence": describe_result(experiment, None if hides else decision),
        "least": settings.SMALLEST_GROUP,
        "hides": hides,
        "lines": [] if hides else list_figures(experiment, now, other),
        "needed": whole(experiment.needed or 0),
        "done": None if hides else whole(done),
        "share_now": percent(1 - experiment.share / 100),
        "share_other": percent(experiment.share / 100),
        "interval": None if hides or decision is None else describe_interval(decision),
        "may_adopt": may_adopt(experiment),
        "may_take_back": may_take_back(experiment),
        "is_guarded": experiment.ending in GUARDS,
    }


def list_figures(experiment: Experiment, now: Counted, other: Counted) -> list[Line]:
    counts = Line(_("Settled conversations"), whole(now.conversations), whole(other.conversations))
    shares = [
        Line(
            str(label),
            _share(getattr(now, name), now.conversations),
            _share(getattr(other, name), other.conversations),
            name == experiment.measure,
        )
        for name, label in FIGURES.items()
    ]
    return [counts, *shares]


def _share(count: int, of: int) -> str:
    return f"{decimal(count / of * 100 if of else 0)}\N{NO-BREAK SPACE}% ({whole(count)})"


def describe_result(experiment: Experiment, decision: Decision | None) -> str:
    """Say in a sentence what came of an experiment, or what it waits for."""
    if experiment.is_running:
        if experiment.rule == Experiment.Rule.FIXED:
            return _(
                "It is running. Nothing is decided before the planned conversations are there, whatever figures say."
            )
        return _("It is running, and looked at every night. It ends by itself once the difference is clear.")
    if decision is None:
        return _("%(result)s.") % {"result": experiment.get_ending_display()}
    facts = {"points": describe_points(abs(decision.difference)), "measure": experiment.get_measure_display()}
    if experiment.ending == Ending.OTHER:
        return _("The other settings are better, by %(points)s (“%(measure)s”).") % facts
    if experiment.ending == Ending.NOW:
        return _("The settings as now are better, by %(points)s (“%(measure)s”).") % facts
    said = _("No difference was shown (“%(measure)s”). If there is one, it is probably smaller than %(least)s.")
    return said % {**facts, "least": describe_points(experiment.least_difference / 100)}


def describe_interval(decision: Decision) -> str:
    said = _("%(difference)s, with a certainty of %(sure)s between %(low)s and %(high)s")
    return said % {
        "difference": describe_points(decision.difference, signed=True),
        "sure": percent(1 - LEVEL),
        "low": describe_points(decision.low, signed=True),
        "high": describe_points(decision.high, signed=True),
    }


def describe_points(share: float, *, signed: bool = False) -> str:
    """Format a difference of shares in points, such as “+3.5 points”."""
    sign = ("+" if share > 0 else MINUS if share < 0 else "±") if signed else ""
    points = round(abs(share * 100), 1)
    figure = whole(points) if points == round(points) else decimal(points)
    said = ngettext("%(figure)s point", "%(figure)s points", 1 if figure == "1" else 2)
    return sign + said % {"figure": figure}

"""Reports a trial in words: its table, and whether the model helps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.model_trials.outcomes import LAYOUT_BY_CODE, OWN, QUOTES, Outcome, Tally, best_layouts, tally
from analytics.models import ModelTrial
from chat.prompt_template import Layout


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table; `is_used` is how the assistant answers from now on if its model is on."""

    label: str
    tally: Tally
    is_used: bool = False

    @property
    def held_back(self) -> str:
        """Return the share of answers that a page was quoted in, in percent."""
        return f"{self.tally.held_back:.0%}".replace("%", " %")


@dataclass(frozen=True, slots=True)
class Report:
    """`lines` are quoting alone, then the layouts, the best first; `verdict` are the sentences of a finished trial."""

    lines: Sequence[Line]
    verdict: Sequence[str] = ()
    helps: bool = False


def describe_layout(layout: Layout) -> str:
    """Say a layout in words."""
    parts = [
        _("may refuse") if layout.may_refuse else _("may not refuse"),
        _("question before the sources") if layout.is_question_first else _("sources before the question"),
        _("%(count)d passages at most") % {"count": layout.most_sources} if layout.most_sources else _("all passages"),
    ]
    return ", ".join(parts)


def describe_way(way: str, trial: ModelTrial) -> str:
    if way == QUOTES:
        return _("Quoting alone, without a model")
    if way == OWN:
        return _("Your instructions %(name)s") % {"name": trial.prompt}
    return describe_layout(LAYOUT_BY_CODE[way])


def describe_progress(trial: ModelTrial) -> str:
    """Say in one sentence how far a trial is, and about how long it takes yet."""
    if trial.state == ModelTrial.State.QUEUED:
        return _("Waits for its turn.")
    if trial.state != ModelTrial.State.RUNNING:
        return _(trial.message) if trial.message else ""
    if not trial.total:
        return _("Chooses the questions.")
    said = _("%(done)d of %(total)d answers so far.") % {"done": trial.done, "total": trial.total}
    return f"{said} {estimate(trial)}".strip()


def estimate(trial: ModelTrial) -> str:
    """Estimate the time left from the answers so far; empty before the first one."""
    seconds = [outcome["seconds"] for outcome in trial.outcomes if outcome["way"] != QUOTES]
    if not seconds:
        return ""
    left = timedelta(seconds=sum(seconds) / len(seconds) * max(0, trial.total - trial.done))
    minutes = max(1, round(left.total_seconds() / 60))
    return ngettext("About %(count)d minute is left.", "About %(count)d minutes are left.", minutes) % {
        "count": minutes
    }


def make_report(trial: ModelTrial) -> Report:
    """Sum a trial up, also one that is not at its end."""
    outcomes = [Outcome.of(stored) for stored in trial.outcomes]
    quotes = tally(QUOTES, outcomes)
    if quotes is None:
        return Report([])
    layouts = [each for each in (tally(way, outcomes) for way in LAYOUT_BY_CODE) if each]
    # Only those that were asked everything can be the best.
    full = [each.way for each in layouts if each.asked == quotes.asked]
    layouts.sort(key=lambda each: (-each.asked, -each.standing, each.seconds))
    own = tally(OWN, outcomes)
    used = ""
    if trial.state == ModelTrial.State.FINISHED:
        used = OWN if own else best_layouts(outcomes, among=full, count=1)[0]
    lines = [
        Line(describe_way(each.way, trial), each, each.way == used)
        for each in (quotes, *([own] if own else []), *layouts)
    ]
    if not used:
        return Report(lines)
    (chosen,) = (line.tally for line in lines if line.tally.way == used)
    best = next(each for each in layouts if each.way in full)
    verdict = [_compare(chosen, quotes), _compare_wrong(chosen, quotes)]
    if own and best.standing > own.standing:
        said = _("The built-in instructions did better than yours: %(right)d of %(count)d right.")
        verdict.append(said % {"right": best.right, "count": best.answerable})
    return Report(lines, [each for each in verdict if each], chosen.standing > quotes.standing)


def _compare(chosen: Tally, quotes: Tally) -> str:
    values = {"right": chosen.right, "quoted": quotes.right, "count": quotes.answerable}
    if chosen.standing > quotes.standing:
        said = _("This model helps: %(right)d of %(count)d questions right, quoting alone %(quoted)d of %(count)d.")
    elif chosen.standing == quotes.standing:
        said = _(
            "Quoting alone is as good, and quicker: %(quoted)d of %(count)d questions right, with this model "
            "%(right)d of %(count)d."
        )
    else:
        said = _(
            "Quoting alone is better: %(quoted)d of %(count)d questions right, with this model %(right)d of %(count)d."
        )
    return said % values


def _compare_wrong(chosen: Tally, quotes: Tally) -> str:
    if not quotes.withheld:
        return ""
    said = _(
        "Of %(count)d questions that no page answers, %(wrong)d got an answer with this model, %(quoted)d by quoting."
    )
    return said % {"count": quotes.withheld, "wrong": chosen.wrong, "quoted": quotes.wrong}

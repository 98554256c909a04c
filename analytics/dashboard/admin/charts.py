"""The dashboard's charts: each with a sentence, a table of the same numbers, and what the browser draws."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.dashboard.admin.form import STEP_NAMES
from analytics.dashboard.admin.links import Links
from analytics.dashboard.formatting import highest, hour_name, long_name, percent, short_name, told, whole
from analytics.dashboard.overview import Overview
from analytics.dashboard.types import Point
from analytics.dashboard.visibility import View
from chat.models import Feedback

Series = Mapping[str, str | Promise]

USE: Series = {
    "questions": gettext_lazy("Questions"),
    "conversations": gettext_lazy("Conversations"),
    "visitors": gettext_lazy("Visitors"),
}
ANSWERS: Series = {
    "answered": gettext_lazy("Answered"),
    "abstained": gettext_lazy("Abstained"),
    "asked_back": gettext_lazy("Asked back"),
    "failed": gettext_lazy("Failed"),
    "stopped": gettext_lazy("Stopped"),
}
OPINIONS: Series = {"thumbs_up": gettext_lazy("Thumbs up"), "thumbs_down": gettext_lazy("Thumbs down")}
TOKENS: Series = {"prompt_tokens": gettext_lazy("Tokens read"), "answer_tokens": gettext_lazy("Tokens written")}


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: Sequence[str]
    link: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """`drawn` is what `dashboard.js` reads: kind, labels, series of numbers (null where not told), links."""

    name: str
    title: str
    summary: str
    head: Sequence[str]
    rows: Sequence[Row]
    drawn: Mapping[str, Any]

    @property
    def data_id(self) -> str:
        return f"chart-{self.name}-data"


def charts_of(found: Overview, view: View, links: Links) -> list[Chart]:
    """Those that have something to show, in the order of the page."""
    made = _Making(found, view, links)
    now = found.now
    charts = [made.over_time("use", _("Use over time"), "line", USE, made.use_said())]
    if now.answered + now.abstained + now.asked_back + now.failed + now.stopped:
        charts.append(made.over_time("answers", _("Answers over time"), "stacked", ANSWERS, made.answers_said()))
    if now.thumbs_up or now.thumbs_down:
        charts.append(made.over_time("opinions", _("Opinions over time"), "bars", OPINIONS, made.opinions_said()))
    if now.questions:
        charts.append(made.hours())
    if any(count != 0 for count in found.spread.reasons.values()):
        charts.append(made.reasons())
    if now.prompt_tokens + now.answer_tokens:
        charts.append(made.over_time("tokens", _("Tokens over time"), "stacked", TOKENS, made.tokens_said()))
    return charts


@dataclass(frozen=True, slots=True)
class _Making:
    found: Overview
    view: View
    links: Links

    def over_time(self, name: str, title: str, kind: str, series: Series, summary: str) -> Chart:
        points = self.found.points
        links = [self.links.step(point.start) for point in points]
        rows = [
            Row(
                long_name(point.start, self.view.step),
                [told(_value(point, field)) for field in series],
                link,
                "" if point.is_whole else _("in part"),
            )
            for point, link in zip(points, links, strict=True)
        ]
        drawn = _drawn(
            kind,
            [short_name(point.start, self.view.step) for point in points],
            {label: [_value(point, field) for point in points] for field, label in series.items()},
            links,
        )
        head = [str(STEP_NAMES[self.view.step]), *map(str, series.values())]
        return Chart(name, title, summary, head, rows, drawn)

    def hours(self) -> Chart:
        now, before = self.found.spread.hours, self.found.spread_before
        columns = {_("This period"): now} | ({_("Period before"): before.hours} if before else {})
        links = [self.links.asked(hour=hour) for hour in range(len(now))]
        names = [hour_name(hour) for hour in range(len(now))]
        most = highest(now)
        summary = ""
        if most is not None:
            summary = _("Most questions are asked from %(hour)s to %(next)s.") % {
                "hour": hour_name(most),
                "next": hour_name((most + 1) % len(now)),
            }
        return self._compared("hours", _("Hours of the day"), summary, _("Hour"), "hours", names, columns, links)

    def reasons(self) -> Chart:
        codes = list(self.found.spread.reasons)
        columns = {_("This period"): [self.found.spread.reasons[code] for code in codes]}
        if before := self.found.spread_before:
            columns[_("Period before")] = [before.reasons[code] for code in codes]
        names = [str(Feedback.Reason(code).label) for code in codes]
        most = highest(next(iter(columns.values())))
        summary = _("Why thumbs went down; a student may give several reasons.")
        if most is not None:
            most_often = _("Most often: %(reason)s.") % {"reason": names[most]}
            summary = f"{most_often} {summary}"
        links = [self.links.asked(reason=code) for code in codes]
        return self._compared("reasons", _("Reasons"), summary, _("Reason"), "horizontal", names, columns, links)

    def _compared(
        self,
        name: str,
        title: str,
        summary: str,
        head: str,
        kind: str,
        names: Sequence[str],
        columns: Mapping[str, Sequence[int | None]],
        links: Sequence[str],
    ) -> Chart:
        values: Iterable[tuple[int | None, ...]] = zip(*columns.values(), strict=True)
        rows = [
            Row(label, [told(value) for value in row], link)
            for label, row, link in zip(names, values, links, strict=True)
        ]
        return Chart(name, title, summary, [head, *columns], rows, _drawn(kind, names, columns, links))

    # --- what a chart says, in a sentence ---

    def use_said(self) -> str:
        questions = self.found.now.questions
        said = ngettext("%(count)s question", "%(count)s questions", questions) % {"count": whole(questions)}
        values = [_value(point, "questions") for point in self.found.points]
        most = highest(values)
        if most is None:
            return f"{said}."
        when = long_name(self.found.points[most].start, self.view.step)
        highest_said = _("most of them: %(when)s, %(most)s") % {"when": when, "most": whole(values[most] or 0)}
        return f"{said}; {highest_said}."

    def answers_said(self) -> str:
        now = self.found.now
        ended = now.answered + now.abstained + now.asked_back + now.failed + now.stopped
        return _("%(answered)s answered, %(abstained)s abstained.") % {
            "answered": percent(now.answered / ended),
            "abstained": percent(now.abstained / ended),
        }

    def opinions_said(self) -> str:
        share = self.found.now.liked_share
        return "" if share is None else _("%(share)s of all thumbs went up.") % {"share": percent(share)}

    def tokens_said(self) -> str:
        now = self.found.now
        each = whole((now.prompt_tokens + now.answer_tokens) / now.questions) if now.questions else whole(0)
        return _("%(count)s tokens a question.") % {"count": each}


def _value(point: Point, field: str) -> int | None:
    if point.totals is None:
        return None
    value: int = getattr(point.totals, field)
    return value


def _drawn(
    kind: str, labels: Sequence[str], series: Mapping[Any, Sequence[int | None]], links: Sequence[str]
) -> dict[str, Any]:
    return {
        "kind": kind,
        "labels": list(labels),
        "series": [{"label": str(label), "values": list(values)} for label, values in series.items()],
        "links": list(links) if any(links) else [],
    }

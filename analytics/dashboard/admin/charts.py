"""The charts of the dashboard."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.charts import Chart, ChartRow, Suppression, chart_data, chart_top
from analytics.counts.outcomes import OUTCOMES
from analytics.dashboard.admin.cards import CONTACTS
from analytics.dashboard.admin.form import STEP_NAMES, site_names
from analytics.dashboard.admin.links import Links
from analytics.dashboard.annotations import Annotations
from analytics.dashboard.formatting import count_text, highest, hour_name, long_name, percent, short_name, whole
from analytics.dashboard.overview import Choices, Overview
from analytics.dashboard.types import Point
from analytics.dashboard.visibility import View
from chat.models import Feedback
from chat.models.assistants import Language

Series = Mapping[str, str | Promise]

USE: Series = {
    "questions": gettext_lazy("Questions"),
    "conversations": gettext_lazy("Conversations"),
    "visitors": gettext_lazy("Visitors"),
}
ANSWERS: Series = {
    "answered": gettext_lazy("Answered"),
    "abstained": gettext_lazy("No answer given"),
    "asked_back": gettext_lazy("Asked back"),
    "failed": gettext_lazy("Failed"),
    "stopped": gettext_lazy("Stopped"),
}
OPINIONS: Series = {"thumbs_up": gettext_lazy("Thumbs up"), "thumbs_down": gettext_lazy("Thumbs down")}
TOKENS: Series = {"prompt_tokens": gettext_lazy("Tokens read"), "answer_tokens": gettext_lazy("Tokens written")}


def build_charts(found: Overview, choices: Choices, links: Links, happened: Annotations | None = None) -> list[Chart]:
    """Return the charts that have something to show, in the order of the page."""
    return [
        *build_time_charts(found, links, happened or {}),
        *build_part_charts(found, choices, links, PartNames(_("This period"), _("Period before"))),
    ]


def build_time_charts(found: Overview, links: Links, happened: Annotations) -> list[Chart]:
    """Return the charts over time."""
    step = found.view.step
    # All of these charts have the same steps.
    steps = [_Step(short_name(at.start, step), long_name(at.start, step), links.step(at.start)) for at in found.points]
    builder = _ChartBuilder(found, found.view, links, happened=happened, steps=steps)
    now = found.now
    charts = [builder.over_time("use", _("Use over time"), "line", USE, builder.use_summary())]
    if now.answered + now.abstained + now.asked_back + now.failed + now.stopped:
        charts.append(
            builder.over_time("answers", _("Answers over time"), "stacked", ANSWERS, builder.answers_summary())
        )
    if now.outcomes:
        charts.append(
            builder.over_time(
                "outcomes", _("What became of conversations over time"), "stacked", OUTCOMES, builder.outcomes_summary()
            )
        )
    if now.contact_email or now.contact_phone or now.contact_page:
        charts.append(
            builder.over_time("contacts", _("Contacts used over time"), "stacked", CONTACTS, builder.contacts_summary())
        )
    if now.thumbs_up or now.thumbs_down:
        charts.append(
            builder.over_time("opinions", _("Opinions over time"), "bars", OPINIONS, builder.opinions_summary())
        )
    if now.prompt_tokens + now.answer_tokens:
        charts.append(builder.over_time("tokens", _("Tokens over time"), "stacked", TOKENS, builder.tokens_summary()))
    return charts


@dataclass(frozen=True, slots=True)
class PartNames:
    """The names of both columns of charts that compare, and the splits that these leave out."""

    now: str
    before: str
    without: Collection[str] = ()


def build_part_charts(found: Overview, choices: Choices, links: Links, names: PartNames) -> list[Chart]:
    """Return the charts of the period's parts: by hour, reason, assistant, site and language."""
    builder = _ChartBuilder(found, found.view, links, names)
    charts = []
    if found.now.questions:
        charts.append(builder.hours())
    if any(count != 0 for count in found.spread.reasons.values()):
        charts.append(builder.reasons())
    return [*charts, *builder.splits(choices)]


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a comparison: `found` is None if it is about too few people."""

    name: str
    found: Overview | None
    links: Links
    happened: Annotations

    @property
    def charts(self) -> dict[str, Chart]:
        """Return its charts over time by their names."""
        if self.found is None or self.found.now.is_empty:
            return {}
        return {chart.name: chart for chart in build_time_charts(self.found, self.links, self.happened)}


def pair_charts(one: Side, another: Side) -> list[list[Chart | None]]:
    """Return the charts over time in pairs: both views side by side, on one scale. None: nothing to show."""
    mine, others, names = one.charts, another.charts, (one.name, another.name)
    return [_pair(mine.get(name), others.get(name), names) for name in dict.fromkeys((*mine, *others))]


def _pair(mine: Chart | None, other: Chart | None, names: tuple[str, str]) -> list[Chart | None]:
    highest = max(chart_top(chart.data) for chart in (mine, other) if chart)
    return [
        chart
        and replace(
            chart,
            name=f"{chart.name}{suffix}",
            title=f"{chart.title}: {name}",
            data={**chart.data, "top": highest},
        )
        for chart, name, suffix in zip((mine, other), names, ("", "-other"), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Step:
    """A day, week or month: its name on an axis and in a table, and where it leads."""

    short: str
    long: str
    link: str


@dataclass(frozen=True, slots=True)
class _ChartBuilder:
    found: Overview
    view: View
    links: Links
    names: PartNames = PartNames("", "")
    happened: Annotations = field(default_factory=dict)
    steps: Sequence[_Step] = ()

    def over_time(self, name: str, title: str, kind: str, series: Series, summary: str) -> Chart:
        points = self.found.points
        columns = [[_value(point, field) for point in points] for field in series]
        counts: Iterable[tuple[int | None, ...]] = zip(*columns, strict=True)
        rows = [
            ChartRow(
                step.long,
                [*map(count_text, values), *self._told(point)],
                step.link,
                "" if point.is_whole else _("in part"),
            )
            for point, step, values in zip(points, self.steps, counts, strict=True)
        ]
        data = chart_data(
            kind,
            [step.short for step in self.steps],
            dict(zip(series.values(), columns, strict=True)),
            [step.link for step in self.steps],
        )
        head = [str(STEP_NAMES[self.view.step]), *map(str, series.values())]
        if self.happened:
            head.append(_("What happened"))
            data["marks"] = [list(self.happened.get(point.start, ())) for point in points]
        suppression = Suppression(self.view.least, self.view.step, has_choices=True)
        return Chart(name, title, summary, head, rows, data, suppression)

    def _told(self, point: Point) -> list[str]:
        """Return the cell of what happened, if anything did in the period."""
        return ["; ".join(self.happened.get(point.start, ()))] if self.happened else []

    def hours(self) -> Chart:
        now, before = self.found.spread.hours, self.found.spread_before
        columns = {self.names.now: now} | ({self.names.before: before.hours} if before else {})
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
        columns = {self.names.now: [self.found.spread.reasons[code] for code in codes]}
        if before := self.found.spread_before:
            columns[self.names.before] = [before.reasons[code] for code in codes]
        names = [str(Feedback.Reason(code).label) for code in codes]
        most = highest(next(iter(columns.values())))
        summary = _("Why thumbs went down; a student may give several reasons.")
        if most is not None:
            most_often = _("Most often: %(reason)s.") % {"reason": names[most]}
            summary = f"{most_often} {summary}"
        links = [self.links.asked(reason=code) for code in codes]
        return self._compared("reasons", _("Reasons"), summary, _("Reason"), "horizontal", names, columns, links)

    def splits(self, choices: Choices) -> list[Chart]:
        """Return a chart by assistant, site and language each, unless the view holds one of them alone."""
        if not self.found.now.questions:
            return []
        assistants = {str(pk): name for pk, name in choices.assistants.items()}
        sites = {str(pk): name for pk, name in site_names(choices, of_one=self.view.assistant is not None).items()}
        languages = {str(code): str(label) for code, label in Language.choices}
        wanted: Sequence[tuple[str, str, str, Mapping[str, str], str]] = [
            ("assistant", _("Assistants"), _("Assistant"), assistants, "assistant__id__exact"),
            ("site", _("Pages with the chat"), _("Page with the chat"), sites, "site"),
            ("language", _("Languages"), _("Language"), languages, "language"),
        ]
        return [
            self._split(name, title, head, names, parameter)
            for name, title, head, names, parameter in wanted
            if self.found.spread.parts[name] and not getattr(self.view, name) and name not in self.names.without
        ]

    def _split(self, name: str, title: str, head: str, names: Mapping[str, str], parameter: str) -> Chart:
        now = self.found.spread.parts[name]
        before = self.found.spread_before.parts[name] if self.found.spread_before else {}
        keys = sorted(now, key=lambda key: -now[key].questions)
        labels = [names.get(key) or (_("deleted") if key else _("none")) for key in keys]
        columns: dict[str, list[int | None]] = {self.names.now: [now[key].questions for key in keys]}
        if before:
            # A part that is missing was suppressed, unless nothing is.
            missing = None if self.view.least > 1 else 0
            columns[self.names.before] = [before[key].questions if key in before else missing for key in keys]
        links = [self.links.asked(**{parameter: key}) if key in names else "" for key in keys]
        shares = [percent(now[key].questions / self.found.now.questions) for key in keys]
        summary = _("%(name)s: %(share)s of all questions.") % {"name": labels[0], "share": shares[0]}
        chart = self._compared(name, title, summary, head, "horizontal", labels, columns, links)
        rows = [replace(row, cells=[*row.cells, share]) for row, share in zip(chart.rows, shares, strict=True)]
        return replace(chart, head=[*chart.head, _("Share")], rows=rows)

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
            ChartRow(label, [count_text(value) for value in row], link)
            for label, row, link in zip(names, values, links, strict=True)
        ]
        data = chart_data(kind, names, columns, links)
        suppression = Suppression(self.view.least, has_choices=True)
        return Chart(name, title, summary, [head, *columns], rows, data, suppression)

    # --- summaries ---

    def use_summary(self) -> str:
        questions = self.found.now.questions
        asked = ngettext("%(count)s question", "%(count)s questions", questions) % {"count": whole(questions)}
        values = [_value(point, "questions") for point in self.found.points]
        most = highest(values)
        if most is None:
            return f"{asked}."
        when = long_name(self.found.points[most].start, self.view.step)
        busiest = _("most of them: %(when)s, %(most)s") % {"when": when, "most": whole(values[most] or 0)}
        return f"{asked}; {busiest}."

    def answers_summary(self) -> str:
        now = self.found.now
        ended = now.answered + now.abstained + now.asked_back + now.failed + now.stopped
        return _("%(answered)s answered, %(abstained)s without an answer.") % {
            "answered": percent(now.answered / ended),
            "abstained": percent(now.abstained / ended),
        }

    def outcomes_summary(self) -> str:
        rate = self.found.now.resolution_rate
        return "" if rate is None else _("%(share)s were resolved.") % {"share": percent(rate)}

    def contacts_summary(self) -> str:
        return _("How often students went to a contact from an answer, or where there was none.")

    def opinions_summary(self) -> str:
        share = self.found.now.liked_share
        return "" if share is None else _("%(share)s of all thumbs went up.") % {"share": percent(share)}

    def tokens_summary(self) -> str:
        now = self.found.now
        each = whole((now.prompt_tokens + now.answer_tokens) / now.questions) if now.questions else whole(0)
        return _("%(count)s tokens a question.") % {"count": each}


def _value(point: Point, field: str) -> int | None:
    if point.totals is None:
        return None
    value: int = getattr(point.totals, field)
    return value

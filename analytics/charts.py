"""Charts of the admin: a sentence, a table of the numbers, and what `charts.js` draws with Chart.js."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.periods import Step

#: Stands between cells while they are escaped at once; no text of a database holds it.
BETWEEN_CELLS = "\0"
#: Kinds of charts that draw lines.
LINES = frozenset({"line", "measure"})
#: Why nothing is drawn, by the step that each value is about. The smallest group is two or more: always a plural.
ALL_HIDDEN = {
    None: gettext_lazy(
        "Hidden for privacy: each figure is from fewer than %(least)d visitors, or would reveal such a figure."
    ),
    Step.DAY: gettext_lazy(
        "Hidden for privacy: each day’s figures are from fewer than %(least)d visitors, or would reveal those of such "
        "a day."
    ),
    Step.WEEK: gettext_lazy(
        "Hidden for privacy: each week’s figures are from fewer than %(least)d visitors, or would reveal those of such "
        "a week."
    ),
    Step.MONTH: gettext_lazy(
        "Hidden for privacy: each month’s figures are from fewer than %(least)d visitors, or would reveal those of "
        "such a month."
    ),
}
#: What a reader can choose instead of a step; nothing is longer than a month.
LONGER_STEP = {
    Step.DAY: gettext_lazy("Choose weeks or months instead of days, or a longer period."),
    Step.WEEK: gettext_lazy("Choose months instead of weeks, or a longer period."),
}


@dataclass(frozen=True, slots=True)
class Suppression:
    """The rule that hides small counts of a chart: a count from 1 to `least` - 1 visitors is None, of no visitor 0.

    `step` is the day, week or month that each value is about; None if it is about the whole period. `has_choices` tells
    whether the reader can choose another period or step on the page.
    """

    least: int
    step: Step | None = None
    has_choices: bool = False


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A row of a chart's table; `link` leads to what is behind it, `note` stands beside its label."""

    label: str
    cells: Sequence[str]
    link: str = ""
    note: str = ""

    @property
    def html(self) -> str:
        """Return the row of the table, with everything in it escaped."""
        label = escape(str(self.label))
        if self.link:
            label = f'<a href="{escape(self.link)}">{label}</a>'
        note = f' <span class="chart__note">({escape(self.note)})</span>' if self.note else ""
        cells = escape(BETWEEN_CELLS.join(map(str, self.cells))).replace(BETWEEN_CELLS, "</td><td>")
        return f'<tr><th scope="row">{label}{note}</th>{f"<td>{cells}</td>" if self.cells else ""}</tr>'


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its table; `data` comes from `chart_data`. Without a `suppression` a value of None is unknown."""

    name: str
    title: str
    summary: str
    head: Sequence[str]
    rows: Sequence[ChartRow]
    data: Mapping[str, Any]
    suppression: Suppression | None = None

    @property
    def data_id(self) -> str:
        return f"chart-{self.name}-data"

    @property
    def draws_nothing(self) -> bool:
        """Return whether there is nothing to draw, which is said in words: a line at 0 is drawn, a bar is not."""
        if self.hides_all:
            return True
        values = [value for value in self._values if value is not None]
        return not values if self.data["kind"] in LINES else not any(values)

    @property
    def hides_all(self) -> bool:
        """Return whether each count but those of nobody is suppressed: a line at 0 would say that nobody asked."""
        is_suppressed = self.suppression is not None and self.suppression.least > 1
        return is_suppressed and None in self._values and not any(self._values)

    @property
    def hidden_text(self) -> str:
        """Return why all values are hidden, or "" if they are not."""
        if self.suppression is None or not self.hides_all:
            return ""
        return ALL_HIDDEN[self.suppression.step] % {"least": self.suppression.least}

    @property
    def hidden_advice(self) -> str:
        """Return what the reader can choose to see values, or "" if there is no such choice."""
        if self.suppression is None or not self.suppression.has_choices or not self.hides_all:
            return ""
        step = self.suppression.step
        return str(LONGER_STEP[step]) if step in LONGER_STEP else _("Choose a longer period.")

    @property
    def _values(self) -> list[float | None]:
        return [value for series in self.data["series"] for value in series["values"]]

    @property
    def table_rows(self) -> SafeString:
        """Return the rows of the table; a template takes several times as long, for the hundreds of rows of a year."""
        return SafeString("".join(row.html for row in self.rows))


def chart_top(data: Mapping[str, Any]) -> float:
    """Return the highest value that a chart over time draws."""
    columns = zip(*(series["values"] for series in data["series"]), strict=True)
    together = sum if data["kind"] == "stacked" else max
    return max((together(value or 0 for value in values) for values in columns), default=0)


def chart_data(
    kind: str, labels: Sequence[str], series: Mapping[Any, Sequence[float | None]], links: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what `charts.js` reads.

    `kind` is "line", "measure" (lines on an axis that need not begin at 0), "stacked", "bars", "hours" or
    "horizontal". A value of None is a gap. `links` are the addresses behind the labels.
    """
    return {
        "kind": kind,
        "labels": list(labels),
        "series": [{"label": str(label), "values": list(values)} for label, values in series.items()],
        "links": list(links) if any(links) else [],
    }

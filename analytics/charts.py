"""Charts of the admin: a sentence, a table of the numbers, and what `charts.js` draws with Chart.js."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.safestring import SafeString

#: Stands between cells while they are escaped at once; no text of a database holds it.
BETWEEN_CELLS = "\0"
#: Kinds of charts that draw lines.
LINES = frozenset({"line", "measure"})


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
    """A chart with its table; `data` comes from `chart_data`."""

    name: str
    title: str
    summary: str
    head: Sequence[str]
    rows: Sequence[ChartRow]
    data: Mapping[str, Any]

    @property
    def data_id(self) -> str:
        return f"chart-{self.name}-data"

    @property
    def draws_nothing(self) -> bool:
        """Return whether there is nothing to draw, which the summary says: a line at 0 is drawn, a bar is not."""
        values = [value for series in self.data["series"] for value in series["values"] if value is not None]
        return not values if self.data["kind"] in LINES else not any(values)

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

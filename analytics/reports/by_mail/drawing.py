"""Charts and tables of a PDF, drawn with ReportLab from the data that the admin's charts are drawn from."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from reportlab.graphics.charts.barcharts import HorizontalBarChart, VerticalBarChart
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing, Line, Rect, String
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, Table, TableStyle

#: ReportLab's own fonts, which go into the file: what a reader sees hangs on no font of theirs.
FONT, BOLD = "Vera", "VeraBd"
for _name in (FONT, BOLD):
    pdfmetrics.registerFont(TTFont(_name, f"{_name}.ttf"))
pdfmetrics.registerFontFamily(FONT, normal=FONT, bold=BOLD, italic=FONT, boldItalic=BOLD)

#: Of Okabe and Ito (2008): told apart also by those who see few colours, and in grey.
COLOURS = [HexColor(code) for code in ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")]
GREY, LINE = HexColor("#555555"), HexColor("#cccccc")
STYLES = {
    "title": ParagraphStyle("title", fontName=BOLD, fontSize=16, leading=20, spaceAfter=4 * mm),
    "part": ParagraphStyle("part", fontName=BOLD, fontSize=12, leading=16, spaceBefore=2 * mm, spaceAfter=4 * mm),
    "heading": ParagraphStyle("heading", fontName=BOLD, fontSize=10, leading=14, spaceAfter=1 * mm),
    "text": ParagraphStyle("text", fontName=FONT, fontSize=9, leading=12, textColor=GREY),
    "first_cell": ParagraphStyle("first_cell", fontName=FONT, fontSize=8, leading=10),
    "first_head": ParagraphStyle("first_head", fontName=BOLD, fontSize=8, leading=10),
    "cell": ParagraphStyle("cell", fontName=FONT, fontSize=8, leading=10, alignment=TA_RIGHT),
    "head": ParagraphStyle("head", fontName=BOLD, fontSize=8, leading=10, alignment=TA_RIGHT),
}
WIDTH, HEIGHT = 170 * mm, 62 * mm
#: Where a chart over time and the names of its series begin; a line of these, and the room around them.
LEFT, LEGEND_LINE, LEGEND_ROOM = 14 * mm, 4 * mm, 4 * mm
#: From so many marks on they are drawn small and pale.
MANY_MARKS = 32
#: Labels of the steps below a chart at most: more would run into each other.
MOST_LABELS = 12
#: The height of a bar with its gap, and room for its name.
BAR_HEIGHT, NAME_WIDTH = 7 * mm, 45 * mm
NAME_CHARACTERS = 28
#: A table of more columns has a narrower first one.
FEW_COLUMNS = 4


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table as wide as the page, whose header is repeated on each page that it goes on to.

    A cell may have several lines.
    """
    cells = [
        [_paragraph(text, style if place else f"first_{style}") for place, text in enumerate(row)]
        for style, row in [("head", head), *(("cell", row) for row in rows)]
    ]
    first = WIDTH * (0.28 if len(head) > FEW_COLUMNS else 0.4)
    rest = (WIDTH - first) / max(1, len(head) - 1)
    table = Table(cells, colWidths=[first, *[rest] * (len(head) - 1)], repeatRows=1)
    table.setStyle(TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    return table


def _paragraph(text: str, style: str) -> Paragraph:
    return Paragraph(escape(text).replace("\n", "<br/>"), STYLES[style])


def make_legend(rows: Sequence[tuple[int, str, str]]) -> Table:
    """Return what the numbers in a chart stand for: the number, when, and what."""
    cells = [[_paragraph(str(text), "first_cell") for text in row] for row in rows]
    table = Table(cells, colWidths=[8 * mm, 54 * mm, WIDTH - 62 * mm])
    table.setStyle(TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    return table


def marked(data: Mapping[str, Any]) -> list[tuple[int, int, Sequence[str]]]:
    """Return the marks of a chart over time: the number, the place of the step from 0, and what happened then."""
    places = [(place, said) for place, said in enumerate(data.get("marks", ())) if said]
    return [(number, place, said) for number, (place, said) in enumerate(places, start=1)]


def draw_chart(data: Mapping[str, Any]) -> Drawing:
    """Return the drawing of what `analytics.charts.chart_data` made; a suppressed value is a gap."""
    labels, series = data["labels"], data["series"]
    kind = data["kind"]
    if kind == "horizontal":
        chart, height = _horizontal(labels, series), max(HEIGHT / 2, BAR_HEIGHT * len(labels) * len(series))
    elif kind in {"line", "measure"}:
        chart, height = _lines(labels, series), HEIGHT
    else:
        chart, height = _bars(labels, series, is_stacked=kind == "stacked"), HEIGHT
    chart.x = NAME_WIDTH if kind == "horizontal" else LEFT
    chart.y, chart.width, chart.height = 12 * mm, WIDTH - chart.x, height - 16 * mm
    names = _legend_lines([each["label"] for each in series])
    drawing = Drawing(WIDTH, height + LEGEND_ROOM + len(names) * LEGEND_LINE)
    _draw_marks(drawing, chart, [(number, place) for number, place, _said in marked(data)], len(labels))
    drawing.add(chart)
    _draw_legend(drawing, names)
    return drawing


def _draw_marks(drawing: Drawing, chart: Any, marks: Sequence[tuple[int, int]], steps: int) -> None:
    """Draw a line with its number above it for each mark."""
    size, colour = (5, LINE) if len(marks) >= MANY_MARKS else (6, GREY)
    top = chart.y + chart.height
    for number, place in marks:
        at = chart.x + (place + 0.5) * chart.width / steps
        drawing.add(Line(at, chart.y, at, top, strokeColor=colour, strokeWidth=0.5, strokeDashArray=[2, 2]))
        # In two rows: those of neighbouring days would run into each other.
        above = top + (1 if number % 2 else 7)
        drawing.add(String(at, above, str(number), fontName=FONT, fontSize=size, fillColor=GREY, textAnchor="middle"))


def _bars(labels: Sequence[str], series: Sequence[Mapping[str, Any]], *, is_stacked: bool) -> VerticalBarChart:
    chart = VerticalBarChart()
    chart.data = [[value or 0 for value in each["values"]] for each in series]
    chart.categoryAxis.style = "stacked" if is_stacked else "parallel"
    chart.barWidth, chart.groupSpacing = 4, 2
    _paint(chart.bars, len(series))
    _set_axes(chart.categoryAxis, chart.valueAxis, _thinned(labels))
    return chart


def _lines(labels: Sequence[str], series: Sequence[Mapping[str, Any]]) -> HorizontalLineChart:
    chart = HorizontalLineChart()
    chart.data = [list(each["values"]) for each in series]
    for place, colour in zip(range(len(series)), COLOURS, strict=False):
        chart.lines[place].strokeColor, chart.lines[place].strokeWidth = colour, 1.4
    _set_axes(chart.categoryAxis, chart.valueAxis, _thinned(labels))
    return chart


def _horizontal(labels: Sequence[str], series: Sequence[Mapping[str, Any]]) -> HorizontalBarChart:
    chart = HorizontalBarChart()
    chart.data = [[value or 0 for value in each["values"]] for each in series]
    chart.categoryAxis.reverseDirection = True  # the first on top, as in the table
    chart.barWidth, chart.groupSpacing = 4, 3
    _paint(chart.bars, len(series))
    _set_axes(chart.categoryAxis, chart.valueAxis, [_shortened(label) for label in labels])
    chart.categoryAxis.labels.boxAnchor, chart.categoryAxis.labels.dx = "e", -4
    return chart


def _set_axes(categories: Any, values: Any, labels: Sequence[str]) -> None:
    categories.categoryNames = list(labels)
    values.valueMin, values.forceZero = 0, True
    values.labelTextFormat = "%d"
    values.visibleGrid, values.gridStrokeColor, values.gridStrokeWidth = True, LINE, 0.3
    categories.strokeColor = values.strokeColor = GREY
    for axis in (categories, values):
        axis.labels.fontName, axis.labels.fontSize, axis.labels.fillColor = FONT, 7, GREY


def _legend_lines(names: Sequence[str]) -> list[list[tuple[float, Any, str]]]:
    """Return the names of the series line by line, each with where it begins and its colour."""
    lines: list[list[tuple[float, Any, str]]] = [[]]
    at = LEFT
    for colour, name in zip(COLOURS, names, strict=False):
        width = pdfmetrics.stringWidth(name, FONT, 7) + 22
        if lines[-1] and at + width > WIDTH:
            lines.append([])
            at = LEFT
        lines[-1].append((at, colour, name))
        at += width
    return lines


def _draw_legend(drawing: Drawing, lines: Sequence[Sequence[tuple[float, Any, str]]]) -> None:
    for number, line in enumerate(lines, start=1):
        y = drawing.height - number * LEGEND_LINE
        for at, colour, name in line:
            drawing.add(Rect(at, y, 7, 7, fillColor=colour, strokeColor=None))
            drawing.add(String(at + 10, y + 1, name, fontName=FONT, fontSize=7))


def _paint(bars: Any, series: int) -> None:
    for place, colour in zip(range(series), COLOURS, strict=False):
        bars[place].fillColor, bars[place].strokeColor = colour, None


def _thinned(labels: Sequence[str]) -> list[str]:
    """Return the labels, all but every n-th of them empty if they are many."""
    step = -(-len(labels) // MOST_LABELS)
    return [label if place % step == 0 else "" for place, label in enumerate(labels)]


def _shortened(label: str) -> str:
    return label if len(label) <= NAME_CHARACTERS else f"{label[: NAME_CHARACTERS - 1]}…"

"""Charts and tables of a PDF, drawn with ReportLab from the data that the admin's charts are drawn from."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from reportlab.graphics.charts.barcharts import HorizontalBarChart, VerticalBarChart
from reportlab.graphics.charts.legends import Legend
from reportlab.graphics.charts.linecharts import HorizontalLineChart
from reportlab.graphics.shapes import Drawing
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
COLOURS = [HexColor(code) for code in ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")]
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
WIDTH, HEIGHT, LEGEND_HEIGHT = 170 * mm, 62 * mm, 8 * mm
#: Labels of the steps below a chart at most: more would run into each other.
MOST_LABELS = 12
#: The height of a bar with its gap, and room for its name.
BAR_HEIGHT, NAME_WIDTH = 7 * mm, 45 * mm
NAME_CHARACTERS = 28
#: A table of more columns has a narrower first one.
FEW_COLUMNS = 4


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table as wide as the page, whose header is repeated on each page that it goes on to."""
    cells = [
        [Paragraph(escape(text), STYLES[style if place else f"first_{style}"]) for place, text in enumerate(row)]
        for style, row in [("head", head), *(("cell", row) for row in rows)]
    ]
    first = WIDTH * (0.28 if len(head) > FEW_COLUMNS else 0.4)
    rest = (WIDTH - first) / max(1, len(head) - 1)
    table = Table(cells, colWidths=[first, *[rest] * (len(head) - 1)], repeatRows=1)
    table.setStyle(TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE), ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    return table


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
    chart.x = NAME_WIDTH if kind == "horizontal" else 14 * mm
    chart.y, chart.width, chart.height = 12 * mm, WIDTH - chart.x, height - 16 * mm
    drawing = Drawing(WIDTH, height + LEGEND_HEIGHT)
    drawing.add(chart)
    drawing.add(_legend([each["label"] for each in series], height))
    return drawing


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


def _legend(names: Sequence[str], at: float) -> Legend:
    legend = Legend()
    legend.x, legend.y, legend.alignment = 14 * mm, at + LEGEND_HEIGHT / 2, "right"
    legend.columnMaximum, legend.deltax, legend.dx, legend.dy = 1, 12, 7, 7
    legend.fontName, legend.fontSize, legend.strokeWidth = FONT, 7, 0
    legend.colorNamePairs = list(zip(COLOURS, names, strict=False))
    return legend


def _paint(bars: Any, series: int) -> None:
    for place, colour in zip(range(series), COLOURS, strict=False):
        bars[place].fillColor, bars[place].strokeColor = colour, None


def _thinned(labels: Sequence[str]) -> list[str]:
    """Return the labels, all but every n-th of them empty if they are many."""
    step = -(-len(labels) // MOST_LABELS)
    return [label if place % step == 0 else "" for place, label in enumerate(labels)]


def _shortened(label: str) -> str:
    return label if len(label) <= NAME_CHARACTERS else f"{label[: NAME_CHARACTERS - 1]}…"

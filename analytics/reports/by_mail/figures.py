"""The figures of a report's period as a PDF: what the dashboard shows its reader, charts first, then their tables.

What happened in the period is numbered in the charts over time, and told below the first one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from django.template.defaultfilters import floatformat
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.platypus import CondPageBreak, Flowable, KeepTogether, Paragraph, SimpleDocTemplate, Spacer

from analytics.charts import Chart
from analytics.dashboard.admin.cards import Group, build_card_groups
from analytics.dashboard.admin.charts import build_charts
from analytics.dashboard.admin.headline import build_headline
from analytics.dashboard.admin.links import Links
from analytics.dashboard.annotations import annotations
from analytics.dashboard.comparison import publishable_overview
from analytics.dashboard.formatting import NOTHING, period_name
from analytics.dashboard.overview import Choices, Reach, choices_for
from analytics.dashboard.visibility import View
from analytics.dashboard.worth import read_assumptions
from analytics.periods import step_for
from analytics.reports.by_mail.drawing import STYLES, draw_chart, make_legend, make_table, marked
from analytics.reports.definition import Definition
from chat.models.assistants import Language

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MARGIN = 18 * mm
#: A PDF leads nowhere.
NO_REACH = Reach(None, None, None)


def make_figures(name: str, definition: Definition, reader: "User") -> bytes:
    """Return the PDF in the active language: a part for each assistant of the definition, or one for all."""
    choices = choices_for(reader)
    content: list[Flowable] = [Paragraph(escape(name), STYLES["title"])]
    for view in _views(definition, choices, reader):
        content += [CondPageBreak(120 * mm), *_part(view, choices)]
    file = BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), MARGIN)
    SimpleDocTemplate(file, pagesize=A4, title=name, lang=get_language(), **margins).build(content)
    return file.getvalue()


def _views(definition: Definition, choices: Choices, reader: "User") -> Iterator[View]:
    """Yield what the definition chooses, as far as the dashboard can tell it: by assistant, site and language."""
    period = definition.period()
    own = [pk for pk in definition.assistants if pk in choices.assistants]
    for assistant in own if definition.assistants else [None]:
        yield View(period, step_for(period), reader, assistant, definition.site, definition.language)


def _part(view: View, choices: Choices) -> Iterator[Flowable]:
    yield Paragraph(escape(_heading(view, choices)), STYLES["part"])
    found = publishable_overview(view, with_gaps=False)
    if found is None:
        yield Paragraph(_("Too few people asked in this period to show figures."), STYLES["text"])
        return
    if found.now.is_empty:
        yield Paragraph(_("Nobody asked in this period."), STYLES["text"])
        return
    links, assumed = Links(view, NO_REACH), read_assumptions()
    headline = build_headline(found, links, assumed)
    yield Paragraph(escape(headline.sentence), STYLES["text"])
    yield Spacer(1, 4 * mm)
    at_a_glance = [replace(card, label=f"{card.label}\n{card.hint}".strip()) for card in headline.cards]
    yield KeepTogether(_figures(Group(_("At a glance"), at_a_glance)))
    assumption = _("Assumed: %(minutes)s minutes of staff’s time for each resolved conversation.")
    yield Paragraph(escape(assumption % {"minutes": floatformat(assumed.minutes, -1)}), STYLES["text"])
    yield Spacer(1, 4 * mm)
    for group in build_card_groups(found, links, assumed):
        yield KeepTogether(_figures(group))
    charts = build_charts(found, choices, links, annotations(view))
    for place, chart in enumerate(charts):
        drawing = [] if chart.draws_nothing else [draw_chart(chart.data)]
        yield KeepTogether([*_title(chart), *drawing, Spacer(1, 6 * mm)])
        if place == 0 and drawing:
            yield from _happened(chart)
    for chart in charts:
        if chart.draws_nothing:
            continue
        yield CondPageBreak(30 * mm)
        yield from _title(chart)
        yield _table(chart)
        yield Spacer(1, 6 * mm)


def _heading(view: View, choices: Choices) -> str:
    names = [choices.assistants[view.assistant] if view.assistant is not None else _("All assistants")]
    if view.site is not None and view.site in choices.sites:
        names.append(choices.sites[view.site][0])
    if view.language:
        names.append(str(Language(view.language).label))
    return " · ".join([*names, period_name(view.period)])


def _figures(group: Group) -> Sequence[Flowable]:
    rows = [
        [card.label, card.value, card.change.text if card.change.before else NOTHING, card.change.before or NOTHING]
        for card in group.cards
    ]
    head = ["", _("This period"), _("Change"), _("Period before")]
    return [Paragraph(escape(group.title), STYLES["heading"]), make_table(head, rows), Spacer(1, 4 * mm)]


def _happened(chart: Chart) -> Iterator[Flowable]:
    """Yield what the numbers above a chart over time stand for, if there are any."""
    marks = marked(chart.data)
    if not marks:
        return
    yield CondPageBreak(30 * mm)
    yield Paragraph(escape(_("What happened")), STYLES["heading"])
    yield Paragraph(escape(_("Numbered as in the charts over time.")), STYLES["text"])
    yield make_legend([(number, chart.rows[place].label, "; ".join(said)) for number, place, said in marks])
    yield Spacer(1, 6 * mm)


def _table(chart: Chart) -> Flowable:
    """Return the table of a chart without its last column: what happened stands once, below the first chart."""
    columns = len(chart.head) - ("marks" in chart.data)
    return make_table(chart.head[:columns], [[row.label, *row.cells][:columns] for row in chart.rows])


def _title(chart: Chart) -> Sequence[Flowable]:
    texts = [chart.summary, *([chart.hidden_text] if chart.hidden_text else [])]
    return [
        Paragraph(escape(chart.title), STYLES["heading"]),
        *(Paragraph(escape(each), STYLES["text"]) for each in texts),
    ]

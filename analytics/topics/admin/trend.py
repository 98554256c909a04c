"""The chart of a topic's questions by week."""

from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.charts import Chart, ChartRow, Suppression, chart_data
from analytics.dashboard.formatting import count_text, highest, long_name, short_name, whole
from analytics.dashboard.visibility import View
from analytics.models import Topic
from analytics.periods import ONE_DAY, Step, next_start
from analytics.topics.trend import Week, weeks_of

#: What of an address stays where a week is chosen.
KEPT = ("assistant", "site", "language")


def build_trend(topic: Topic, view: View, address: QueryDict) -> Chart:
    """Return the chart of the year's weeks; each leads to the topic's page of that week."""
    weeks = weeks_of(topic, view)
    kept = {name: str(address[name]) for name in KEPT if address.get(name)}
    links = [_week_link(topic, week, kept) if week.questions else "" for week in weeks]
    names = [long_name(week.monday, Step.WEEK) for week in weeks]
    counts = [week.questions for week in weeks]
    rows = [ChartRow(name, [count_text(count)], link) for name, count, link in zip(names, counts, links, strict=True)]
    label = _("Questions")
    data = chart_data("bars", [short_name(week.monday, Step.WEEK) for week in weeks], {label: counts}, links)
    # The page draws 52 weeks, whatever period is chosen.
    suppression = Suppression(view.least, Step.WEEK)
    return Chart("trend", _("Questions by week"), _summary(weeks), [_("Week"), label], rows, data, suppression)


def _week_link(topic: Topic, week: Week, kept: dict[str, str]) -> str:
    chosen = {"from": week.monday.isoformat(), "to": (next_start(week.monday, Step.WEEK) - ONE_DAY).isoformat()}
    return f"{reverse('topic', args=[topic.pk])}?{urlencode(chosen | kept)}"


def _summary(weeks: list[Week]) -> str:
    most = highest([week.questions for week in weeks])
    if most is None:
        is_asked = any(week.questions is None for week in weeks)
        return "" if is_asked else _("Nothing yet: in these 52 weeks nobody asked about it.")
    count = weeks[most].questions or 0
    said = ngettext(
        "The busiest of these 52 weeks: %(when)s, %(count)s question.",
        "The busiest of these 52 weeks: %(when)s, %(count)s questions.",
        count,
    )
    return said % {"when": long_name(weeks[most].monday, Step.WEEK), "count": whole(count)}

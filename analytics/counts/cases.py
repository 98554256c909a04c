"""One day's questions to offices, with how long students waited for a reply and until they were closed."""

import datetime

from django.db.models import Count, DurationField, ExpressionWrapper, F, FloatField, Q
from django.db.models.functions import Cast, Extract

from analytics.counts.bins import bin_of
from analytics.models import CaseCount
from analytics.models.counts import Spanned
from chat.models import Case

#: Seconds at which the first bin of a wait ends; the last one holds all that is longer than four weeks.
FIRST_S = 60.0
WHOSE = ("assistant", "office", "conversation__site", "language")
WAITS = {"until_reply": "first_reply_at", "until_closed": "closed_at"}


def count_cases(start: datetime.datetime, end: datetime.datetime, day: datetime.date, whose: Q) -> list[CaseCount]:
    """Count the cases that were opened in [start, end), of these assistants.

    Cases of people in need are not counted, for they are in no figures.
    """
    opened = Case.objects.filter(whose, opened_at__gte=start, opened_at__lt=end, merged_into=None)
    cases = opened.exclude(reason=Case.Reason.HELP).exclude(state__in=Case.WISHES).order_by()
    counts = {
        "n_opened": Count("pk"),
        "n_said": Count("pk", filter=Q(helped__isnull=False)),
        "n_helped": Count("pk", filter=Q(helped=True)),
    }
    rows = {}
    for *group, number, said, helped in cases.values(*WHOSE).annotate(**counts).values_list(*WHOSE, *counts):
        assistant, office, site, language = group
        rows[tuple(group)] = CaseCount(
            span=Spanned.Span.DAY,
            day=day,
            assistant_id=assistant,
            office_id=office,
            site_id=site,
            language=language,
            opened=number,
            said=said,
            helped=helped,
        )
    for name, ended in WAITS.items():
        lasted = ExpressionWrapper(F(ended) - F("opened_at"), output_field=DurationField())
        seconds = Cast(Extract(lasted, "epoch"), FloatField())
        waited = cases.filter(**{f"{ended}__isnull": False}).annotate(time=seconds, held=bin_of("time", FIRST_S))
        for *group, place, count in (
            waited.values(*WHOSE, "held").annotate(n=Count("pk")).values_list(*WHOSE, "held", "n")
        ):
            getattr(rows[tuple(group)], name)[place] = count
    return list(rows.values())

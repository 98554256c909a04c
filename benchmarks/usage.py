"""Times the dashboard with a million messages behind it, and counts its queries.

The page is asked for over Django's own test client by somebody with the rights of an analyst and of a reader of
conversations, which is the page with most on it: session, user, figures, rendering. Beside it the same page of a year
with a thousand messages, on the same machine in the same run.
"""

import datetime
import statistics
import time
from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.counts.refresh import count_changed
from analytics.models import DocumentCount, UsageCount
from benchmarks.measuring import say, table
from benchmarks.usage_data import add_usage, make_university
from chat.models import Message

MANY, FEW = 1_000_000, 1_000
REPEATS = 15
RIGHTS = ("view_dashboard", "see_small_groups", "whole_university", "view_conversation", "view_gap", "view_faq")


def measure(*, quick: bool) -> dict[str, Any]:
    today = timezone.localdate()
    years = {name: today - datetime.timedelta(days=days - 1) for name, days in (("year", 365), ("two years", 731))}
    repeats = 3 if quick else REPEATS
    small = _filled(FEW, years["year"], today)
    year = {"from": years["year"].isoformat(), "to": today.isoformat()}
    beside = pages({"a year of 1,000 messages": year}, repeats)["a year of 1,000 messages"]
    call_command("flush", verbosity=0, interactive=False)
    large = _filled(MANY // 20 if quick else MANY, years["two years"], today)
    periods: dict[str, Mapping[str, str]] = {
        "today": {"range": "today"},
        "a week": {"range": "7"},
        "a week, one assistant, German": {"range": "7", "assistant": str(large["assistant"]), "language": "de"},
        "90 days": {"range": "90"},
        "a year": year,
        "two years": {"from": years["two years"].isoformat(), "to": today.isoformat()},
        "two years, by week": {"from": years["two years"].isoformat(), "to": today.isoformat(), "step": "week"},
        "all": {"range": "all"},
    }
    found = pages(periods, repeats)
    report(beside, found, small, large)
    return {"few": small | {"page": beside}, "many": large | {"pages": found}}


def _filled(messages: int, first: datetime.date, last: datetime.date) -> dict[str, Any]:
    """Seconds that writing and counting took, and how many rows of counts there are."""
    university = make_university()
    began = time.perf_counter()
    add_usage(university, messages=messages, first=first, last=last)
    written = time.perf_counter()
    days = count_changed()
    counted = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return {
        "messages": Message.objects.count(),
        "assistant": university.assistants[0].pk,
        "written_s": round(written - began, 1),
        "counted_s": round(counted - written, 1),
        "days": days,
        "usage_rows": UsageCount.objects.count(),
        "document_rows": DocumentCount.objects.count(),
    }


def pages(periods: Mapping[str, Mapping[str, str]], repeats: int) -> dict[str, dict[str, float]]:
    """Median milliseconds and queries of the whole page, by name."""
    staff = get_user_model().objects.create_user("analyst", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    client = Client(SERVER_NAME="localhost")
    client.force_login(staff)
    found = {}
    for name, address in periods.items():
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(reverse("dashboard"), address)
        count = len(queries)  # the next request forgets them
        assert answer.status_code == 200, answer.status_code
        assert b"cards__item" in answer.content, "the page shows no figures"
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            client.get(reverse("dashboard"), address)
            times.append((time.perf_counter() - began) * 1_000)
        found[name] = {"ms": round(statistics.median(times), 1), "queries": count}
    return found


def report(beside: Mapping[str, float], found: Mapping[str, Mapping[str, float]], small: Any, large: Any) -> None:
    say(
        f"{large['messages']:,} messages over two years, written in {large['written_s']} s; counted in"
        f" {large['counted_s']} s ({large['days']} days). Beside it {small['messages']:,} messages over a year."
    )
    rows = [
        (name, row["queries"], f"{row['ms']:.0f}", f"{row['ms'] / beside['ms']:.2f}")
        for name, row in {"a year of 1,000 messages": beside, **found}.items()
    ]
    table(("dashboard", "queries", "median, ms", "times a year of 1,000"), rows)

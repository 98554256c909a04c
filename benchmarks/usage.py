"""Times the dashboard with a million messages of a year behind it, and counts its queries.

The page is asked for over Django's own test client by somebody with the rights of an analyst and of a reader of
conversations, which is the page with most on it: session, user, figures, rendering. In turns with it the same page of a
year without a message; beside it one of a thousand messages, with an empty year in turns with that. Every twentieth
answer led to a contact, and the newest 30,000 questions are in 300 topics.
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
from analytics.models import DocumentCount, Topic, TopicQuestion, UsageCount
from analytics.topics.counting import count_topics
from benchmarks.measuring import say, table
from benchmarks.usage_data import add_usage, make_university
from chat.models import Assistant, Message

MANY, FEW = 1_000_000, 1_000
REPEATS = 15
EMPTY_YEAR = {"from": "2001-01-01", "to": "2001-12-31"}
TOPICS, IN_TOPICS = 300, 30_000
RIGHTS = (
    *("view_dashboard", "see_small_groups", "whole_university"),
    *("view_conversation", "view_gap", "view_faq", "view_topic"),
)


def measure(*, quick: bool) -> dict[str, Any]:
    today = timezone.localdate()
    first = today - datetime.timedelta(days=364)
    repeats = 3 if quick else REPEATS
    year = {"from": first.isoformat(), "to": today.isoformat()}
    small = _filled(FEW, first, today)
    before = pages({"a year of 1,000 messages": year}, repeats)
    call_command("flush", verbosity=0, interactive=False)
    large = _filled(MANY // 20 if quick else MANY, first, today)
    periods: dict[str, Mapping[str, str]] = {
        "today": {"range": "today"},
        "a week": {"range": "7"},
        "a week, one assistant, German": {"range": "7", "assistant": str(large["assistant"]), "language": "de"},
        "90 days": {"range": "90"},
        "a year": year,
        "a year, by week": {**year, "step": "week"},
        "all": {"range": "all"},
    }
    found = pages(periods, repeats)
    report(before, found, small, large)
    return {"few": small | {"pages": before}, "many": large | {"pages": found}}


def _filled(messages: int, first: datetime.date, last: datetime.date) -> dict[str, Any]:
    """Seconds that writing and counting took, and how many rows of counts there are."""
    university = make_university()
    began = time.perf_counter()
    add_usage(university, messages=messages, first=first, last=last)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE chat_message SET contacts_used = '{email}' WHERE role = 'assistant' AND id % 20 = 0")
    written = time.perf_counter()
    days = count_changed()
    counted = time.perf_counter()
    _put_in_topics()
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


def _put_in_topics() -> None:
    """Put the newest questions in topics, as nights do, and count these."""
    asked = Message.objects.filter(role=Message.Role.USER).select_related("conversation").order_by("-pk")[:IN_TOPICS]
    topics: dict[int | None, list[Topic]] = {}
    for assistant in Assistant.objects.all():
        topics[assistant.pk] = Topic.objects.bulk_create(
            Topic(name=f"How do I do matter {number}?", assistant=assistant, centroid=bytes(8), recipe="none")
            for number in range(TOPICS)
        )
    TopicQuestion.objects.bulk_create(
        (
            TopicQuestion(message=each, topic=topics[each.conversation.assistant_id][place % TOPICS])
            for place, each in enumerate(asked)
        ),
        batch_size=5_000,
    )
    count_topics()


def pages(periods: Mapping[str, Mapping[str, str]], repeats: int) -> dict[str, dict[str, float]]:
    """Median milliseconds and queries of the whole page, by name; first those of a year without a message."""
    periods = {"an empty year": EMPTY_YEAR, **periods}
    staff, _is_new = get_user_model().objects.get_or_create(username="analyst", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=RIGHTS))
    client = Client(SERVER_NAME="localhost")
    client.force_login(staff)
    found: dict[str, dict[str, float]] = {}
    times: dict[str, list[float]] = {name: [] for name in periods}
    for name, address in periods.items():
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(reverse("dashboard"), address)
        assert answer.status_code == 200, answer.status_code
        in_statements = sum(float(each["time"]) for each in queries.captured_queries) * 1_000
        found[name] = {"queries": len(queries), "statements_ms": round(in_statements)}
    for _ in range(repeats):
        # In turn, so that other work on the machine slows all of them alike.
        for name, address in periods.items():
            began = time.perf_counter()
            client.get(reverse("dashboard"), address)
            times[name].append((time.perf_counter() - began) * 1_000)
    for name, each in times.items():
        found[name]["ms"] = round(statistics.median(each), 1)
        found[name]["times_empty"] = round(found[name]["ms"] / found["an empty year"]["ms"], 2)
    return found


def report(
    before: Mapping[str, Mapping[str, float]], found: Mapping[str, Mapping[str, float]], small: Any, large: Any
) -> None:
    say(
        f"{large['messages']:,} messages over a year, written in {large['written_s']} s; counted in"
        f" {large['counted_s']} s ({large['days']} days). Beside it {small['messages']:,} messages over a year."
    )
    rows = [
        (name, row["queries"], f"{row['ms']:.0f}", f"{row['times_empty']:.2f}")
        for name, row in [*list(before.items())[1:], *found.items()]
    ]
    table(("dashboard", "queries", "median, ms", "times an empty year"), rows)

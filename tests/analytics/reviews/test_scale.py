"""Lists that staff open stay fast: 100,000 reviews and conversations beside 1,000."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.models import Review, ReviewFeed
from analytics.reviews.collect import FEEDS, collect, recheck
from chat.models import Conversation
from tests.emptying import free_space
from tests.factories import AssistantFactory, VisitorFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]
FEW, MANY = 1_000, 100_000
PLAIN = "a page without a list"


#: Conversations, each with a question, its answer and a review: number `n` of each, from the first to the last.
ROWS = """
INSERT INTO chat_conversation (id, visitor_id, assistant_id, audience, title, created_at, updated_at)
SELECT md5(n::text)::uuid, %(visitor)s, %(assistant)s, '{{}}', 'Matter ' || n, now(), now() - n * interval '1 minute'
FROM generate_series(%(first)s, %(last)s) AS n;
INSERT INTO chat_message ({columns}, id, conversation_id, role, client_id, text, status, finished_at)
SELECT {values}, 2 * n, md5(n::text)::uuid, 'user', gen_random_uuid(), 'Matter ' || n, 'complete', NULL
FROM generate_series(%(first)s, %(last)s) AS n;
INSERT INTO chat_message ({columns}, id, conversation_id, role, question_id, text, status, finished_at)
SELECT {values}, 2 * n + 1, md5(n::text)::uuid, 'assistant', 2 * n, 'I do not know.', 'abstained',
    now() - (10 + n) * interval '1 minute'
FROM generate_series(%(first)s, %(last)s) AS n;
INSERT INTO analytics_review (message_id, assistant_id, language, asked_at, reasons, state, verdict, version)
SELECT 2 * n + 1, %(assistant)s, 'en', now() - n * interval '1 minute', '{{abstained}}',
    CASE n %% 3 WHEN 0 THEN 'open' ELSE 'done' END, '', 0
FROM generate_series(%(first)s, %(last)s) AS n;
ANALYZE;
"""
#: What every message has and nobody here looks at.
DEFAULTS = {
    **dict.fromkeys(
        ("strategy", "reason", "notice", "model", "profile", "prompt", "route", "rewritten", "language"), "''"
    ),
    **dict.fromkeys(("related", "retrieved"), "'[]'::jsonb"),
    "timings_ms": "'{}'::jsonb",
    "flags": "'{}'::varchar[]",
    "created_at": "now()",
}


def fill(total: int, assistant: Any) -> None:
    """Create so many conversations in all; a third of their reviews is open."""
    statements = ROWS.format(columns=", ".join(DEFAULTS), values=", ".join(DEFAULTS.values()))
    span = {"first": Conversation.objects.count() + 1, "last": total}
    with connection.cursor() as cursor:
        for statement in filter(str.strip, statements.split(";")):
            cursor.execute(statement, {**span, "visitor": VisitorFactory().pk, "assistant": assistant.pk})
    for name in FEEDS:
        ReviewFeed.objects.update_or_create(name=name, defaults={"until": timezone.now()})


def opened(client: Client, address: str) -> float:
    """Return the seconds of one opening; nobody looks for news meanwhile."""
    ReviewFeed.objects.update(looked_at=timezone.now())
    began = time.perf_counter()
    assert client.get(address).status_code == 200
    return time.perf_counter() - began


def times_a_plain_page(client: Client, addresses: dict[str, str]) -> dict[str, float]:
    """Return how many times as long as a page without a list each page takes, by its name.

    All are opened in turns, round after round, and the quickest of each counts: other work on the machine, or of the
    database after so many new rows, can only make one slower.
    """
    pages = {**addresses, PLAIN: reverse("admin:password_change")}
    rounds = [{name: opened(client, address) for name, address in pages.items()} for _ in range(9)]
    quickest = {name: min(each[name] for each in rounds) for name in pages}
    return {name: quickest[name] / quickest[PLAIN] for name in addresses}


def test_lists_open_at_100_000_rows_in_no_more_than_three_times_the_time_of_1_000(admin_client: Client) -> None:
    free_space(connection)
    assistant = AssistantFactory()
    reviews, conversations = reverse("admin:analytics_review_changelist"), reverse("admin:chat_conversation_changelist")
    addresses = {
        "to do": reverse("to-do"),
        "done": f"{reverse('to-do')}?state=done",
        "mine": f"{reverse('to-do')}?who=me",
        "open": reviews,
        "all": f"{reviews}?state=all",
        "reason": f"{reviews}?reason=abstained",
        "assistant": f"{reviews}?assistant__id__exact={assistant.pk}&state=all",
        "a later page": f"{reviews}?p=6",
        "conversations": conversations,
    }
    measured = {}
    for total in (FEW, MANY):
        fill(total, assistant)
        addresses["one"] = reverse("admin:analytics_review_change", args=[middle()])
        measured[total] = times_a_plain_page(admin_client, addresses)
    for name in addresses:
        few, many = measured[FEW][name], measured[MANY][name]
        print(f"{name}: {few:.1f}, {many:.1f} times a plain page")
    began = time.perf_counter()
    collect()
    recheck()
    print(f"collecting: {(time.perf_counter() - began) * 1000:.0f} ms")
    for name in addresses:
        assert measured[MANY][name] <= 3 * measured[FEW][name], name


def middle() -> int:
    """Return the id of a review in the middle of the list."""
    open_ones = Review.objects.filter(state="open").values_list("pk", flat=True)
    return open_ones[open_ones.count() // 2]

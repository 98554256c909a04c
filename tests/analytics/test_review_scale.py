"""Lists that staff open stay fast: 100,000 reviews and conversations beside 1,000."""

import statistics
import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.models import Review, ReviewFeed
from analytics.reviews.collecting import FEEDS, collect, recheck
from chat.models import Conversation, Message
from tests.factories import AssistantFactory, VisitorFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]
FEW, MANY = 1_000, 100_000
BATCH = 5_000


def fill(total: int, assistant: Any) -> None:
    """So many conversations in all, each a question without an answer, and its review; two thirds of them are done."""
    there, now = Conversation.objects.count(), timezone.now()
    visitor = VisitorFactory()
    for begin in range(there, total, BATCH):
        numbers = range(begin, min(begin + BATCH, total))
        conversations = Conversation.objects.bulk_create(
            Conversation(pk=uuid.uuid4(), visitor=visitor, assistant=assistant, title=f"Matter {n}") for n in numbers
        )
        questions = Message.objects.bulk_create(
            Message(conversation=each, role="user", client_id=uuid.uuid4(), text=f"{each.title}: how is that?")
            for each in conversations
        )
        answers = Message.objects.bulk_create(
            Message(
                conversation=question.conversation,
                role="assistant",
                question=question,
                status="abstained",
                text="I do not know.",
                finished_at=now - timedelta(minutes=10 + question.pk % 100_000),
            )
            for question in questions
        )
        Review.objects.bulk_create(
            Review(
                message=answer,
                assistant=assistant,
                language="en",
                asked_at=now - timedelta(minutes=number),
                reasons=["abstained"],
                state="done" if number % 3 else "open",
            )
            for number, answer in zip(numbers, answers, strict=True)
        )
    for name in FEEDS:
        ReviewFeed.objects.update_or_create(name=name, defaults={"until": now})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def seconds(client: Client, address: str) -> float:
    """The median of some openings; nobody looks for news meanwhile."""
    taken = []
    for _ in range(9):
        ReviewFeed.objects.update(looked_at=timezone.now())
        began = time.perf_counter()
        assert client.get(address).status_code == 200
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def test_lists_open_at_100_000_rows_in_no_more_than_three_times_the_time_of_1_000(admin_client: Client) -> None:
    assistant = AssistantFactory()
    reviews, conversations = reverse("admin:analytics_review_changelist"), reverse("admin:chat_conversation_changelist")
    addresses = {
        "to do": reviews,
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
        measured[total] = {name: seconds(admin_client, address) for name, address in addresses.items()}
    for name in addresses:
        few, many = measured[FEW][name], measured[MANY][name]
        print(f"{name}: {few * 1000:.0f} ms, {many * 1000:.0f} ms")
    began = time.perf_counter()
    collect()
    recheck()
    print(f"collecting: {(time.perf_counter() - began) * 1000:.0f} ms")
    for name in addresses:
        assert measured[MANY][name] <= 3 * measured[FEW][name], name


def middle() -> int:
    """The id of a review in the middle of the list."""
    open_ones = Review.objects.filter(state="open").values_list("pk", flat=True)
    return open_ones[open_ones.count() // 2]

"""The list of FAQs with 100,000 of them: as many statements, and no more than three times the time."""

import statistics
import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from faqs.models import FAQ, FAQSource, Phrasing, SimilarPair
from tests.factories import CategoryFactory, CollectionFactory, DocumentFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]
LIST = "admin:faqs_faq_changelist"


def grow(first: int, last: int, **shared: Any) -> None:
    """FAQs number `first` to `last`, each with two phrasings and a document."""
    documents, statuses = shared.pop("documents"), ["draft", "published", "published", "retired"]
    faqs = FAQ.objects.bulk_create(
        (
            FAQ(
                question=f"How do I settle matter {n} of faculty {n % 17}?",
                language=("en", "de")[n % 2],
                status=statuses[n % 4],
                **shared,
            )
            for n in range(first, last)
        ),
        batch_size=5_000,
    )
    Phrasing.objects.bulk_create(
        (
            Phrasing(faq=faq, text=text)
            for n, faq in enumerate(faqs, start=first)
            for text in (f"Matter {n}?", f"Who settles number {n}?")
        ),
        batch_size=5_000,
    )
    FAQSource.objects.bulk_create(
        (FAQSource(faq=faq, document=documents[n % len(documents)]) for n, faq in enumerate(faqs)), batch_size=5_000
    )
    SimilarPair.objects.bulk_create(
        SimilarPair(first=one, second=other, similarity=0.7 + one.pk % 30 / 100)
        for one, other in zip(faqs[::10], faqs[1::10], strict=False)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def opened(client: Client, url: str) -> tuple[int, float]:
    """(statements, median seconds of seven)."""
    seconds = []
    client.get(url)
    for _ in range(7):
        started = time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url).status_code == 200
        seconds.append(time.perf_counter() - started)
    return len(queries), statistics.median(seconds)


def test_the_list_and_the_pairs_open_as_fast_with_100_000_faqs(admin_client: Client) -> None:
    shared = {"category": CategoryFactory(), "collection": CollectionFactory()}
    documents = DocumentFactory.create_batch(50, collection=shared["collection"])
    FAQ.objects.all().delete()
    pages = {
        "list": reverse(LIST),
        "searched": f"{reverse(LIST)}?q=777",
        "drafts": f"{reverse(LIST)}?status=draft",
        "pairs": reverse("admin:faqs_faq_duplicates"),
    }
    grow(0, 1_000, documents=documents, **shared)
    few = {name: opened(admin_client, url) for name, url in pages.items()}
    grow(1_000, 100_000, documents=documents, **shared)
    many = {name: opened(admin_client, url) for name, url in pages.items()}
    for name in pages:
        print(f"{name}: {few[name][1] * 1000:.0f} ms at 1,000, {many[name][1] * 1000:.0f} ms at 100,000")
    assert [few[name][0] for name in pages] == [many[name][0] for name in pages]
    opening = set(pages) - {"searched"}  # a search takes as long as there is to be found
    slow = {name for name in opening if many[name][1] > 3 * few[name][1]}
    assert not slow

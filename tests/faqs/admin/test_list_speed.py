"""The list of FAQs with 100,000 of them: as many statements, and no more than three times the time."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from faqs.models import FAQ, FAQSource, Phrasing, SimilarPair
from tests.emptying import free_space
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
    """Return (statements, seconds)."""
    with CaptureQueriesContext(connection) as queries:
        started = time.perf_counter()
        assert client.get(url).status_code == 200
        seconds = time.perf_counter() - started
    return len(queries), seconds


def measured(client: Client, pages: dict[str, str]) -> dict[str, tuple[int, float]]:
    """Return (statements, times as long as a page without a list) of each page, by its name.

    All are opened in turns and the quickest of each counts: other work on the machine can only make one slower.
    """
    plain = reverse("admin:password_change")
    rounds = [{url: opened(client, url) for url in (*pages.values(), plain)} for _ in range(9)]
    seconds = {url: min(each[url][1] for each in rounds) for url in rounds[0]}
    return {name: (rounds[-1][url][0], seconds[url] / seconds[plain]) for name, url in pages.items()}


def test_the_list_and_the_pairs_open_as_fast_with_100_000_faqs(admin_client: Client) -> None:
    free_space(connection)
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
    few = measured(admin_client, pages)
    grow(1_000, 100_000, documents=documents, **shared)
    many = measured(admin_client, pages)
    for name in pages:
        print(f"{name}: {few[name][1]:.1f} times a plain page at 1,000, {many[name][1]:.1f} at 100,000")
    assert [few[name][0] for name in pages] == [many[name][0] for name in pages]
    opening = set(pages) - {"searched"}  # a search takes as long as there is to be found
    slow = {name for name in opening if many[name][1] > 3 * few[name][1]}
    assert not slow

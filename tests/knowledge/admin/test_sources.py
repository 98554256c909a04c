"""Sources in the admin: the form, the list, and who may crawl."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django_celery_beat.models import PeriodicTask

from knowledge.models import CrawlRun, Document, Source, SourcePage
from knowledge.services.crawls import next_crawl
from knowledge.tasks import run_crawl
from tests.factories import CollectionFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = "admin:knowledge_source_changelist"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    delay = Mock()
    monkeypatch.setattr(run_crawl, "delay", delay)
    return delay


def new_source(name: str = "Site", **values: Any) -> Source:
    start = {"start_urls": ["https://www.uni.example/"], "collection": values.pop("collection", None)}
    return Source.objects.create(
        name=name, **start | {"collection": start["collection"] or CollectionFactory()}, **values
    )


def change_page(source: Source) -> str:
    return reverse("admin:knowledge_source_change", args=[source.pk])


def crawl_url(source: Source) -> str:
    return reverse("admin:knowledge_source_crawl", args=[source.pk])


def form(**changes: Any) -> dict[str, Any]:
    values = {
        "name": "University",
        "start_urls": "https://www.uni.example/",
        "allow": "",
        "deny": "",
        "domains": "",
        "max_depth": 8,
        "max_pages": 5000,
        "delay_s": 0.5,
        "max_loss_percent": 30,
        "every": "",
        "at_hour": 3,
    }
    return values | changes


def staff(client: Client, *permissions: str) -> Client:
    client.force_login(UserFactory(permissions=[f"knowledge.{name}" for name in permissions]))
    return client


# --- the form ---


def test_addresses_are_written_one_a_line_and_kept_once(admin_client: Client) -> None:
    lines = {
        "start_urls": "https://www.uni.example/\r\n\r\n  https://www.uni.example/de/  \r\nhttps://www.uni.example/",
        "deny": "*/print/*\n*/intern/*",
        "domains": "www.uni-old.example",
        "collection": CollectionFactory().pk,
    }
    answer = admin_client.post(reverse("admin:knowledge_source_add"), form(**lines))
    assert answer.status_code == 302
    source = Source.objects.get()
    assert source.start_urls == ["https://www.uni.example/", "https://www.uni.example/de/"]
    assert (source.allow, source.deny, source.domains) == ([], ["*/print/*", "*/intern/*"], ["www.uni-old.example"])
    page = admin_client.get(change_page(source)).content.decode()
    assert "https://www.uni.example/\nhttps://www.uni.example/de/</textarea>" in page


@pytest.mark.parametrize(
    ("field", "lines", "message"),
    [
        ("start_urls", "https://www.uni.example/\nwww.uni.example", "Line 2, “www.uni.example”: it is no address"),
        ("start_urls", "ftp://www.uni.example/", "Line 1, “ftp://www.uni.example/”: it is no address"),
        ("start_urls", "", "This field is required."),
        ("allow", "*/study/*\n\n/study/*", "Line 3, “/study/*”: it must begin with"),
        ("deny", "*/a b/*", "Line 1, “*/a b/*”: an address has no spaces."),
        ("domains", "https://www.uni-old.example/", "Did you mean www.uni-old.example?"),
        ("start_urls", "https://www.uni.example/" + "a" * 2000, "it is longer than 2000 characters."),
        ("start_urls", SCRIPT, "Line 1, “&lt;script&gt;"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_saved(admin_client: Client, field: str, lines: str, message: str) -> None:
    values = form(**{field: lines}, collection=CollectionFactory().pk)
    page = admin_client.post(reverse("admin:knowledge_source_add"), values).content.decode()
    assert message in page
    assert SCRIPT not in page
    assert not Source.objects.exists()


def test_saving_keeps_the_schedule(admin_client: Client) -> None:
    source = new_source()
    values = form(every="day", at_hour=5, collection=source.collection_id)
    assert admin_client.post(change_page(source), values).status_code == 302
    assert PeriodicTask.objects.get(task="knowledge.tasks.crawl_source").crontab.hour == "5"


def test_only_who_may_opens_a_private_network(client: Client) -> None:
    source = new_source()
    values = form(allow_private="on", collection=source.collection_id)
    staff(client, "change_source")
    assert 'name="allow_private"' not in client.get(change_page(source)).content.decode()
    assert client.post(change_page(source), values).status_code == 302
    source.refresh_from_db()
    assert source.name == "University"
    assert not source.allow_private
    staff(client, "change_source", "allow_private")
    client.post(change_page(source), values)
    source.refresh_from_db()
    assert source.allow_private


def test_deleting_a_source_leaves_its_documents(admin_client: Client) -> None:
    document = DocumentFactory()
    source = new_source(collection=document.collection)
    SourcePage.objects.create(source=source, url=document.url, document=document)
    CrawlRun.objects.create(source=source, state="finished")
    url = reverse("admin:knowledge_source_delete", args=[source.pk])
    assert "Website visits: 1" in admin_client.get(url).content.decode()
    assert admin_client.post(url, {"post": "yes"}).status_code == 302
    assert not Source.objects.exists()
    assert Document.objects.exists()


# --- the list ---


def test_the_list_takes_as_many_queries_for_30_sources_as_for_2(admin_client: Client) -> None:
    collection, counts = CollectionFactory(), []
    for more in (2, 28):
        for _ in range(more):
            source = new_source(f"Site {Source.objects.count()}", collection=collection, every="day")
            document = DocumentFactory(collection=collection)
            SourcePage.objects.create(source=source, url=document.url, document=document)
            CrawlRun.objects.create(source=source, state="finished", failed=2)
            CrawlRun.objects.create(source=source, state="held", gone=3)
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(reverse(LIST), {"q": "site"}).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_list_tells_of_the_newest_crawl_and_its_problems(admin_client: Client) -> None:
    source = new_source(f"Site {SCRIPT}")
    for document in DocumentFactory.create_batch(2, collection=source.collection):
        SourcePage.objects.create(source=source, url=document.url, document=document)
    SourcePage.objects.create(source=source, url="https://www.uni.example/gone", archived_here=True)
    CrawlRun.objects.create(source=source, state="finished", new=7)
    CrawlRun.objects.create(source=source, state="failed", changed=4, failed=1)
    page = admin_client.get(reverse(LIST)).content.decode()
    assert '<td class="field-page_count">2</td>' in page
    assert "0 new, 4 changed" in page
    assert "1 page could not be fetched" in page
    assert "7 new" not in page
    assert SCRIPT not in page


def test_an_empty_list_says_what_to_do_first(admin_client: Client) -> None:
    assert "No websites yet." in admin_client.get(reverse(LIST)).content.decode()


@pytest.mark.parametrize(
    ("every", "at_hour", "expected"),
    [
        ("", 3, None),
        ("hour", 3, "2026-11-21 15:07"),
        ("day", 3, "2026-11-22 03:07"),
        ("day", 20, "2026-11-21 20:07"),
        ("week", 3, "2026-11-22 03:07"),
    ],
)
def test_the_next_crawl_follows_from_the_schedule(every: str, at_hour: int, expected: str | None) -> None:
    saturday = datetime(2026, 11, 21, 14, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    found = next_crawl(Source(pk=67, every=every, at_hour=at_hour), saturday)
    assert (f"{found:%Y-%m-%d %H:%M}" if found else None) == expected


def test_a_weekly_crawl_of_this_sunday_is_over_by_noon() -> None:
    noon = datetime(2026, 11, 22, 12, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    found = next_crawl(Source(pk=67, every="week", at_hour=3), noon)
    assert f"{found:%Y-%m-%d %H:%M}" == "2026-11-29 03:07"


# --- crawling ---


def test_crawl_now_queues_one_run_and_shows_it(
    client: Client, queued: Mock, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    source = new_source()
    staff(client, "view_source", "crawl_source")
    assert "Read the website now" in client.get(change_page(source)).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(crawl_url(source))
    run = CrawlRun.objects.get()
    assert answer.headers["Location"] == reverse("admin:knowledge_crawlrun_change", args=[run.pk])
    queued.assert_called_once_with(run.pk)
    client.post(crawl_url(source))
    assert CrawlRun.objects.count() == 1
    page = client.get(change_page(source)).content.decode()
    assert "Show the website visit" in page
    assert "Stop reading" in page
    assert client.get(crawl_url(source)).status_code == 405


def test_who_may_not_crawl_gets_no_button_and_is_refused(client: Client, queued: Mock) -> None:
    source = new_source()
    staff(client, "change_source")
    assert "Read the website now" not in client.get(change_page(source)).content.decode().replace(
        "Press “Read the website now”", ""
    )
    assert client.post(crawl_url(source)).status_code == 403
    client.post(reverse(LIST), {"action": "crawl_selected", "_selected_action": [source.pk]})
    assert not CrawlRun.objects.exists()


def test_several_sources_are_crawled_at_once(admin_client: Client, queued: Mock) -> None:
    chosen = [new_source("One").pk, new_source("Two").pk]
    page = admin_client.post(reverse(LIST), {"action": "crawl_selected", "_selected_action": chosen}, follow=True)
    assert "2 websites are being read." in page.content.decode()
    assert CrawlRun.objects.filter(state="queued").count() == 2

"""Crawls: a site's pages become documents, stay equal to the site, and are never lost by accident."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from pytest_django import Settings

from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.ingest.crawl_jobs.runs import crawl, queue_run
from knowledge.ingest.formats.types import Said
from knowledge.models import CrawlRun, Document, Passage, Source
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query
from knowledge.services.crawls import accept_loss, cancel_run, delete_source, keep_pages, save_source, start_crawl
from knowledge.services.documents import save_document, set_document_status
from knowledge.tasks import crawl_source, index_pending_documents, run_crawl
from marcelcms.tasks import requeue_lost_jobs
from tests.factories import CollectionFactory
from tests.knowledge import site as sites
from tests.knowledge.crawls import counts, crawled, document, make_source, reasons
from tests.knowledge.scripted import application, chromium, data
from tests.knowledge.site import Answer, Site, html, page, serving, small
from tests.runtime.processes import alive, command_lines, descendants, wait_until
from tests.sent import as_sent

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.usefixtures("embedder")]

ROOT = Path(__file__).resolve().parents[4]
State = CrawlRun.State


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(small) as site:
        yield site


def found(words: str) -> list[str]:
    """Find documents with these words, best first."""
    asked = Query(text=words, vector=None, generation_id=live_generation().pk)
    hits = LexicalRetriever().retrieve(asked, k=5, scope=build_scope())
    wanted = [Document.objects.get(pk=hit.document_id) for hit in hits]
    return [one.url for one in wanted if one.title == words]


# --- documents follow the site ---


def test_a_page_that_is_gone_once_stays_and_twice_is_archived_and_may_come_back(site: Site) -> None:
    source = make_source(site)
    crawled(source)
    art, home = site.answers.pop("/study/art"), site.answers["/"]
    site.answers["/"] = page(html("Home", links=tuple(f"/study/{name}" for name in sites.STUDY[:9])))
    site.answers["/study/film"] = Answer(500)
    lost = {site.url("/study/art"): "the server answers with status 404",
            site.url("/study/japanese"): "nothing on the site links to it any more"}  # fmt: skip
    first = crawled(source)
    assert (reasons(first, "gone"), first.failed, first.state) == (lost, 1, State.FINISHED)
    assert set(Document.objects.values_list("status", flat=True)) == {"published"}
    second = crawled(source)
    assert set(reasons(second, "archived")) == set(lost)
    assert set(Document.objects.filter(status="archived").values_list("url", flat=True)) == set(lost)
    assert found("Studying art") == []
    site.answers |= {"/study/art": art, "/": home}
    third = crawled(source)
    assert third.gone == 0
    assert not Document.objects.filter(status="archived").exists()
    assert reasons(third, "changed")[site.url("/study/art")] == "it is there again, and published again"
    assert found("Studying art") == [site.url("/study/art")]


def test_a_site_that_is_given_up_is_archived_where_nobody_wants_to_be_asked(site: Site) -> None:
    source = make_source(site, max_loss_percent=100)
    crawled(source)
    site.answers.clear()
    assert [crawled(source).state for _ in range(2)] == [State.FINISHED] * 2
    assert set(Document.objects.values_list("status", flat=True)) == {"archived"}


def test_what_staff_archived_or_corrected_stays_theirs_when_the_page_changes(site: Site) -> None:
    source = make_source(site)
    crawled(source)
    set_document_status(documents=[document(site, "/study/art")], status="archived")
    edited = document(site, "/study/film")
    edited.text = "# Our own words\n\nBetter ones."
    save_document(document=edited)
    second = crawled(source)
    assert counts(second) == {"unchanged": 11}
    assert document(site, "/study/film").text == edited.text
    site.answers["/study/film"] = page(html("Studying film", text="The site's new words."))
    site.answers["/study/art"] = page(html("Studying art", text="New words of an archived page."))
    third = crawled(source)
    assert third.changed == 2
    assert document(site, "/study/film").text == edited.text
    assert "The site's new words." in document(site, "/study/film").correction.new_text
    assert "the correction stays until somebody decides" in reasons(third, "changed")[site.url("/study/film")]
    assert counts(crawled(source)) == {"unchanged": 11}
    assert document(site, "/study/art").status == "archived"


def test_what_a_page_changes_elsewhere_is_taken_over_beside_a_correction(site: Site) -> None:
    paragraphs = [f"Paragraph {name} of the page says one thing." for name in ("one", "two", "three", "four", "five")]
    site.answers["/study/film"] = page(html("Studying film", text="</p><p>".join(paragraphs)))
    source = make_source(site)
    crawled(source)
    corrected = document(site, "/study/film")
    corrected.text = corrected.text.replace("Paragraph one of", "Paragraph 1 of")
    save_document(document=corrected)
    site.answers["/study/film"] = page(html("Studying film", text="</p><p>".join([*paragraphs[:4], "The end."])))
    second = crawled(source)
    text = document(site, "/study/film").text
    assert "Paragraph 1 of" in text
    assert "The end." in text
    assert "what changed elsewhere in it was taken over" in reasons(second, "changed")[site.url("/study/film")]
    assert "Paragraph 1 of" in "".join(document(site, "/study/film").passages.values_list("text", flat=True))


def test_what_a_crawl_finds_beside_the_text_is_not_taken_back_by_an_open_form(site: Site, admin_client: Client) -> None:
    site.answers["/study/film"] = page(html("Studying film"))
    source = make_source(site)
    crawled(source)
    address = reverse("admin:knowledge_document_change", args=[document(site, "/study/film").pk])
    opened = as_sent(admin_client.get(address), "document_form", external_id="7")
    site.answers["/study/film"] = page(html("Studying film", head='<meta property="og:site_name" content="Films">'))
    assert crawled(source).changed == 0
    shown = admin_client.post(address, opened)
    assert shown.status_code == 200
    assert admin_client.post(address, as_sent(shown, "document_form")).status_code == 302
    saved = document(site, "/study/film")
    assert (saved.external_id, saved.metadata["og"]) == ("7", {"site_name": "Films"})
    crawled(source)
    assert document(site, "/study/film").updated_at == saved.updated_at


def test_a_site_that_loses_most_pages_waits_for_a_decision(site: Site) -> None:
    source = make_source(site, max_loss_percent=30)
    crawled(source)
    for name in sites.STUDY[:6]:
        del site.answers[f"/study/{name}"]
    held = crawled(source)
    assert held.state == State.HELD
    assert str(Said(**held.message)) == "of 11 known pages 6 are gone and 0 could not be fetched"
    assert not Document.objects.filter(status="archived").exists()
    assert source.pages.filter(missing_runs__gt=0).count() == 0

    keep_pages(run=held)
    assert accept_loss(run=held) is None  # it is decided
    again = crawled(source)
    assert (again.state, Document.objects.filter(status="archived").count()) == (State.HELD, 0)

    assert accept_loss(run=again) == 6
    again.refresh_from_db()
    assert (again.state, Document.objects.filter(status="archived").count()) == (State.FINISHED, 6)

    site.close()  # a site that is away loses nothing
    away = crawled(source)
    assert (away.state, away.gone) == (State.FAILED, 0)
    assert str(Said(**away.message)) == "of 5 known pages 0 are gone and 5 could not be fetched"
    assert not source.pages.filter(missing_runs=1).exists()
    assert "connection was refused" in reasons(away, "failed")[site.url("/")]


# --- interruptions ---


def slow_site(site: Site) -> None:
    small(site)
    site.answers |= {
        path: Answer(200, answer.body, answer.headers, after_s=0.1)
        for path, answer in site.answers.items()
        if isinstance(answer, Answer)
    }


def everything_once(site: Site) -> None:
    """Check that no document is lost, and no document and no passage doubled."""
    assert set(Document.objects.values_list("url", flat=True)) == {site.url(path) for path in site.answers}
    for one in Document.objects.all():
        positions = list(one.passages.order_by("position").values_list("position", flat=True))
        assert positions
        assert positions == list(range(len(positions)))


def test_a_crawler_that_is_killed_loses_and_doubles_nothing(site: Site) -> None:
    source, seen = make_source(site), []

    def index(document_id: int) -> None:
        sync_document(document_id)
        seen.append(document_id)
        if len(seen) == 3:
            (crawler,) = descendants(os.getpid()) & crawlers()
            os.kill(crawler, signal.SIGKILL)

    slow_site(site)
    run = crawled(source, index)
    assert run.state == State.FAILED
    assert "ended before it was done" in str(Said(**run.message))
    assert 3 <= Document.objects.count() < 11
    again = crawled(source)
    assert again.state == State.FINISHED
    assert again.unchanged >= 3
    assert site.most_at_once == 2
    everything_once(site)


def crawlers() -> set[int]:
    return {pid for pid, line in command_lines().items() if "knowledge.ingest.crawler" in line}


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_is_replaced_and_loses_and_doubles_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(small) as site:
        source = make_source(site, delay_s=1)
        run_id = queue_run(source.pk)
        values = connection.settings_dict
        url = f"postgresql://{values['USER']}:{values['PASSWORD']}@{values['HOST']}:{values['PORT']}/{values['NAME']}"
        program = f"import django; django.setup(); from knowledge.tasks import run_crawl; run_crawl({run_id})"
        environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "marcelcms.settings"}
        with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment) as worker:
            wait_until(lambda: Document.objects.count() >= 2, 60)
            (crawler,) = descendants(worker.pid) & crawlers()
            worker.kill()
        wait_until(lambda: not alive(crawler), 0.5)
        assert Document.objects.count() < 11
        Source.objects.update(delay_s=0)

        begun: list[int] = []
        monkeypatch.setattr(run_crawl, "delay", begun.append)
        requeue_lost_jobs()
        assert begun == []  # it may be at work yet
        lost = timezone.now() - CrawlRun.LOST_AFTER - timedelta(seconds=1)
        CrawlRun.objects.filter(pk=run_id).update(heartbeat_at=lost)
        requeue_lost_jobs()
        assert CrawlRun.objects.get(pk=run_id).state == State.INTERRUPTED
        (again,) = begun
        run_crawl(again)
        run = CrawlRun.objects.get(pk=again)
        assert run.state == State.FINISHED
        assert run.unchanged >= 1
        index_pending_documents()  # the page that it had saved and not yet indexed
        everything_once(site)


def test_a_source_whose_crawls_always_die_is_not_begun_for_ever(site: Site) -> None:
    source = make_source(site)
    for _ in range(CrawlRun.MOST_INTERRUPTIONS):
        (run_id,) = list(CrawlRun.requeue_lost()) or [queue_run(source.pk)]
        lost = timezone.now() - CrawlRun.LOST_AFTER - timedelta(seconds=1)
        CrawlRun.objects.filter(pk=run_id).update(state=State.RUNNING, heartbeat_at=lost)
    assert list(CrawlRun.requeue_lost()) == []
    assert set(source.runs.values_list("state", flat=True)) == {State.INTERRUPTED}


def test_a_worker_that_was_believed_lost_writes_no_more(site: Site) -> None:
    source = make_source(site)

    def index(_document_id: int) -> None:
        source.runs.update(state=State.INTERRUPTED)

    run = crawled(source, index)
    assert (run.state, Document.objects.count()) == (State.INTERRUPTED, 1)


@pytest.mark.django_db(transaction=True)
def test_a_crawl_is_cancelled_within_seconds_and_keeps_what_it_found(site: Site) -> None:
    slow_site(site)
    source = make_source(site, delay_s=1)
    run_id = queue_run(source.pk)

    def cancel() -> None:
        try:
            wait_until(lambda: Document.objects.exists(), 20)
            cancel_run(run=CrawlRun.objects.get(pk=run_id))
        finally:
            connection.close()

    thread = threading.Thread(target=cancel)
    thread.start()
    run = crawl(run_id, index=sync_document)
    thread.join()
    assert run
    assert run.state == State.CANCELLED
    assert 1 <= Document.objects.count() < 11  # a page a second
    assert source.pages.filter(missing_runs__gt=0).count() == 0
    assert not descendants(os.getpid()) & crawlers()


# --- pages that are empty without JavaScript ---


def test_a_site_that_needs_javascript_becomes_documents_where_there_is_a_browser(
    settings: Settings, tmp_path: Path
) -> None:
    marked = "it was read after its JavaScript had run"
    with serving(application) as site:
        source = make_source(site)
        without = crawled(source)
        assert "an empty shell that JavaScript would fill" in reasons(without, "skipped")[site.url("/")]
        assert not Document.objects.exists()

        settings.CRAWL_BROWSER = chromium(tmp_path)
        first = crawled(source)
        assert counts(first) == {"new": 3, "skipped": 1}
        assert reasons(first, "new") == {site.url(path): marked for path in ("/", "/fees", "/library")}
        assert document(site, "/fees").text.startswith("# Fees\n")
        assert list(tmp_path.glob("crawls/*")) == []

        # The shell and its date are as they were; what its script shows is not.
        site.answers["/api/fees.json"] = data("Fees", text="It costs 318 euros.")
        second = crawled(source)
        assert counts(second) == {"changed": 1, "unchanged": 2, "skipped": 1}
        assert reasons(second, "changed") == {site.url("/fees"): marked}

        settings.CRAWL_BROWSER = ""
        last = crawled(source)
        assert "an empty shell that JavaScript would fill" in reasons(last, "failed")[site.url("/")]
        assert set(Document.objects.values_list("status", flat=True)) == {"published"}


# --- sources ---


def test_one_crawl_of_a_source_goes_on_at_a_time(site: Site, django_capture_on_commit_callbacks: Any) -> None:
    source = make_source(site)
    with django_capture_on_commit_callbacks() as queued:
        run, same = start_crawl(source=source), start_crawl(source=source)
    assert (run, len(queued)) == (same, 1)
    crawl_source(source.pk)  # its schedule comes round
    assert list(source.runs.values_list("state", flat=True)) == [State.QUEUED]
    cancel_run(run=run)
    assert crawl(run.pk, index=sync_document) is None
    assert not Document.objects.exists()


def test_a_schedule_follows_its_source(site: Site) -> None:
    source = make_source(site, every=Source.Every.WEEK, at_hour=4)
    (task,) = PeriodicTask.objects.filter(name__startswith="crawl-source")
    assert (task.task, task.args) == ("knowledge.tasks.crawl_source", f"[{source.pk}]")
    assert (task.crontab.hour, task.crontab.day_of_week, str(task.crontab.timezone)) == ("4", "0", "Europe/Berlin")
    source.every = Source.Every.HOUR
    save_source(source=source)
    task.refresh_from_db()
    assert (task.crontab.hour, task.crontab.day_of_week) == ("*", "*")
    source.every = Source.Every.NEVER
    save_source(source=source)
    assert not PeriodicTask.objects.filter(name__startswith="crawl-source").exists()
    delete_source(source=source)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("start_urls", []),
        ("start_urls", ["www.uni.example"]),
        ("start_urls", ["file:///etc/passwd"]),
        ("start_urls", ["https://user:secret@uni.example/"]),
        ("allow", ["/en/*"]),
        ("deny", ["www.uni.example/print/*"]),
        ("domains", ["https://www.uni.example/"]),
    ],
)
def test_what_could_never_match_a_page_is_told_at_the_door(field: str, value: list[str]) -> None:
    fields = {"start_urls": ["https://www.uni.example/"], field: value}
    with pytest.raises(ValidationError) as refused:
        save_source(source=Source(name="Site", collection=CollectionFactory(), **fields))
    assert list(refused.value.message_dict) == [field]
    assert not Source.objects.exists()


def test_the_command_crawls_tells_and_indexes(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.answers["/study/art"] = Answer(500)
    options = {"collection": "faculty", "allow_private": True, "delay": 0}
    call_command("crawl", site.url("/"), **options)
    told = capsys.readouterr()
    assert told.out == "10 new, 0 changed, 0 unchanged, 0 gone, 1 failed, 0 left out.\n"
    assert f"failed: {site.url('/study/art')}: the server answers with status 500" in told.err
    assert Passage.objects.values("document").distinct().count() == 10
    call_command("crawl", site.url("/"), **options)
    assert capsys.readouterr().out == "0 new, 0 changed, 10 unchanged, 0 gone, 1 failed, 0 left out.\n"
    assert Source.objects.get().collection.slug == "faculty"


def test_the_command_fails_where_nothing_could_be_fetched(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="no page could be fetched"):
        call_command("crawl", site.url("/"))
    assert "127.0.0.1 leads to 127.0.0.1, which is not a public address" in capsys.readouterr().err
    assert CrawlRun.objects.get().state == CrawlRun.State.FAILED
    with pytest.raises(CommandError, match="no address"):
        call_command("crawl", "www.uni.example")

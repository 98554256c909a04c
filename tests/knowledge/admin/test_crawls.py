"""Crawls in the admin: progress, what was found, and what staff decide; and the generations of the index."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.ingest.crawl_jobs.importer import BACK
from knowledge.ingest.formats.types import Said
from knowledge.ingest.remarks import as_json
from knowledge.models import CrawlRun, Generation, Source, SourcePage
from knowledge.services.documents import save_document
from knowledge.tasks import index_document
from tests.factories import CollectionFactory, DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db
LIST = "admin:knowledge_crawlrun_changelist"
SCRIPT = "<script>alert(1)</script>"
STATUS = {"template": "the server answers with status {status}", "values": {"status": 404}}
LOSS = {
    "template": "of {known} known pages {gone} are gone and {failed} could not be fetched",
    "values": {"known": 60, "gone": 45, "failed": 0},
}


def new_run(**values: Any) -> CrawlRun:
    source = Source.objects.create(
        name=f"Site {Source.objects.count()}",
        collection=CollectionFactory(),
        start_urls=["https://www.uni.example/"],
    )
    return CrawlRun.objects.create(source=source, **values)


def get_url(run: CrawlRun, what: str = "change") -> str:
    return reverse(f"admin:knowledge_crawlrun_{what}", args=[run.pk])


def staff(client: Client, *permissions: str) -> Client:
    client.force_login(UserFactory(permissions=[f"knowledge.{name}" for name in permissions]))
    return client


# --- what is shown ---


def test_the_list_takes_as_many_queries_for_30_crawls_as_for_2(admin_client: Client) -> None:
    counts = []
    for more in (2, 28):
        for _ in range(more):
            new_run(state="held", message=LOSS)
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(reverse(LIST)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_empty_list_says_what_to_do_first(admin_client: Client) -> None:
    assert "No website visits yet." in admin_client.get(reverse(LIST)).content.decode()


def test_outcomes_are_told_in_the_reader_s_language_and_as_text(admin_client: Client) -> None:
    run = new_run(state="finished", gone=1)
    reason = {"template": "the server answers with status {status}", "values": {"status": SCRIPT}}
    run.outcomes.create(kind="gone", url=f"https://www.uni.example/{SCRIPT}", reason=reason)
    page = admin_client.get(get_url(run)).content.decode()
    assert "the server answers with status &lt;script&gt;" in page
    assert SCRIPT not in page


def test_every_remark_on_a_page_and_on_a_crawl_is_shown(admin_client: Client) -> None:
    said = Said("the server answers with status {status}", {"status": 404}), Said(BACK)
    run = new_run(state="finished", message=as_json(*said))
    run.outcomes.create(kind="changed", url="https://www.uni.example/", reason=as_json(*said))
    page = " ".join(admin_client.get(get_url(run)).content.decode().split())
    assert page.count("the server answers with status 404; it is there again, and published again") == 2


def test_outcomes_are_narrowed_by_kind_and_paged(admin_client: Client) -> None:
    run = new_run(state="finished")
    for number in range(60):
        run.outcomes.create(kind="failed", url=f"https://www.uni.example/{number}", reason=STATUS)
    run.outcomes.create(kind="new", url="https://www.uni.example/new")
    assert len(admin_client.get(get_url(run)).context["page"]) == 50
    assert len(admin_client.get(get_url(run), {"kind": "failed", "p": 2}).context["page"]) == 10
    found = admin_client.get(get_url(run), {"kind": "new"}).context["page"]
    assert [outcome.url for outcome in found] == ["https://www.uni.example/new"]
    assert len(admin_client.get(get_url(run), {"kind": "nonsense", "p": "x"}).context["page"]) == 50


def test_a_crawl_takes_as_many_queries_for_30_outcomes_as_for_2(admin_client: Client) -> None:
    run, counts = new_run(state="finished"), []
    for more in (2, 28):
        for document in DocumentFactory.create_batch(more):
            run.outcomes.create(kind="changed", url=document.url, document=document)
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(get_url(run))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_changed_page_leads_to_what_changed(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_document, "delay", Mock())
    document = DocumentFactory(text="Before.")
    run = new_run(state="running")
    document.text = "After."
    save_document(document=document)
    run.outcomes.create(kind="changed", url=document.url, document=document)
    document.text = "Later still."
    save_document(document=document)
    link = reverse("admin:knowledge_document_versions", args=[document.pk])
    replaced = document.revisions.get(text="Before.")
    assert f"{link}?old={replaced.pk}#changes" in admin_client.get(get_url(run)).content.decode()


def test_who_may_not_see_documents_gets_no_links_to_them(client: Client) -> None:
    document, run = DocumentFactory(), new_run(state="finished")
    run.outcomes.create(kind="new", url=document.url, document=document)
    page = staff(client, "view_crawlrun").get(get_url(run)).content.decode()
    assert document.url in page
    assert reverse("admin:knowledge_document_change", args=[document.pk]) not in page


# --- progress ---


def test_progress_is_asked_for_while_the_crawl_goes_on_only(admin_client: Client) -> None:
    run = new_run(state="running", new=3, unchanged=4)
    page = admin_client.get(get_url(run)).content.decode()
    assert f'data-progress="{get_url(run, "progress")}"' in page
    assert "knowledge/crawl.js" in page
    progress = admin_client.get(get_url(run, "progress"))
    assert progress.headers["Cache-Control"].startswith("no-store")
    assert progress.json() == {
        "state": "running",
        "message": "7 addresses so far.",
        "counts": {"new": 3, "changed": 0, "unchanged": 4, "gone": 0, "failed": 0, "skipped": 0},
        "is_active": True,
    }
    CrawlRun.objects.update(state="finished")
    assert admin_client.get(get_url(run, "progress")).json()["is_active"] is False
    page = admin_client.get(get_url(run)).content.decode()
    assert "data-progress" not in page
    assert "knowledge/crawl.js" not in page


@pytest.mark.parametrize("what", ["change", "progress"])
def test_who_may_not_see_crawls_is_refused(client: Client, what: str) -> None:
    assert staff(client, "view_document").get(get_url(new_run(), what)).status_code == 403


def test_a_crawl_that_does_not_exist_is_not_found(admin_client: Client) -> None:
    assert admin_client.get("/admin/knowledge/crawlrun/123456/change/").status_code == 404
    assert admin_client.get("/admin/knowledge/crawlrun/nonsense/change/").status_code == 404


# --- what is done ---


def test_a_crawl_that_goes_on_can_be_stopped(client: Client) -> None:
    run = new_run(state="running")
    staff(client, "crawl_source")
    assert "Stop reading" in client.get(get_url(run)).content.decode()
    page = client.post(get_url(run, "stop"), follow=True).content.decode()
    assert "Stopping." in page
    run.refresh_from_db()
    assert run.cancel_requested


def held_run() -> tuple[CrawlRun, SourcePage]:
    run = new_run(state="held", gone=45, message=LOSS)
    document = DocumentFactory(collection=run.source.collection)
    lost = SourcePage.objects.create(source=run.source, url=document.url, document=document)
    run.outcomes.create(kind="gone", url=document.url, reason=STATUS, document=document)
    return run, lost


@pytest.mark.parametrize(("what", "status"), [("archive", "archived"), ("keep", "published")])
def test_a_loss_is_accepted_or_left(client: Client, monkeypatch: pytest.MonkeyPatch, what: str, status: str) -> None:
    monkeypatch.setattr(index_document, "delay", Mock())
    run, lost = held_run()
    staff(client, "crawl_source")
    page = " ".join(client.get(get_url(run)).content.decode().split())
    assert "This site lost 45 of 60 pages. Nothing was archived yet." in page
    assert "Archive the pages" in page
    assert client.get(get_url(run, what)).status_code == 405
    after = client.post(get_url(run, what), follow=True).content.decode()
    assert "Archive the pages" not in after
    lost.document.refresh_from_db()
    assert lost.document.status == status
    run.refresh_from_db()
    assert run.state == "finished"


@pytest.mark.parametrize("what", ["archive", "keep", "stop"])
def test_who_may_only_look_decides_nothing(client: Client, what: str) -> None:
    run, _lost = held_run()
    staff(client, "view_crawlrun")
    page = client.get(get_url(run)).content.decode()
    assert "This site lost 45 of 60 pages." in page
    assert "Archive the pages" not in page
    assert "Keep the pages" not in page
    assert client.post(get_url(run, what)).status_code == 403
    run.refresh_from_db()
    assert run.state == "held"


@pytest.mark.parametrize("what", ["add", "delete"])
def test_nobody_adds_or_deletes_a_crawl(admin_client: Client, what: str) -> None:
    run = new_run(state="finished")
    url = reverse("admin:knowledge_crawlrun_add") if what == "add" else get_url(run, "delete")
    assert admin_client.post(url, {"post": "yes"}).status_code == 403


# --- the index ---


def test_generations_tell_how_far_they_are(admin_client: Client) -> None:
    documents = DocumentFactory.create_batch(3, collection=CollectionFactory())
    for document in documents[:2]:
        sync_document(document.pk)
    Generation.objects.create(model="next", embedder="x", dimensions=8, passage_tokens=200, cutting="y")
    page = " ".join(admin_client.get(reverse("admin:knowledge_generation_changelist")).content.decode().split())
    assert "2 of 3" in page
    assert '<progress value="0" max="3"' in page


def test_generations_can_only_be_looked_at(admin_client: Client) -> None:
    live = live_generation()
    url = reverse("admin:knowledge_generation_change", args=[live.pk])
    assert admin_client.get(url).status_code == 200
    assert admin_client.post(url, {"model": "x"}).status_code == 403
    assert admin_client.get(reverse("admin:knowledge_generation_add")).status_code == 403

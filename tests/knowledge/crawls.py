"""Crawls of a test's website, and what they tell."""

from collections.abc import Callable
from typing import Any

from knowledge.indexing.documents import sync_document
from knowledge.ingest.crawl_jobs.runs import crawl, queue_run
from knowledge.ingest.remarks import from_json
from knowledge.models import CrawlRun, Document, Source
from knowledge.services.crawls import save_source
from tests.factories import CollectionFactory
from tests.knowledge.site import Site


def make_source(site: Site, **values: Any) -> Source:
    fixed = {"delay_s": 0, "allow_private": True, "start_urls": [site.url("/")], "max_loss_percent": 50}
    source = Source(name="Site", collection=CollectionFactory(slug="site"), **{**fixed, **values})
    return save_source(source=source)


def crawled(source: Source, index: Callable[[int], object] = sync_document) -> CrawlRun:
    run_id = queue_run(source.pk)
    assert run_id
    run = crawl(run_id, index=index)
    assert run
    return run


def counts(run: CrawlRun) -> dict[str, int]:
    names = ("new", "changed", "unchanged", "gone", "failed", "skipped")
    return {name: value for name in names if (value := getattr(run, name))}


def document(site: Site, path: str) -> Document:
    return Document.objects.get(url=site.url(path))


def reasons(run: CrawlRun, kind: str) -> dict[str, str]:
    return {one.url: "; ".join(map(str, from_json(one.reason))) for one in run.outcomes.filter(kind=kind)}


def remarks(site: Site, run: CrawlRun) -> dict[str, str]:
    return {url.removeprefix(site.base): said for url, said in reasons(run, "new").items() if said}


def left_out(site: Site, run: CrawlRun) -> dict[str, str]:
    found = reasons(run, "skipped") | reasons(run, "failed")
    return {url.removeprefix(site.base): said.replace(site.base, "") for url, said in found.items()}

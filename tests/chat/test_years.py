"""The right year: pages that differ in figures alone are all kept, and a question gets those of the year it names."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from pytest_django import Settings

from knowledge.indexing.documents import sync_document
from knowledge.ingest.crawl_jobs.runs import crawl, queue_run
from knowledge.models import CrawlRun, Document, Source
from knowledge.services.crawls import save_source
from tests.factories import CollectionFactory, DocumentFactory
from tests.knowledge.site import Site, serving
from tests.knowledge.twins import FAMILIES, TWINS, twins

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """Nothing is queued, and no thread of a command's loop leaves its connection behind."""
    settings.STATE_DIR = tmp_path
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


def source_of(site: Site) -> Source:
    source = Source(
        name="Site",
        collection=CollectionFactory(slug="site"),
        start_urls=[site.url("/")],
        delay_s=0,
        allow_private=True,
    )
    return save_source(source=source)


def crawled(source: Source, index: Callable[[int], object] = lambda _id: None) -> CrawlRun:
    run_id = queue_run(source.pk)
    assert run_id
    run = crawl(run_id, index=index)
    assert run
    return run


def answer(question: str) -> dict[str, Any]:
    out = StringIO()
    call_command("ask", question, "--json", stdout=out)
    said: dict[str, Any] = json.loads(out.getvalue())
    return said


def test_pages_that_differ_in_figures_alone_are_all_kept_and_real_doubles_are_not() -> None:
    with serving(twins) as site:
        run = crawled(source_of(site))
        kept = set(Document.objects.values_list("url", flat=True))
        expected = {site.url(path) for path in ("/", *(twin.path for twin in TWINS))}
        skipped = {one.url.removeprefix(site.base) for one in run.outcomes.filter(kind="skipped")}
    assert len(TWINS) == 60
    assert kept == expected
    assert skipped == {
        "/copy/of-a-page",
        "/print/page",
        "/print/without-canonical",
        "/de/semesterticket?jahr=2022&sid=4f5a6b",
    }


@pytest.mark.slow
def test_a_question_that_names_a_year_is_answered_with_that_years_figure() -> None:
    with serving(twins) as site:
        crawled(source_of(site), sync_document)
    answers = {twin: answer(twin.question)["answer"] for twin in TWINS}
    figures = {twin: {each.figure for each in family} - {twin.figure} for family in FAMILIES for twin in family}
    wrong = [(twin.question, said) for twin, said in answers.items() if any(other in said for other in figures[twin])]
    lost = [(twin.question, said) for twin, said in answers.items() if twin.figure not in said]
    assert wrong == []
    assert lost == []


def test_a_matter_that_pages_tell_for_other_years_alone_is_not_answered_from_what_lies_beside_it() -> None:
    fee, card = CollectionFactory(slug="fees"), "The student card is sent by post once the contribution was paid."
    for title, text in (
        ("Semester contribution 2026/27", "In winter 2026/27 the semester contribution is 318.40 euros."),
        ("Student card", card),
        ("Semester dates 2027/28", "In winter 2027/28 lectures begin on 18 October 2027."),
    ):
        sync_document(DocumentFactory(title=title, text=text, language="en", collection=fee).pk)
    assert "318.40" in answer("How much is the semester contribution in winter 2026/27?")["answer"]
    assert answer("How much is the semester contribution in winter 2027/28?")["abstained"]
    assert "18 October" in answer("When do lectures begin in winter 2027/28?")["answer"]

"""A crawl of a whole university: exactly the expected documents, and exactly what was left out, with its reason."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db.models import Count
from pytest_django import Settings

from chat.pipeline.retrieval.candidates import as_source, load_candidates
from knowledge.editions.grouping import term_of
from knowledge.ingest import recognition
from knowledge.ingest.crawl_jobs import runs
from knowledge.models import CrawlRun, Document, Edition
from knowledge.retrieval.editions import find_editions
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import RankedPassage
from knowledge.tasks import read_pictures
from tests.knowledge import scans
from tests.knowledge import university as universities
from tests.knowledge.crawls import counts, crawled, document, left_out, make_source, remarks
from tests.knowledge.embedders import Instant
from tests.knowledge.scripted import chromium
from tests.knowledge.site import Answer, Site, page, serving
from tests.knowledge.university import files, no_pages, pages, pictures, university

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.usefixtures("embedder")]
#: A hundred documents and more, a process for each file.
LONG = pytest.mark.timeout(300)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(university) as site:
        yield site


@pytest.fixture
def is_read_by_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every picture read as the same line."""
    line = scans.boxes(["Die Anmeldung ist im Prüfungsamt möglich."])
    monkeypatch.setattr(recognition, "read_pictures", scans.Reader(p1=line, p2=line))


@LONG
@pytest.mark.usefixtures("is_read_by_ocr")
def test_all_that_is_a_document_becomes_one_and_all_else_is_told_with_its_reason(site: Site, tmp_path: Path) -> None:
    run = crawled(make_source(site, max_depth=universities.DEPTH, domains=["localhost"]))
    expected = universities.documents(site)
    assert run.state == CrawlRun.State.FINISHED
    assert set(Document.objects.values_list("url", flat=True)) == expected
    assert (run.new, run.outcomes.filter(kind="new").count()) == (len(expected), len(expected))
    assert remarks(site, run) == universities.REMARKS
    assert left_out(site, run) == universities.left_out()
    assert list(tmp_path.glob("crawls/*")) == []

    assert {path: document(site, path).title for path in universities.TITLES} == universities.TITLES
    assert not Document.objects.values("title").annotate(times=Count("pk")).filter(times__gt=1).exists()
    assert {path: document(site, path).text for path in pages.SHORT} == pages.SHORT
    assert document(site, "/de/bewerbung").language == "de"
    assert offered(document(site, "/apply")) == [
        ("rules", site.url("/study/law")), ("fees", site.url("/services/fees")), ("here", pages.PORTAL)
    ]  # fmt: skip
    assert offered(document(site, "/canteen.odt")) == [("hier", "https://a.example/x")]

    read_pictures()
    assert set(Document.objects.filter(passages__isnull=False).values_list("url", flat=True)) == expected
    assert all("im Prüfungsamt möglich" in document(site, path).text for path in (*pictures.SCANS, *pictures.PICTURES))


def offered(found: Document) -> list[tuple[str, str]]:
    """List the links of a document that its first passage offers to who asks for one; its words have no raw marker."""
    passage = found.passages.get(position=0)
    (candidate,) = load_candidates([RankedPassage(passage.pk, found.pk, 1, 1.0, {})])
    source = as_source(candidate, n=1, question="Where is the link?")
    assert "][" not in candidate.text + source.quote
    return [(link.label, link.url) for link in source.links]


@LONG
@pytest.mark.usefixtures("is_read_by_ocr")
def test_only_what_changes_is_embedded_again(site: Site, embedder: Instant) -> None:
    # A file that cannot be imported is read anew by each crawl.
    deny = [site.url(path) for path in files.REFUSED]
    source = make_source(site, max_depth=universities.DEPTH, domains=["localhost"], deny=deny)
    first = crawled(source)
    read_pictures()
    embedder.seen.clear()
    site.log.clear()
    second = crawled(source)
    assert embedder.seen == []
    # Only the circular page names /moved, and one page the picture elsewhere; neither is sent again.
    assert counts(second) == {"unchanged": first.new, "failed": first.failed, "skipped": first.skipped - 2}
    sent = {site.url(asked.path) for asked in site.log if asked.status == 200}
    assert not sent & universities.documents(site)

    for name in ("art", "law", "music"):
        more = f"<h2>Fees</h2><p>Studying {name} costs nothing.</p></main>".encode()
        answer = site.answers[f"/study/{name}"]
        assert isinstance(answer, Answer)
        site.answers[f"/study/{name}"] = page(answer.body.replace(b"</main>", more))
    third = crawled(source)
    assert (third.changed, third.unchanged, third.new) == (3, first.new - 3, 0)
    assert sorted(text.rpartition("\n")[2] for text in embedder.seen) == [
        f"Studying {name} costs nothing." for name in ("art", "law", "music")
    ]
    assert document(site, "/study/law").revisions.count() == 1


def test_pages_of_one_matter_for_several_terms_are_editions_and_the_present_one_answers(site: Site) -> None:
    crawled(make_source(site, allow=[f"{site.base}/contribution/*"], use_sitemaps=False))
    editions = Edition.objects.exclude(group=None).select_related("document", "group")
    found = {each.document.url.removeprefix(site.base): term_of(each) for each in editions}
    assert found == pages.TERMS
    assert {str(each.group) for each in editions} == {"Contribution"}
    documents = [each.document_id for each in editions]
    (choice,) = find_editions(documents, "How much is the contribution?", build_scope()).choices.values()
    (present,) = choice.documents
    assert pages.TERMS[urlsplit(Document.objects.get(pk=present).url).path] == pages.NOW


def test_where_ocr_is_missing_scans_and_pages_that_are_pictures_are_told_of(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans.remove_ocr(monkeypatch)
    texts = {"/", "/study-plan.pdf", "/plan", "/gallery"}
    allowed = [*pictures.SCANS, "/poster*", "/plan", "/plan-large*", "/gallery", "/exams*"]
    run = crawled(make_source(site, allow=list(map(site.url, allowed)), use_sitemaps=False))
    assert set(Document.objects.values_list("url", flat=True)) == set(map(site.url, texts))
    assert remarks(site, run) | left_out(site, run) == pictures.PICTURES_LEFT


def test_with_a_browser_only_the_shells_of_a_site_are_read_in_another_way(
    site: Site, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CRAWL_BROWSER = chromium(tmp_path)
    monkeypatch.setattr(runs, "TIMEOUT_S", 20.0)  # a browser may keep the machine busy; nothing here is slow
    allowed = [site.url(path) for path in no_pages.TRAPS]
    run = crawled(make_source(site, allow=allowed, use_sitemaps=False))
    assert remarks(site, run) == {"/drawn": "it was read after its JavaScript had run"}
    assert document(site, "/drawn").title == "Rooms"
    assert "close at ten" in document(site, "/drawn").text
    expected = {path: reason for path, (_body, reason) in no_pages.TRAPS.items() if path != "/drawn"}
    expected["/shell"] = "its JavaScript was run, and it is still empty"  # its script is missing
    assert left_out(site, run) == expected

"""The crawling process alone: what it asks a site for, and what it says it found."""

import gzip
import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from knowledge.ingest.crawl_jobs.subprocess import crawling
from knowledge.ingest.crawler.frontier import Frontier, Scope, normalised
from knowledge.ingest.crawler.messages import (
    CrawlPlan,
    Done,
    Failed,
    FetchedFile,
    Finding,
    Gone,
    KnownPage,
    Page,
    Skipped,
    Unchanged,
)
from knowledge.ingest.crawler.response import MAX_BYTES, read_sitemap
from tests.knowledge import site as sites
from tests.knowledge.ingest.crawler.test_ssrf import crawled, of_kind
from tests.knowledge.site import Answer, Site, html, page, serving, sitemap, small
from tests.knowledge.university import DEPTH, LEFT_OUT, REFUSED, documents, university
from tests.knowledge.university import MAX_BYTES as MAX_PAGE_BYTES
from tests.knowledge.university.addresses import GONE

pytestmark = pytest.mark.slow

Crawled = tuple[Site, list[Finding]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """Crawl `university` once."""
    with serving(university) as site:
        options = {"max_depth": DEPTH, "max_bytes": MAX_PAGE_BYTES, "domains": ("localhost",)}
        options |= {"reads_pictures": True}
        folder = tmp_path_factory.mktemp("crawl")
        yield site, crawled(folder, site.url("/"), allow_private=True, **options)


def reason(site: Site, findings: list[Finding], path: str) -> str:
    (said,) = [str(one.reason) for one in findings if isinstance(one, Failed | Skipped) and one.url == site.url(path)]
    return said.replace(site.base, "")


def test_every_page_of_a_site_is_found_once(everything: Crawled) -> None:
    site, findings = everything
    found = [finding.url for finding in findings if isinstance(finding, Page | FetchedFile)]
    assert sorted(found) == sorted(documents(site) | set(map(site.url, REFUSED)))
    assert len(found) > 80
    assert findings[-1] == Done(complete=True)


def test_exactly_what_is_left_out_is_told_with_its_reason(everything: Crawled) -> None:
    site, findings = everything
    told = {
        one.url.removeprefix(site.base): str(one.reason).replace(site.base, "")
        for one in findings
        if isinstance(one, Failed | Skipped)
    }
    assert told == LEFT_OUT


def test_pages_that_are_gone_are_told_by_their_status(everything: Crawled) -> None:
    site, findings = everything
    gone = {url: one.status for url, one in of_kind(Gone, findings).items()}
    assert gone == {site.url(path): status for path, status in GONE.items()}


def test_it_is_polite(everything: Crawled) -> None:
    site, _findings = everything
    assert {asked.user_agent for asked in site.log} == {"MarcelCMS (+http://localhost)"}
    asked = [(asked.host, asked.path) for asked in site.log if asked.path != "/busy"]
    assert len(asked) == len(set(asked)), "something was asked for twice"
    paths = {path for _host, path in asked}
    assert not {"/private/secret", "/never-asked", "/behind-the-copy", "/calendar?month=12"} & paths
    assert site.asked("/busy") == 3
    assert site.asked("/hop/8") == 1
    assert site.asked("/hop/9") == 0


def test_a_page_is_read_in_the_right_letters_with_what_belongs_to_it(everything: Crawled) -> None:
    site, findings = everything
    pages = of_kind(Page, findings)
    assert pages[site.url("/umlauts")].title == "Prüfungsämter"
    law = pages[site.url("/study/law")]
    assert law.markdown.startswith("# About law\n")
    assert law.language == "en"
    assert site.url("/study/art") in law.links
    assert Path(of_kind(FetchedFile, findings)[site.url("/handbook.pdf")].path).read_bytes().startswith(b"%PDF")


def test_a_robots_file_may_ask_for_time_between_requests(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        small(site)
        site.answers["/robots.txt"] = Answer(200, b"User-agent: marcelcms\nCrawl-delay: 0.2\nDisallow: /study/b")

    with serving(fill) as site:
        allow = ("*/study/b*", "*/study/c*", "*/study/d*")
        crawled(tmp_path, site.url("/"), allow_private=True, use_sitemaps=False, allow=allow)
    assert {asked.path for asked in site.log} == {"/robots.txt", "/", "/study/chemistry", "/study/drama"}
    times = [asked.at for asked in site.log[1:]]
    assert all(later - earlier > 0.15 for earlier, later in pairwise(times))


def test_a_robots_file_that_cannot_be_read_allows_nothing(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        small(site)
        site.answers["/robots.txt"] = Answer(503)

    with serving(fill) as site:
        findings = crawled(tmp_path, site.url("/"), allow_private=True)
        assert reason(site, findings, "/") == "its robots.txt answers with status 503, so nothing may be read"
    assert {asked.path for asked in site.log} == {"/robots.txt"}


def test_no_more_files_lie_about_than_its_parent_is_behind(tmp_path: Path) -> None:
    paths = [f"/rules/{number}.pdf" for number in range(24)]

    def fill(site: Site) -> None:
        site.answers["/"] = page(html("Home", links=tuple(paths)))
        for path in paths:
            site.answers[path] = Answer(200, sites.pdf(path), {"Content-Type": "application/pdf"})

    with serving(fill) as site:
        plan = CrawlPlan(
            (site.url("/"),),
            "MarcelCMS",
            str(tmp_path),
            delay_s=0,
            allow_private=True,
            use_sitemaps=False,
            most_ahead=5,
        )
        files: list[str] = []
        lying = 0
        with crawling(plan) as findings:
            for finding in findings:
                if isinstance(finding, FetchedFile):
                    files.append(finding.url)
                    while lying < 10 and not all(map(site.asked, paths)):
                        time.sleep(0.1)
                    time.sleep(0.02)
                    lying = max(lying, len(list(tmp_path.glob("*.pdf"))))
                    Path(finding.path).unlink()
    assert sorted(files) == sorted(map(site.url, paths))
    assert lying == 5


def test_depth_and_number_of_pages_are_limited_and_said_so(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        small(site)
        site.answers["/study/art"] = page(html("Studying art", links=("/deeper", "/new")))
        site.answers["/deeper"], site.answers["/new"] = page(html("Deeper")), page(html("New"))
        site.answers["/unlinked"] = page(html("Linked nowhere"))

    with serving(fill) as site:
        known = {site.url(path): KnownPage() for path in ("/unlinked", "/deeper")}
        options: dict[str, Any] = {"allow_private": True, "use_sitemaps": False}
        deep = crawled(tmp_path, site.url("/"), max_depth=1, known=known, **options)
        full = crawled(tmp_path, site.url("/"), max_pages=5, **options)
    # What lies behind the limit may still be there: what is known is asked for, and not believed gone.
    assert set(of_kind(Page, deep)) == {site.url(path) for path in site.answers if path != "/new"}
    assert str(deep[-1].remarks[0]).startswith("1 pages are more than 1 links away, such as http")  # type: ignore[union-attr]
    assert len(of_kind(Page, full)) == 5
    assert full[-1].complete is False  # type: ignore[union-attr]
    assert "more pages than the 5" in str(full[-1].remarks[0])  # type: ignore[union-attr]


def test_what_is_known_is_not_sent_again_and_its_links_are_followed(tmp_path: Path) -> None:
    with serving(small) as site:
        first = of_kind(Page, crawled(tmp_path, site.url("/"), allow_private=True))
        known = {url: KnownPage(one.etag, one.last_modified, one.likeness, one.links) for url, one in first.items()}
        site.log.clear()
        site.answers["/copy"] = page(html("Studying japanese"))
        site.answers["/"] = page(html("Home", links=("/copy", *(f"/study/{name}" for name in sites.STUDY[:10]))))
        second = crawled(tmp_path, site.url("/"), allow_private=True, known=known)
    assert len(of_kind(Unchanged, second)) == 10
    assert {asked.status for asked in site.log if asked.path.startswith("/study/")} == {304}
    # The copy is like a page that was known before, which goes on being the one that counts.
    assert set(of_kind(Page, second)) == {site.url("/")}
    assert set(of_kind(Skipped, second)) == {site.url("/copy")}


# --- which addresses are one page, and which are the site's ---


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("HTTP://WWW.Uni.Example:80/a/../b#part", "http://www.uni.example/b"),
        ("https://uni.example:443", "https://uni.example/"),
        ("https://uni.example/p?z=1&a=2&utm_source=x&fbclid=y", "https://uni.example/p?a=2&z=1"),
        ("https://uni.example/p;jsessionid=1F?PHPSESSID=2", "https://uni.example/p"),
        ("https://uni.example/über uns", "https://uni.example/%C3%BCber%20uns"),
        ("https://user:secret@uni.example/", ""),
        ("ftp://uni.example/", ""),
        ("javascript:alert(1)", ""),
        ("http://[broken/", ""),
        ("http://uni.example:port/", ""),
        ("https://uni.example/" + "a" * 3000, ""),
    ],
)
def test_an_address_is_written_in_one_way(address: str, expected: str) -> None:
    assert normalised(address) == expected


def scope(*start_urls: str, **options: Any) -> Scope:
    return Scope(CrawlPlan(start_urls or ("https://www.uni.example/",), "", "", **options))


def test_the_site_is_its_hosts_under_all_their_names() -> None:
    one = scope("https://www.uni.example/", "https://library.example/", domains=("old.example",))
    assert one.page("https://uni.example/a?b=1") == "https://www.uni.example/a?b=1"
    assert one.page("https://www.old.example/a") == "https://www.uni.example/a"
    assert one.page("https://www.library.example/a") == "https://library.example/a"
    assert one.is_on_site("http://old.example/")
    assert not one.is_on_site("https://sub.uni.example/")
    assert not one.is_on_site("https://www.uni.example:8443/")
    assert not one.is_on_site("https://www.uni.example.evil.example/")


def test_patterns_choose_among_whole_addresses() -> None:
    chosen = scope(allow=("https://www.uni.example/en/*",), deny=("*/print/*", "*.php?*"))
    wanted = ["https://www.uni.example/en/study", "https://www.uni.example/"]  # a start address always is
    unwanted = [
        "https://www.uni.example/de/",
        "https://www.uni.example/en/print/1",
        "https://www.uni.example/en/a.php?b",
    ]
    assert [url for url in [*wanted, *unwanted] if chosen.is_wanted(url)] == wanted


def test_a_site_that_makes_up_addresses_comes_to_an_end() -> None:
    frontier = Frontier(scope(), max_depth=3, max_pages=1)
    visits = [frontier.offer(f"https://www.uni.example/{number}") for number in range(2000)]
    assert sum(map(bool, visits)) == 1010
    assert frontier.is_full


# --- sitemaps ---


def test_a_sitemap_may_be_packed_plain_or_an_index() -> None:
    urls = ["https://uni.example/a", "https://uni.example/b"]
    assert read_sitemap(sitemap(urls)).pages == tuple(urls)
    assert read_sitemap(gzip.compress(sitemap(urls))).pages == tuple(urls)
    assert read_sitemap(sitemap(urls, index=True)).sitemaps == tuple(urls)
    assert read_sitemap("\n".join(urls).encode()).pages == tuple(urls)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>Not found</body></html>", b"<", gzip.compress(b" " * (MAX_BYTES + 1)), b"\x1f\x8bbroken"],
)
def test_what_is_no_sitemap_lists_nothing(body: bytes) -> None:
    try:
        listed = read_sitemap(body)
    except ValueError:
        return
    assert not listed.pages
    assert not listed.sitemaps


def test_a_sitemap_cannot_read_our_files_or_blow_up() -> None:
    entities = '<!ENTITY a "xxxxxxxxxxxxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">'
    body = f"<!DOCTYPE a [{entities}]>".encode() + b"<urlset><url><loc>https://uni.example/&b;&f;</loc></url></urlset>"
    assert all(len(url) < 100 and "root" not in url for url in read_sitemap(body).pages)


def test_a_plan_survives_its_way_to_the_process() -> None:
    known = {"https://uni.example/": KnownPage("tag", "date", "like", ("https://uni.example/a",))}
    plan = CrawlPlan(("https://uni.example/",), "Marcel", "/tmp", deny=("*x*",), known=known)
    assert CrawlPlan.from_wire(json.loads(json.dumps(plan.to_wire()))) == plan

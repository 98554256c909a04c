"""What a page's scripts may load, and how it is loaded, without a browser."""

import asyncio
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import TextResponse

from knowledge.ingest.crawler.frontier import Scope
from knowledge.ingest.crawler.messages import CrawlPlan
from knowledge.ingest.crawler.rendering.resources import MAX_KEPT_BYTES, Resource, Resources
from knowledge.ingest.crawler.rendering.rules import Verdict, judge
from knowledge.ingest.crawler.robots import RobotsForbid

SITE = "https://www.uni.example"
SCOPE = Scope(CrawlPlan((f"{SITE}/",), "", "", deny=("*/print/*",), domains=("data.example",)))


@pytest.mark.parametrize(
    ("address", "kind", "method", "expected"),
    [
        (f"{SITE}/app.js", "script", "GET", Verdict.LOAD),
        (f"{SITE}/api/fees.json?year=2026", "fetch", "GET", Verdict.LOAD),
        ("https://uni.example/api/fees", "xhr", "GET", Verdict.LOAD),
        ("https://data.example/fees", "xhr", "GET", Verdict.LOAD),
        (f"{SITE}/app.css", "stylesheet", "GET", Verdict.EMPTY),
        ("https://cdn.example/app.css", "stylesheet", "GET", Verdict.EMPTY),
        (f"{SITE}/api/graph", "fetch", "POST", Verdict.REFUSE),
        (f"{SITE}/api/fees.json", "fetch", "HEAD", Verdict.REFUSE),
        (f"{SITE}/logo.png", "image", "GET", Verdict.REFUSE),
        (f"{SITE}/film.mp4", "media", "GET", Verdict.REFUSE),
        (f"{SITE}/letters.woff2", "font", "GET", Verdict.REFUSE),
        (f"{SITE}/news", "eventsource", "GET", Verdict.REFUSE),
        (f"{SITE}/told", "ping", "GET", Verdict.REFUSE),
        (f"{SITE}/print/fees.json", "fetch", "GET", Verdict.REFUSE),
        ("https://cdn.example/app.js", "script", "GET", Verdict.REFUSE),
        ("https://www.uni.example.evil.example/app.js", "script", "GET", Verdict.REFUSE),
        ("https://user:secret@www.uni.example/app.js", "script", "GET", Verdict.REFUSE),
        ("https://www.uni.example:8443/app.js", "script", "GET", Verdict.REFUSE),
        ("http://169.254.169.254/latest/", "fetch", "GET", Verdict.REFUSE),
        ("http://2852039166/latest/", "fetch", "GET", Verdict.REFUSE),
        ("file:///etc/passwd", "fetch", "GET", Verdict.REFUSE),
    ],
)
def test_scripts_load_what_text_comes_from_and_from_the_site_alone(
    address: str, kind: str, method: str, expected: Verdict
) -> None:
    assert judge(address, kind=kind, method=method, scope=SCOPE) is expected


class Web:
    """Answers as it was told; `asked` are the requests that came."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {f"{SITE}/{path}": answer for path, answer in answers.items()}
        self.asked: list[Request] = []

    async def download(self, request: Request) -> Any:
        self.asked.append(request)
        answer = self.answers.get(request.url, 404)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return TextResponse(request.url, status=302, headers={"Location": answer})
        if isinstance(answer, int):
            return TextResponse(request.url, status=answer)
        return TextResponse(request.url, body=answer, headers={"Content-Type": "application/json"})

    def loaded(self, *paths: str) -> list[Resource | None]:
        resources = Resources(self.download, SCOPE, max_bytes=1_000)

        async def load() -> list[Resource | None]:
            return [await resources.load(f"{SITE}/{path}", accept="application/json") for path in paths]

        return asyncio.run(load())

    @property
    def paths(self) -> list[str]:
        return [request.url.removeprefix(f"{SITE}/") for request in self.asked]


def test_an_address_is_asked_for_once_in_a_crawl_with_what_the_page_accepts() -> None:
    web = Web(fees=b"{}")
    first, second = web.loaded("fees", "fees#top")
    assert first == second == Resource(200, "application/json", b"{}")
    (asked,) = web.asked
    assert dict(asked.headers) == {b"Accept": [b"application/json"]}
    assert asked.meta["download_slot"] == "www.uni.example"
    assert asked.meta["download_maxsize"] == 1_000


def test_an_address_that_failed_is_asked_for_again() -> None:
    web = Web(fees=503)
    assert [found.status for found in web.loaded("fees", "fees") if found] == [503, 503]


def test_redirects_are_followed_on_the_site_alone() -> None:
    web = Web(old="/new", new=b"{}", away="https://elsewhere.example/", cloud="http://169.254.169.254/", round="/round")
    old, *others = web.loaded("old", "away", "cloud", "round")
    assert old == Resource(200, "application/json", b"{}")
    assert others == [None, None, None]
    assert web.paths == ["old", "new", "away", "cloud", *["round"] * 9]


def test_what_robots_txt_forbids_and_what_fails_is_nothing() -> None:
    assert Web(marks=RobotsForbid(), away=OSError("refused")).loaded("marks", "away") == [None, None]


def test_what_is_kept_of_a_crawl_has_a_limit() -> None:
    web = Web(large=b" " * (MAX_KEPT_BYTES - 1), small=b"{}")
    web.loaded("large", "small", "large", "small")
    assert web.paths == ["large", "small", "small"]

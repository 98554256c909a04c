"""Pages that scripts draw: what is read of them, and that their scripts reach nothing but the site."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knowledge.ingest.crawler.messages import CrawlPlan, Done, Finding, KnownPage, Page, Skipped
from knowledge.ingest.crawler.rendering.drawing import MOST_REQUESTS
from tests.knowledge.ingest.crawler.test_spider import reason
from tests.knowledge.ingest.crawler.test_ssrf import ROOT, crawled, of_kind
from tests.knowledge.scripted import application, chromium, data, draw, shell
from tests.knowledge.site import Answer, Site, html, page, redirect, serving
from tests.runtime.processes import alive, command_lines, descendants, wait_until

pytestmark = pytest.mark.slow


def rendered(folder: Path, *start_urls: str, **options: Any) -> list[Finding]:
    fixed = {"allow_private": True, "use_sitemaps": False, "browser": chromium(folder)}
    return crawled(folder, *start_urls, **{**fixed, **options})


class Listener:
    """A machine of the network that nothing of a page may reach: it counts who comes, by TCP and UDP."""

    def __init__(self) -> None:
        self.came: list[str] = []
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self.tcp.accept()
            except OSError:
                return
            self.came.append("a connection")
            connection.close()

    def _receive(self) -> None:
        while True:
            try:
                self.udp.recvfrom(2000)
            except OSError:
                return
            self.came.append("a datagram")


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    for each in (listening.tcp, listening.udp):
        each.close()


# --- what is read ---


def test_an_application_of_one_page_is_read_as_the_pages_that_it_draws(tmp_path: Path) -> None:
    with serving(application) as site:
        findings = rendered(tmp_path, site.url("/"))
        assert reason(site, findings, "/nowhere") == (
            "it says that there is no such page (“Page not found”), with the status of one"
        )
    pages = of_kind(Page, findings)
    assert {url.removeprefix(site.base): one.title for url, one in pages.items()} == {
        "/": "The university",
        "/fees": "Fees",
        "/library": "The library",
    }
    assert all(one.is_rendered for one in pages.values())
    assert pages[site.url("/fees")].markdown.startswith("# Fees\n")
    assert [one for one in findings if isinstance(one, Done)] == [Done(complete=True)]
    # Each page, script and set of data once, by our own name; the style sheet, which draws no text, never.
    asked = [asked.path for asked in site.log]
    assert len(asked) == len(set(asked))
    assert "/app.css" not in asked
    assert {asked.user_agent for asked in site.log} == {"MarcelCMS (+http://localhost)"}


def test_a_page_with_text_of_its_own_runs_no_script(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        site.answers["/"] = page(html("Home", head='<script src="/never.js"></script>'))

    with serving(fill) as site:
        (found,) = of_kind(Page, rendered(tmp_path, site.url("/"))).values()
    assert not found.is_rendered
    assert not site.asked("/never.js")


def test_whether_an_empty_shell_changed_says_nothing_about_what_it_draws(tmp_path: Path) -> None:
    with serving(application) as site:
        first = of_kind(Page, rendered(tmp_path, site.url("/fees")))
        known = {url: KnownPage(one.etag, one.last_modified, one.likeness, one.links) for url, one in first.items()}
        site.answers["/api/fees.json"] = data("Fees of the new term")
        second = of_kind(Page, rendered(tmp_path, site.url("/fees"), known=known))
    assert [one.title for one in (*first.values(), *second.values())] == ["Fees", "Fees of the new term"]


def test_scripts_and_data_are_loaded_in_the_turns_of_the_sites_host(tmp_path: Path) -> None:
    with serving(application) as site:
        rendered(tmp_path, site.url("/fees"), delay_s=0.4)
    times = [asked.at for asked in site.log]
    assert [asked.path for asked in site.log] == ["/robots.txt", "/fees", "/app.js", "/api/fees.json"]
    assert all(later - earlier > 0.3 for earlier, later in zip(times[1:], times[2:], strict=False))


LEFT_OUT = {
    "/blank": (shell("location = 'about:blank'"), "it leads to about:blank, which is not on this site"),
    "/file": (shell("location = 'file:///etc/passwd'"), "its JavaScript was run, and it is still empty"),
    "/metadata": (
        shell("location = 'http://169.254.169.254/latest/'"),
        "it leads to http://169.254.169.254/latest/, which is not on this site",
    ),
    "/away": (
        shell("setTimeout(() => location.assign('http://elsewhere.example/'), 300)"),
        "it leads to http://elsewhere.example/, which is not on this site",
    ),
    "/home": (shell("location.replace('/fees')"), "it leads to /fees"),
    "/round": (shell("location.reload()"), "its redirects go in a circle"),
    "/ping": (shell("location = '/pong'"), "it leads to /pong"),
    "/pong": (shell("location = '/ping'"), "its redirects go in a circle"),
    "/stuck": (
        shell(draw("Stuck") + "setTimeout(() => { for (;;); }, 100)"),
        "its JavaScript lets nothing else happen for 10 seconds",
    ),
    "/greedy": (
        shell("const kept = []; setInterval(() => kept.push(new Uint8Array(5e7).fill(1)), 5)"),
        "its JavaScript needs more memory than a page should",
    ),
    "/long": (
        shell("document.head.append(new Comment('x'.repeat(3e7)))"),
        "its JavaScript was run, and it has more than 20,971,520 bytes",
    ),
    "/empty": (shell("1 + 1"), "its JavaScript was run, and it is still empty"),
    "/elsewhere": (
        shell(source="http://cdn.example/app.js"),
        "its JavaScript was run, and it is still empty; not loaded was http://cdn.example/app.js",
    ),
}


def test_what_comes_to_no_page_is_left_out_with_its_reason(tmp_path: Path) -> None:
    def fill(site: Site) -> None:
        application(site)
        site.answers["/start"] = page(html("Home", links=tuple(path for path in LEFT_OUT if path != "/pong")))
        site.answers |= {path: answer for path, (answer, _said) in LEFT_OUT.items()}

    with serving(fill) as site:
        findings = rendered(tmp_path, site.url("/start"))
        said = {path: reason(site, findings, path) for path in LEFT_OUT}
    assert said == {path: expected for path, (_answer, expected) in LEFT_OUT.items()}
    assert set(of_kind(Page, findings)) == {site.url("/start"), site.url("/fees")}

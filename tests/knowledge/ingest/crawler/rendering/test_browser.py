"""Pages that scripts draw: what is read of them, and that their scripts reach nothing but the site."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from knowledge.ingest.crawl_jobs.subprocess import crawling
from knowledge.ingest.crawler.messages import CrawlPlan, Done, Finding, KnownPage, Page
from knowledge.ingest.crawler.rendering.page import MOST_REQUESTS
from tests.browser import chromium_path
from tests.knowledge.ingest.crawler.test_spider import reason
from tests.knowledge.ingest.crawler.test_ssrf import WORLD, crawled, of_kind
from tests.knowledge.scripted import DRAWS, application, chromium, data, draw, shell
from tests.knowledge.site import Answer, Site, html, page, redirect, serving
from tests.runtime.processes import alive, command_lines, descendants, wait_until

pytestmark = pytest.mark.slow

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_NOBODY = f"""#!/bin/sh
for each; do case $each in --user-data-dir=*) chown 65534 "${{each#*=}}" ;; esac; done
exec {" ".join(NOBODY)} env HOME=/tmp %s "$@"
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="as root alone can another user's processes be started")


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


def test_links_that_scripts_add_are_followed_even_of_a_page_without_text(tmp_path: Path) -> None:
    menu = "app.innerHTML = '<nav><a href=\"fees\">\\ud800</a></nav>'; history.pushState(0, '', '/study/')"

    def fill(site: Site) -> None:
        site.answers["/"] = shell(menu)
        site.answers["/study/fees"] = page(html("Fees"))

    with serving(fill) as site:
        findings = rendered(tmp_path, site.url("/"))
        assert reason(site, findings, "/") == "its JavaScript was run, and it is still empty"
    assert site.url("/study/fees") in of_kind(Page, findings)


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
    assert all(later - earlier > 0.3 for earlier, later in pairwise(times[1:]))


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
        "its JavaScript is busy for more than 10 seconds",
    ),
    "/greedy": (
        shell("const kept = []; setInterval(() => app.append(kept.push(new Uint8Array(5e7).fill(1))), 5)"),
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
        site.answers["/"] = page(html("Home", links=tuple(path for path in LEFT_OUT if path != "/pong")))
        site.answers["/fees"] = page(html("Fees"))
        site.answers |= {path: answer for path, (answer, _said) in LEFT_OUT.items()}

    with serving(fill) as site:
        findings = rendered(tmp_path, site.url("/"))
        said = {path: reason(site, findings, path) for path in LEFT_OUT}
    assert said == {path: expected for path, (_answer, expected) in LEFT_OUT.items()}
    assert set(of_kind(Page, findings)) == {site.url("/"), site.url("/fees")}


def test_a_page_that_never_settles_is_taken_as_it_is(tmp_path: Path) -> None:
    polls = "let asked = 0; setInterval(() => fetch(`/poll?time=${asked++}`), 20);"
    grows = "setInterval(() => document.body.append('more '), 100);"

    def fill(site: Site) -> None:
        site.answers["/"] = shell(draw("Polls") + polls)
        site.answers["/grows"] = shell(draw("Grows") + grows)
        site.answers["/poll"] = data("News")

    with serving(fill) as site:
        pages = of_kind(Page, rendered(tmp_path, site.url("/"), site.url("/grows")))
        assert {one.title for one in pages.values()} == {"Loading"}
        assert {one.markdown.partition("\n")[0] for one in pages.values()} == {"# Polls", "# Grows"}
        # The page's own request is none of these.
        assert sum(asked.path.startswith("/poll") for asked in site.log) == MOST_REQUESTS


# --- what its scripts do not reach ---

#: Each way to the network; what came of it is drawn, so that the page shows whether it got through.
TRIES = """
const port = %(port)d, other = `http://127.0.0.1:${port}`, came = [];
const soon = promise => Promise.race([promise, new Promise((_, no) => setTimeout(() => no('late'), 1500))]);
const tries = {
  fetch: () => fetch(`${other}/secret`).then(reply => reply.text()),
  opaque: () => fetch(`${other}/secret`, {mode: 'no-cors'}),
  file: () => fetch('file:///etc/passwd').then(reply => reply.text()),
  localhost: () => fetch(`http://localhost:${port}/secret`),
  cloud: () => fetch('http://169.254.169.254/latest/'),
  robots: () => fetch('/private/marks.json').then(reply => reply.text()),
  denied: () => fetch('/print/marks.json').then(reply => reply.text()),
  hidden: () => fetch('/leads-out').then(reply => reply.text()),
  order: () => fetch('/order', {method: 'POST', body: 'one'}),
  worker: () => new Promise((yes, no) => {
    const source = `fetch('${other}/secret', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(0))`;
    new Worker(URL.createObjectURL(new Blob([source]))).onmessage = told => told.data ? yes() : no();
  }),
  service: () => ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, "/service.js").then(
    worker => worker.scope.length,
  ),
  socket: () => new Promise((yes, no) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    socket.onopen = yes;
    socket.onerror = no;
  }),
  transport: () => new WebTransport(`https://127.0.0.1:${port}/`).ready,
  events: () => new Promise((yes, no) => {
    const events = new EventSource(`${other}/events`);
    events.onopen = yes;
    events.onerror = no;
  }),
  image: () => new Promise((yes, no) => Object.assign(new Image(), {onload: yes, onerror: no, src: `${other}/a.png`})),
};
// A page whose text changes is not finished yet.
const waiting = setInterval(() => { document.title += '.'; }, 200);
navigator.sendBeacon(`${other}/beacon`, 'told');
window.open(`${other}/window`);
for (const [name, rel] of [['link', 'prefetch'], ['link', 'preconnect'], ['link', 'dns-prefetch']])
  document.head.append(Object.assign(document.createElement(name), {rel, href: `${other}/`}));
for (const name of ['iframe', 'embed', 'video', 'script'])
  document.body.append(Object.assign(document.createElement(name), {src: `${other}/${name}`}));
const peer = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}]});
peer.createDataChannel('out');
peer.createOffer().then(offer => peer.setLocalDescription(offer));
const tried = Object.entries(tries).map(([name, way]) => {
  const began = new Promise(yes => yes(way()));
  return soon(began).then(() => came.push(name), () => {});
});
Promise.all(tried).then(() => {
  clearInterval(waiting);
  const title = 'Tried', text = `Through came: ${came.join(' ') || 'nothing'}.`;
  %(draws)s
});
"""


def test_the_scripts_of_a_page_reach_nothing_but_the_site(tmp_path: Path, listener: Listener) -> None:
    def fill(site: Site) -> None:
        site.answers["/"] = shell(TRIES % {"port": listener.port, "draws": DRAWS})
        site.answers["/robots.txt"] = Answer(200, b"User-agent: *\nDisallow: /private/")
        site.answers["/leads-out"] = redirect(f"http://127.0.0.1:{listener.port}/secret")
        site.answers["/service.js"] = Answer(200, b"1", {"Content-Type": "text/javascript"})
        for path in ("/private/marks.json", "/print/marks.json"):
            site.answers[path] = data("Marks")

    with serving(fill) as site:
        findings = rendered(tmp_path, site.url("/"), deny=("*/print/*",))
        (found,) = of_kind(Page, findings).values()
    assert "Through came: nothing." in found.markdown
    assert listener.came == []
    assert {asked.path for asked in site.log} == {"/", "/robots.txt", "/leads-out"}


def test_scripts_reach_no_private_machine_by_another_name_of_the_site(tmp_path: Path) -> None:
    script = "fetch('http://localhost:%d/secret').then(reply => reply.text(), () => 'nothing').then(told => {"

    def fill(site: Site) -> None:
        drawn = draw("Told", "Read was TEXT.").replace('TEXT."', '" + told + "."')
        site.answers["/"] = shell(script % site.port + drawn + "})")
        site.answers["/secret"] = data("Secret")

    with serving(fill, address="0.0.0.0") as site:
        start = f"http://public.example:{site.port}/"
        options = {"allow_private": False, "program": WORLD, "domains": ("localhost",)}
        (found,) = of_kind(Page, rendered(tmp_path, start, **options)).values()
        assert not site.asked("/secret")
    assert "Read was nothing." in found.markdown


def test_what_one_page_stores_no_other_page_finds(tmp_path: Path) -> None:
    script = """
    const found = localStorage.length + document.cookie.length;
    localStorage.setItem('left', location.pathname);
    document.cookie = `left=${location.pathname}`;
    """
    tells = draw("Found").replace("text = ", "text = `${location.pathname} found ${found}, ` + ")

    def fill(site: Site) -> None:
        site.answers["/one"] = site.answers["/two"] = shell(script + tells)

    with serving(fill) as site:
        pages = of_kind(Page, rendered(tmp_path, site.url("/one"), site.url("/two")))
    assert {one.markdown.split("\n")[2].partition(",")[0] for one in pages.values()} == {"/one found 0", "/two found 0"}


# --- the browser itself ---


def below(words: str) -> dict[int, str]:
    """Return the processes below this one with these words in their command lines."""
    lines = command_lines()
    return {pid: lines[pid] for pid in descendants(os.getpid()) & set(lines) if words in lines[pid]}


def test_no_process_of_the_browser_outlives_a_crawl_that_is_killed(tmp_path: Path) -> None:
    with serving(lambda site: site.answers.update({"/": shell("for (;;);")})) as site:
        options: dict[str, Any] = {"delay_s": 0, "allow_private": True, "browser": chromium(tmp_path)}
        found: dict[int, str] = {}
        with crawling(CrawlPlan((site.url("/"),), "MarcelCMS", str(tmp_path), **options)) as findings:
            for _finding in findings:
                found = below("chrom")
                if below("--type=renderer"):
                    break
    assert found
    wait_until(lambda: not any(map(alive, found)), 10)


def test_a_browser_that_does_not_start_is_told_of(tmp_path: Path) -> None:
    with serving(application) as site:
        findings = rendered(tmp_path, site.url("/"), browser=str(tmp_path / "none"))
        assert "the browser that runs its JavaScript failed" in reason(site, findings, "/")


@as_root
def test_the_pages_of_strangers_are_drawn_in_chromiums_sandbox(tmp_path: Path) -> None:
    program = tmp_path / "chromium-of-nobody"
    program.write_text(AS_NOBODY % chromium_path())
    program.chmod(0o755)
    if subprocess.run([*NOBODY, "unshare", "--user", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    with serving(lambda site: site.answers.update({"/": shell("for (;;);")})) as site:
        options: dict[str, Any] = {"delay_s": 0, "allow_private": True, "browser": str(program)}
        found: dict[int, str] = {}
        with crawling(CrawlPlan((site.url("/"),), "MarcelCMS", str(tmp_path), **options)) as findings:
            for _finding in findings:
                if found := below("--type=renderer"):
                    break
            for pid, line in found.items():
                assert "--no-sandbox" not in line
                for kind in ("user", "net"):  # it would have no network even if the page broke out of it
                    assert Path(f"/proc/{pid}/ns/{kind}").readlink() != Path(f"/proc/self/ns/{kind}").readlink()
    assert found


@as_root
def test_chromium_does_not_start_without_its_sandbox(tmp_path: Path) -> None:
    chromium(tmp_path)
    with serving(application) as site:
        findings = rendered(tmp_path, site.url("/"), browser=chromium_path())
        said = reason(site, findings, "/")
    assert "the browser that runs its JavaScript failed" in said
    assert "Running as root without --no-sandbox is not supported" in said

"""A university's site on this machine: every kind of answer that a crawler meets, and a log of what was asked."""

import gzip
import hashlib
import io
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from reportlab.pdfgen.canvas import Canvas

from tests.knowledge import offices

# fmt: off
WORDS = ["lecture", "library", "campus", "deadline", "semester", "tutor", "seminar", "essay", "thesis", "laboratory",
         "grant", "ticket", "canteen", "archive", "faculty", "college", "reading", "portal", "certificate", "dormitory",
         "exchange", "internship", "colloquium", "syllabus", "timetable", "mentor", "workshop", "enrolment", "diploma",
         "chapter", "language", "statistics", "physics", "chemistry", "history", "music", "biology", "law"]
STUDY = ["art", "biology", "chemistry", "drama", "economics", "film", "geology", "history", "italian", "japanese",
         "korean", "law", "medicine", "music", "nursing", "optics", "physics", "russian", "spanish", "theology"]
SERVICES = ["advice", "bicycles", "canteen", "disability", "equality", "fees", "grants", "housing", "internships",
            "jobs", "kindergarten", "languages", "mentoring", "networks", "orientation", "printing"]
NEWS = ["award", "building", "concert", "donation", "election", "festival", "guest", "hiring", "invitation", "jubilee"]
GERMAN = ["bewerbung", "einschreibung", "pruefung", "rueckmeldung", "semesterbeitrag", "stundenplan"]
# fmt: on
MODIFIED = "Mon, 05 Jan 2026 08:00:00 GMT"
#: What a crawl of `university` is to go to: links away, and bytes of a page.
DEPTH, MAX_BYTES = 14, 1_000_000


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#: Answers with status 200 that are no pages.
TRAPS = {
    "/lost": "<title>Page not found</title><main><h1>Page not found</h1><p>Sorry, back to the home page.</p></main>",
    "/portal": "<title>Portal</title><main><h1>Log in</h1><form>Password <input type=password></form></main>",
    "/shell": "<title>Timetable</title><body><div id=app>Loading ...</div><script src=/app.js></script>",
    "/being-moved": '<title>Moved</title><meta http-equiv="refresh" content="0; url=/new-home"><p>You are led on.',
    "/repairs": "<title>Grades</title><body><h1>Scheduled maintenance</h1><p>We are back at noon.</p>",
}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    status: int
    at: float
    user_agent: str
    host: str


def prose(seed: str, words: int = 60) -> str:
    chosen = random.Random(seed)
    sentences = [" ".join(chosen.choices(WORDS, k=10)).capitalize() + "." for _ in range(words // 10)]
    return " ".join(sentences)


def html(title: str, *, text: str = "", links: tuple[str, ...] = (), head: str = "", language: str = "en") -> bytes:
    anchors = "".join(f'<li><a href="{link}">Go to {number}</a></li>' for number, link in enumerate(links))
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{head}</head><body>'
        f'<header><nav><a href="/">Home</a></nav></header><main><h1>{title}</h1><p>{text or prose(title)}</p>'
        f"<p>{prose(title + ' more')}</p></main><nav><ul>{anchors}</ul></nav><footer>Imprint</footer></body></html>"
    ).encode()


def redirect(to: str, status: int = 301) -> Answer:
    return Answer(status, headers={"Location": to})


def page(body: bytes, **headers: str) -> Answer:
    return Answer(200, body, {"Content-Type": "text/html; charset=utf-8", **headers})


def pdf(text: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    canvas.setTitle("Regulations")
    for number, line in enumerate([text, *prose(text).split(". ")]):
        canvas.drawString(70, 780 - 16 * number, line)
    canvas.save()
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore errors: a crawler that hangs up is none."""


class Site:
    """Serves `answers` by path (and query); a path that is not there is a 404. Change them as you like."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.answers: dict[str, Answer | Callable[[dict[str, list[str]]], Answer]] = {}
        self.log: list[Asked] = []
        self.is_conditional = True
        self.at_once = self.most_at_once = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                site.serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = Server((address, 0), Handler)
        self.port = self.server.server_port
        self.base = f"http://127.0.0.1:{self.port}"
        self.closing, self.counting = threading.Event(), threading.Lock()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        found = self.answers.get(handler.path) or self.answers.get(parts.path) or Answer(404, b"Not here")
        answer = found(parse_qs(parts.query)) if callable(found) else found
        with self.counting:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.closing.wait(answer.after_s)
        with self.counting:
            self.at_once -= 1
        headers, status, body = dict(answer.headers), answer.status, answer.body
        if status == 200 and headers.pop("X-No-Tag", None) is None and self.is_conditional:
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            stamp = headers.get("Last-Modified")
            if not stamp:
                headers["ETag"] = tag
            known = handler.headers.get("If-None-Match") == tag
            if known or (stamp and handler.headers.get("If-Modified-Since") == stamp):
                status, body = 304, b""
        self.log.append(
            Asked(
                handler.path, status, time.monotonic(), handler.headers.get("User-Agent", ""), handler.headers["Host"]
            )
        )
        try:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        except OSError:
            handler.close_connection = True  # the crawler has hung up

    def asked(self, path: str) -> int:
        return sum(1 for asked in self.log if asked.path == path)

    def url(self, path: str) -> str:
        return self.base + path


@contextmanager
def serving(fill: Callable[[Site], None], **options: str) -> Iterator[Site]:
    site = Site(**options)
    fill(site)
    try:
        yield site
    finally:
        site.close()


def small(site: Site) -> None:
    """Add a home page and ten pages, without faults."""
    site.answers["/"] = page(html("Home", links=tuple(f"/study/{name}" for name in STUDY[:10])))
    for name in STUDY[:10]:
        site.answers[f"/study/{name}"] = page(html(f"Studying {name}"))


def university(site: Site) -> None:
    """Add everything at once; `documents` says which pages must become documents."""
    add = site.answers
    specials = (
        "/old", "/chain-one", "/loop-one", "/away", "/metadata", "/local", "/study/art?utm_source=mail#top",
        "/study/biology?fbclid=1", "/list?b=2&a=1", "/list?a=1&b=2", "/print/drama", "/twin-one", "/twin-two",
        "/handbook.pdf", "/untidy", "/missing", "/removed", "/broken", "/slow", "/private/secret", "/calendar?month=1",
        "/archive?start=1", "/big", "/bomb", "/umlauts", "/noindex", "/data.zip", "/busy", "/deep/one",
        f"http://localhost:{site.port}/study/geology", "mailto:office@uni.example", "javascript:alert(1)",
        "http://elsewhere.example/", "/session;jsessionid=A1?PHPSESSID=7", "/nofollow", "/nothing",
        "/astray", "/circular", "/hop/0", *TRAPS, "/slides.pptx", "/download?id=7", "/letter.doc",
    )  # fmt: skip
    groups = {"study": STUDY, "services": SERVICES, "news": NEWS, "de": GERMAN}
    add["/"] = page(html("University", links=(*(f"/{group}/" for group in groups), *specials)))
    for group, names in groups.items():
        links = tuple(f"/{group}/{name}" for name in names)
        add[f"/{group}/"] = page(html(f"All of {group}", links=links))
        for name in names:
            language = "de" if group == "de" else "en"
            add[f"/{group}/{name}"] = page(html(f"About {name}", links=links[:3], language=language))
    for name in NEWS:
        add[f"/news/{name}"] = page(html(f"News of the {name}"), **{"Last-Modified": MODIFIED})

    add["/robots.txt"] = Answer(
        200, f"User-agent: *\nDisallow: /private/\nSitemap: {site.base}/maps/index.xml\n".encode()
    )
    add["/maps/index.xml"] = Answer(200, sitemap([f"{site.base}/maps/rest.xml.gz"], index=True))
    add["/maps/rest.xml.gz"] = Answer(
        200, gzip.compress(sitemap([site.url("/hidden/first"), site.url("/hidden/second")])),
        {"Content-Type": "application/gzip"},
    )  # fmt: skip
    for name in ("first", "second"):
        add[f"/hidden/{name}"] = page(html(f"The {name} page that nothing links"))

    add["/old"] = redirect("/study/art")
    add["/chain-one"], add["/chain-two"], add["/chain-three"] = map(
        redirect, ("/chain-two", "/chain-three", "/chain-end")
    )
    add["/chain-end"] = page(html("The end of the chain"))
    add["/loop-one"], add["/loop-two"] = redirect("/loop-two"), redirect("/loop-one", 302)
    add["/away"], add["/metadata"] = redirect("http://elsewhere.example/"), redirect("http://169.254.169.254/latest/")
    add["/local"] = redirect(f"http://localhost:{site.port}/study/law")
    add["/list"] = page(html("A sorted list"))
    add["/print/drama"] = page(html("About drama", text="Printed.", head='<link rel="canonical" href="/study/drama">'))
    add["/twin-one"] = page(html("The first twin", head='<link rel="canonical" href="/twin-two">'))
    add["/twin-two"] = page(html("The second twin", head='<link rel="canonical" href="/twin-one">'))
    add["/astray"] = page(html("A page astray", head='<link rel="canonical" href="/missing">'))
    add["/circular"] = page(html("A page in a circle", head='<link rel="canonical" href="/moved">'))
    add["/moved"] = redirect("/circular")
    add |= {f"/hop/{number}": redirect(f"/hop/{number + 1}") for number in range(12)}
    add["/copy-of-film"] = page(html("About film", links=("/behind-the-copy",)))
    add["/handbook.pdf"] = Answer(200, pdf("Regulations of study"), {"Content-Type": "application/pdf"})
    add["/untidy"] = page(
        f"<title>Untidy</title><p>{prose('untidy')}<table><tr><td>Cell<div><b>Bold {prose('bold')}".encode()
        + b'<a href="/behind-untidy">On'
    )
    add["/behind-untidy"] = page(html("Behind the untidy page"))
    add["/removed"], add["/broken"] = Answer(410), Answer(500, b"Oops")
    add["/slow"] = Answer(200, html("Slow"), {"Content-Type": "text/html"}, after_s=4)
    add["/private/secret"] = page(html("Secret"))
    add["/calendar"] = lambda query: page(month(int(query.get("month", ["1"])[0])))
    add["/archive"] = lambda query: page(archive(int(query.get("start", ["1"])[0])))
    add["/big"] = page(html("Big", text="a" * 1_100_000))
    add["/bomb"] = Answer(
        200, gzip.compress(html("Bomb", text="a" * 9_000_000)),
        {"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )  # fmt: skip
    add["/umlauts"] = Answer(
        200, html("Prüfungsämter", text="Über Prüfungen. " * 5).replace(b'<meta charset="utf-8">', b""),
        {"Content-Type": "text/html; charset=iso-8859-1"},
    )  # fmt: skip
    add["/noindex"] = page(
        html("Not for search", links=("/behind-noindex",), head='<meta name="robots" content="noindex">')
    )
    add["/behind-noindex"] = page(html("Behind the unindexed page"))
    add["/nofollow"] = page(html("A dead end", links=("/never-asked",), head='<meta name="robots" content="nofollow">'))
    add["/never-asked"] = page(html("Never asked"))
    add["/data.zip"] = Answer(200, b"PK\x03\x04" + b"0" * 1000, {"Content-Type": "application/zip"})
    add["/nothing"] = page(b"<title>Nothing</title><a href='/behind-nothing'></a>")
    add["/behind-nothing"] = page(html("Behind the page without text"))
    add["/session"] = page(html("A page with sessions"))
    add["/deep/one"] = page(html("The first level", links=("/deep/two", "/copy-of-film")))
    add["/deep/two"] = page(html("The second level", links=("/deep/three",)))
    add["/deep/three"] = page(html("The third level", links=("/deep/four",)))
    add["/deep/four"] = page(html("The fourth level"))
    add |= {path: page(body.encode()) for path, body in TRAPS.items()}
    add["/new-home"] = page(html("The new home"))
    add["/slides.pptx"] = Answer(200, offices.slides(), {"Content-Type": "application/octet-stream"})
    add["/download"] = Answer(200, offices.workbook(), {"Content-Type": XLSX})
    add["/letter.doc"] = Answer(200, b"\xd0\xcf\x11\xe0", {"Content-Type": "application/msword"})
    busy = iter([Answer(429, b"", {"Retry-After": "0"}), Answer(503, b"", {"Retry-After": "0"})])
    add["/busy"] = lambda _query: next(busy, page(html("A busy page")))


def documents(site: Site) -> set[str]:
    """Return what a crawl of `university` finds, the PDF included."""
    groups = {"study": STUDY, "services": SERVICES, "news": NEWS, "de": GERMAN}
    paths = {f"/{group}/{name}" for group, names in groups.items() for name in ("", *names)}
    paths |= {
        "/", "/hidden/first", "/hidden/second", "/chain-end", "/list?a=1&b=2", "/twin-one", "/handbook.pdf",
        "/untidy", "/behind-untidy", "/umlauts", "/behind-noindex", "/nofollow", "/behind-nothing", "/session", "/busy",
        "/deep/one", "/deep/two", "/deep/three", "/deep/four", "/astray", "/circular",
        "/new-home", "/slides.pptx", "/download?id=7",
        *(f"/calendar?month={number}" for number in range(1, 12)),
        *(f"/archive?start={number}" for number in range(1, 12)),
    }  # fmt: skip
    return {site.url(path) for path in paths}


def month(number: int) -> bytes:
    """Make a page with the same words every month, except its number."""
    return html("Calendar", text=f"Month {number}.", links=(f"/calendar?month={number + 1}",))


def archive(start: int) -> bytes:
    """Make a page with other words every time, without an end."""
    title = " ".join(random.Random(start).choices(WORDS, k=6))
    return html(f"Archive of {title}", links=(f"/archive?start={start + 1}",))


def sitemap(urls: list[str], *, index: bool = False) -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{url}</loc></{inner}>" for url in urls)
    return f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'.encode()

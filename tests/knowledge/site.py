"""A website on this machine that answers as it is told to, and a log of what was asked."""

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

# fmt: off
WORDS = ["lecture", "library", "campus", "deadline", "semester", "tutor", "seminar", "essay", "thesis", "laboratory",
         "grant", "ticket", "canteen", "archive", "faculty", "college", "reading", "portal", "certificate", "dormitory",
         "exchange", "internship", "colloquium", "syllabus", "timetable", "mentor", "workshop", "enrolment", "diploma",
         "chapter", "language", "statistics", "physics", "chemistry", "history", "music", "biology", "law"]
STUDY = ["art", "biology", "chemistry", "drama", "economics", "film", "geology", "history", "italian", "japanese",
         "korean", "law", "medicine", "music", "nursing", "optics", "physics", "russian", "spanish", "theology"]
# fmt: on


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


def sitemap(urls: list[str], *, index: bool = False) -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{url}</loc></{inner}>" for url in urls)
    return f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'.encode()

"""The spider: turns responses into findings and further visits."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy import Request, Spider, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider, StopDownload
from twisted.internet.task import LoopingCall

from knowledge.ingest.crawler.deduplication import Gathering
from knowledge.ingest.crawler.errors import explain
from knowledge.ingest.crawler.frontier import Frontier, Scope, Visit, normalised
from knowledge.ingest.crawler.messages import (
    Alive,
    CrawlPlan,
    Done,
    Failed,
    FetchedFile,
    Gone,
    Page,
    Parent,
    Skipped,
    Unchanged,
)
from knowledge.ingest.crawler.rendering.browser import Browser
from knowledge.ingest.crawler.rendering.page import RenderedPage
from knowledge.ingest.crawler.rendering.resources import Resource
from knowledge.ingest.crawler.response import (
    MAX_BYTES,
    MAX_FILES,
    MOST_REDIRECTS,
    REDIRECTS,
    header,
    links_only,
    read_name,
    read_page,
    read_sitemap,
    read_wait,
)
from knowledge.ingest.crawler.robots import ROBOTS_NAME, RobotsForbid
from knowledge.ingest.formats.registry import describe_unread, format_served
from knowledge.ingest.formats.types import Format, Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.types import EmptyShell, MovedPage, NoPage, UnreadablePage

#: A robots.txt may ask for more time between requests than this, but then a crawl would never end.
LONGEST_DELAY_S = 60
HTML = frozenset({"", "text/html", "application/xhtml+xml"})
REMARKED = 20


class SiteSpider(Spider):
    name = "site"

    def __init__(self, plan: CrawlPlan) -> None:
        super().__init__()
        self.plan, self.scope = plan, Scope(plan)
        self.frontier = Frontier(self.scope, max_depth=plan.max_depth, max_pages=plan.max_pages)
        self.gathering = Gathering(plan.known)
        self.sitemaps: set[str] = set()
        self.parent = Parent(plan.most_ahead)
        self.files = 0
        self.browser = Browser(plan, self.scope, self.download) if plan.browser else None
        self.is_capped = self.is_part_hidden = self.has_asked_again = False

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> "SiteSpider":
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_robots, signals.robots_parsed)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        LoopingCall(self.say_alive).start(1)
        for request in self.visits(map(self.frontier.offer, self.scope.starts)):
            yield request
        for url in self.scope.starts if self.plan.use_sitemaps else ():
            for request in self.sitemap_requests([urljoin(url, "/sitemap.xml")]):
                yield request

    # --- requests ---

    def visits(self, visits: Iterable[Visit | None]) -> Iterator[Request]:
        for visit in visits:
            if visit:
                known = self.plan.known.get(visit.url)
                asked = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified} if known else {}
                yield Request(
                    visit.address,
                    callback=self.answered,
                    errback=self.unanswered,
                    headers={name: value for name, value in asked.items() if value},
                    priority=-visit.depth,
                    # A site's names are one host's: they share its turns.
                    meta={"visit": visit, "handle_httpstatus_all": True, "download_slot": read_host(visit.url)},
                )

    def download(self, request: Request) -> Any:
        """Fetch what a page's scripts ask for, with the crawl's own rules."""
        return self.crawler.engine.download_async(request)

    def follow(self, visit: Visit, links: Iterable[str]) -> Iterator[Request]:
        return self.visits(self.frontier.offer(link, depth=visit.depth + 1, parent=visit) for link in links)

    def sitemap_requests(self, urls: Iterable[str]) -> Iterator[Request]:
        for url in map(normalised, urls):
            if url and url not in self.sitemaps and self.scope.is_on_site(url) and len(self.sitemaps) < MAX_FILES:
                self.sitemaps.add(url)
                meta = {"handle_httpstatus_list": [404, 410], "download_maxsize": MAX_BYTES}
                yield Request(
                    url, callback=self.sitemap_answered, errback=self.sitemap_unanswered, meta=meta, priority=1
                )

    # --- answers ---

    async def answered(self, response: Any) -> AsyncIterator[Request]:
        visit: Visit = response.meta["visit"]
        if response.status in {429, 503} and (wait := read_wait(response.headers, visit.tries)) is not None:
            await asyncio.sleep(wait)
            further = self.visits([replace(visit, tries=visit.tries + 1)])
        else:
            # Scrapy fetches nothing more while 5 MB of answers wait here.
            await self.parent.catches_up()
            try:
                further = iter(list(self.take(visit, response)))
            except EmptyShell:
                further = await self.render(visit, response)
        for request in further:
            yield request

    def take(self, visit: Visit, response: Any) -> Iterator[Request]:
        kind = header(response.headers, "Content-Type").partition(";")[0].strip().lower()
        if response.status == 304 and visit.url in self.plan.known:
            self.gathering.stays(visit.url)
            self.say_present(Unchanged(visit.url))
            yield from self.follow(visit, self.plan.known[visit.url].links)
        elif response.status in REDIRECTS and "Location" in response.headers:
            yield from self.redirected(visit, response, header(response.headers, "Location"))
        elif response.status in {404, 410}:
            self.gathering.concluded.add(visit.url)
            self.parent.tell(Gone(visit.url, response.status))
        elif response.status != 200:
            reason = Said(_("the server answers with status {status}"), {"status": response.status})
            yield from self.failed(visit, reason, response.status)
        elif kind in HTML:
            yield from self.page_read(visit, response)
        elif served := self.format_to_read(kind, response.headers, response.url):
            self.keep_file(visit, response, served.suffix)
        else:
            self.skip(visit.url, describe_unread(kind, read_name(response.headers, response.url)))

    def redirected(self, visit: Visit, response: Any, location: str) -> Iterator[Request]:
        address = urldefrag(urljoin(response.url, location)).url
        trail, target = (*visit.trail, visit.address), normalised(address)
        url = self.scope.page(target) if target else ""
        if not target or not self.scope.is_on_site(target):
            self.skip(
                visit.url, Said(_("it leads to {address}, which is not on this site"), {"address": address[:500]})
            )
        elif address in trail:
            self.skip(visit.url, Said(_("its redirects go in a circle")))
        elif len(trail) > MOST_REDIRECTS:
            self.skip(visit.url, Said(_("there are more than {limit} redirects in a row"), {"limit": MOST_REDIRECTS}))
        elif url == visit.url:
            yield from self.visits([replace(visit, address=address, trail=trail)])
        else:
            self.gathering.moved(visit.url, url)
            self.parent.tell(Skipped(visit.url, Said(_("it leads to {address}"), {"address": url})))
            if further := self.frontier.offer(target, depth=visit.depth):
                yield from self.visits([replace(further, address=address, trail=trail, series=visit.series)])

    async def render(self, visit: Visit, response: Any) -> Iterator[Request]:
        """Have the browser run an empty shell's scripts, and read what they made of it."""
        shell = Resource(response.status, header(response.headers, "Content-Type"), response.body)
        try:
            rendered = await self.browser.render(response.url, shell)  # type: ignore[union-attr]
        except MovedPage as moved:
            return self.redirected(visit, response, moved.address)
        except NoPage as error:
            return self.unreadable(visit, response, error)
        body = rendered.html.encode(errors="replace")  # scripts can make halves of characters
        return self.page_read(visit, response.replace(url=rendered.address, body=body), rendered)

    def page_read(self, visit: Visit, response: Any, rendered: RenderedPage | None = None) -> Iterator[Request]:
        """Take a page. Raises EmptyShell for one that the browser is to render first."""
        try:
            read = read_page(visit.url, response, scope=self.scope, is_rendered=rendered is not None)
        except MovedPage as moved:
            yield from self.redirected(visit, response, moved.address)
            return
        except EmptyShell as error:
            if self.browser and not rendered:
                raise
            yield from self.unreadable(visit, response, rendered.still_empty() if rendered else error)
            return
        except UnreadablePage as error:
            yield from self.unreadable(visit, response, error)
            return
        if not read.is_index_allowed:
            self.skip(visit.url, Said(_("it asks not to be indexed (noindex)")))
            yield from self.follow(visit, read.page.links)
            return
        for address in read.pictures_elsewhere:
            self.parent.tell(Skipped(address, Said(_("it is a picture that a page shows, but not on this site"))))
        if read.canonical:
            yield from self.visits([self.frontier.offer(read.canonical, depth=visit.depth, parent=None)])
        yield from self.settled(visit, self.gathering.read(visit, read.page, read.canonical))

    def unreadable(self, visit: Visit, response: Any, error: UnreadablePage) -> Iterator[Request]:
        if visit.url in self.plan.known and not (isinstance(error, NoPage) and error.is_gone):
            yield from self.failed(visit, error.said)
            return
        self.skip(visit.url, error.said)
        try:
            links = links_only(response, self.scope)
        except UnreadablePage:
            return
        yield from self.follow(visit, (*links, *error.pictures))

    def settled(self, visit: Visit, finding: Page | Skipped | None) -> Iterator[Request]:
        if isinstance(finding, Page):
            self.say_present(finding)
            yield from self.follow(visit, finding.links)
        elif finding:
            self.parent.tell(finding)

    def format_to_read(self, kind: str, headers: Any, url: str) -> Format | None:
        """Return the format of a file that is to be fetched; of pictures only where OCR reads them."""
        served = format_served(kind, read_name(headers, url)) or format_served(kind, urlsplit(url).path)
        return served if served and (self.plan.reads_pictures or not served.is_picture) else None

    def keep_file(self, visit: Visit, response: Any, suffix: str) -> None:
        self.files += 1
        path = Path(self.plan.folder) / f"{self.files}{suffix}"
        path.write_bytes(response.body)
        self.gathering.stays(visit.url)
        name = read_name(response.headers, visit.url) or f"document{suffix}"
        tags = (header(response.headers, "ETag"), header(response.headers, "Last-Modified"))
        self.say_present(FetchedFile(visit.url, str(path), name, *tags))

    def unanswered(self, failure: Any) -> list[Request]:
        visit: Visit = failure.request.meta["visit"]
        if failure.check(RobotsForbid):
            self.skip(visit.url, Said(_("its robots.txt forbids it")))
            return []
        return list(self.failed(visit, explain(failure.value, visit.address, self.plan)))

    def failed(self, visit: Visit, reason: Said, status: int = 0) -> Iterator[Request]:
        self.parent.tell(Failed(visit.url, reason, status))
        if known := self.plan.known.get(visit.url):
            self.gathering.stays(visit.url)
            yield from self.follow(visit, known.links)
        else:
            self.gathering.concluded.add(visit.url)
            self.is_part_hidden = True

    def skip(self, url: str, reason: Said) -> None:
        self.gathering.concluded.add(url)
        self.parent.tell(Skipped(url, reason))

    def say_alive(self) -> None:
        self.parent.tell(Alive(len(self.frontier.admitted - self.gathering.concluded)))

    def say_present(self, finding: Page | FetchedFile | Unchanged) -> None:
        if len(self.gathering.present) > self.plan.max_pages:
            self.is_capped = True
            raise CloseSpider("full")
        self.parent.tell(finding)

    # --- sitemaps and robots.txt ---

    def sitemap_answered(self, response: Any) -> Iterator[Request]:
        if response.status != 200:
            return
        try:
            listed = read_sitemap(response.body)
        except ValueError:
            return  # many servers answer with a page of their own
        yield from self.sitemap_requests(listed.sitemaps)
        yield from self.visits(self.frontier.offer(normalised(url), depth=1) for url in listed.pages)

    def sitemap_unanswered(self, failure: Any) -> None:
        self.is_part_hidden = True

    def on_robots(self, robotparser: Any, request: Request) -> None:
        parser = getattr(robotparser, "rp", None)
        if parser is None:
            return
        delay = min(float(parser.crawl_delay(ROBOTS_NAME) or 0), LONGEST_DELAY_S)
        if delay > self.plan.delay_s:
            downloader, host = self.crawler.engine.downloader, read_host(self.scope.page(request.url))
            downloader.per_slot_settings[host] = {"delay": delay, "concurrency": 2, "jitter": 0}
            if slot := downloader.slots.get(host):
                slot.delay = delay
        if self.plan.use_sitemaps:
            self.crawl(self.sitemap_requests(urljoin(request.url, url) for url in parser.sitemaps))

    def on_headers(self, headers: Any, request: Request) -> None:
        kind = header(headers, "Content-Type").partition(";")[0].strip().lower()
        if "visit" in request.meta and kind not in HTML and not self.format_to_read(kind, headers, request.url):
            raise StopDownload(fail=False)

    # --- the end ---

    def on_idle(self) -> None:
        requests = [request for visit, one in self.gathering.settle() for request in self.settled(visit, one)]
        if not requests and not self.has_asked_again and (self.is_part_hidden or self.frontier.too_deep):
            self.has_asked_again = True  # whether what was not met is gone, or lies behind what was not read
            known = map(normalised, self.plan.known)
            requests = list(self.visits(self.frontier.offer(url, depth=self.plan.max_depth) for url in known))
        if requests:
            self.crawl(requests)
            raise DontCloseSpider

    def crawl(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.crawler.engine.crawl(request)

    async def closed(self, reason: str) -> None:
        if self.browser:
            await self.browser.end()
        for url in self.frontier.endless[:REMARKED]:
            self.parent.tell(Skipped(url, Said(_("it is one of an endless series, such as a calendar"))))
        remarks = []
        if self.is_capped:
            text = _("there are more pages than the {limit} that this website may have")
            remarks.append(Said(text, {"limit": self.plan.max_pages}))
        if self.frontier.is_full:
            text = _("there are more than {limit} addresses")
            remarks.append(Said(text, {"limit": len(self.frontier.admitted)}))
        if deep := self.frontier.too_deep:
            text = _("{count} pages are more than {depth} links away, such as {address}")
            remarks.append(Said(text, {"count": len(deep), "depth": self.plan.max_depth, "address": deep[0]}))
        is_complete = reason == "finished" and not self.is_capped and not self.frontier.is_full
        self.parent.tell(Done(is_complete, tuple(remarks)))


def read_host(url: str) -> str:
    return urlsplit(url).hostname or ""

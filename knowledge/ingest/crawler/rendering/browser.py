"""The Chromium of a crawl: started with the first page that needs it, and ended with the crawl.

It ends by itself when the crawling process is killed: Playwright's driver when its standard input closes, Chromium when
the driver's pipe does.
"""

import asyncio
import os
import re
import resource
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from knowledge.ingest.crawler.frontier import Scope
from knowledge.ingest.crawler.messages import CrawlPlan
from knowledge.ingest.crawler.rendering.memory import end_heaviest, memory_below
from knowledge.ingest.crawler.rendering.page import STUCK_S, PageRenderer, RenderedPage
from knowledge.ingest.crawler.rendering.resources import Download, Resource, Resources
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.types import NoPage

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Page, Route

#: Of all its processes together; it takes 300 MB for an empty page.
MAX_MEMORY_BYTES, LOOK_S = 1_500_000_000, 0.1
START_S = 30
FAILED = _("the browser that runs its JavaScript failed, which whoever runs this server should know: {error}")
NO_SANDBOX = re.compile("(?:Running as root without|No usable sandbox).*")
ARGUMENTS = (
    # Every request of a page is answered by us. What would go past that finds no names, and a proxy that is not there.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--disable-gpu",
    "--mute-audio",
    "--js-flags=--max-old-space-size=512",
)


class Browser:
    """Renders one page at a time, each in a context of its own: no page finds what another one stored."""

    def __init__(self, plan: CrawlPlan, scope: Scope, download: Download) -> None:
        self._path, self._user_agent, self._home = plan.browser, plan.user_agent, plan.folder
        self._resources, self._scope = Resources(download, scope, max_bytes=plan.max_bytes), scope
        self._turn = asyncio.Lock()
        self._playwright: Any = None
        self._chromium: Chromium | None = None
        self._failure: NoPage | None = None

    async def render(self, address: str, shell: Resource) -> RenderedPage:
        """Run the scripts of a page whose bytes are `shell`. Raises NoPage, MovedPage if it leads on."""
        async with self._turn:
            chromium = await self._start()
            from playwright.async_api import Error

            try:
                async with self._page(chromium) as page:
                    renderer = PageRenderer(page, address, shell, resources=self._resources, scope=self._scope)

                    async def answer(route: "Route") -> None:
                        with suppress(Error):  # the page has gone
                            await renderer.answer(route)

                    await page.context.route("**/*", answer)
                    return await _unless_too_large(renderer.render())
            except TimeoutError as error:
                await self.end()
                text = _("its JavaScript is busy for more than {seconds} seconds")
                raise NoPage(text, seconds=f"{STUCK_S:g}") from error
            except MemoryError as error:
                await self.end()
                raise NoPage(_("its JavaScript needs more memory than a page should")) from error
            except Error as error:
                await self.end()
                raise NoPage(FAILED, error=_reason(error)) from error

    @asynccontextmanager
    async def _page(self, chromium: "Chromium") -> "AsyncIterator[Page]":
        context = await chromium.new_context(
            user_agent=self._user_agent, service_workers="block", accept_downloads=False
        )
        try:
            page = await context.new_page()
            context.on("page", lambda popup: asyncio.ensure_future(_close(popup)))
            yield page
        finally:
            await _close(context)

    async def _start(self) -> "Chromium":
        """Return the running browser, or start one; where that failed once, it is not tried for each page."""
        if self._failure:
            raise self._failure
        if self._chromium and self._chromium.is_connected():
            return self._chromium
        await self.end()
        try:
            from playwright.async_api import Error, async_playwright
        except ImportError as error:
            self._failure = NoPage(FAILED, error="Playwright is not installed")
            raise self._failure from error
        try:
            with _unlimited_addresses():
                self._playwright = await async_playwright().start()
            self._chromium = await self._playwright.chromium.launch(
                executable_path=self._path,
                args=ARGUMENTS,
                chromium_sandbox=True,
                env={"PATH": os.environ.get("PATH", ""), "HOME": self._home, "LANG": "C.UTF-8"},
                timeout=START_S * 1000,
            )
        except (Error, OSError) as error:
            await self.end()
            self._failure = NoPage(FAILED, error=_reason(error))
            raise self._failure from error
        return self._chromium

    async def end(self) -> None:
        """End the browser, and leave nothing of it on the disk."""
        chromium, playwright, self._chromium, self._playwright = self._chromium, self._playwright, None, None
        if chromium:
            await _close(chromium)
        if playwright:
            with suppress(Exception):  # its driver may have ended
                await asyncio.wait_for(playwright.stop(), STUCK_S)


async def _unless_too_large(rendering: Coroutine[Any, Any, RenderedPage]) -> RenderedPage:
    """Await a page; once the browser's processes take too much together, end the heaviest and raise MemoryError."""
    task = asyncio.create_task(rendering)
    try:
        while not task.done():
            await asyncio.wait((task,), timeout=LOOK_S)
            taken = memory_below(os.getpid())
            if sum(taken.values()) > MAX_MEMORY_BYTES:
                end_heaviest(taken)
                raise MemoryError
        return await task
    finally:
        task.cancel()


@contextmanager
def _unlimited_addresses() -> Iterator[None]:
    """Start a process without this one's limit: Chromium and its driver reserve far more addresses than they use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


async def _close(closable: "Chromium | BrowserContext | Page") -> None:
    with suppress(Exception):  # it has gone already, or does not answer and is ended with the browser
        await asyncio.wait_for(closable.close(), STUCK_S)


def _reason(error: Exception) -> str:
    """Return what Chromium said of its sandbox, which is what most often keeps it from starting, or the first line."""
    said = NO_SANDBOX.search(str(error))
    return (said[0] if said else (str(error).splitlines() or [type(error).__name__])[0])[:200]

"""One page in the browser: its requests are answered, its end is awaited, and what its scripts made of it is read."""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from knowledge.ingest.crawler.frontier import Scope
from knowledge.ingest.crawler.rendering.resources import Resource, Resources
from knowledge.ingest.crawler.rendering.rules import NEEDED, Verdict, judge
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.types import MAX_BYTES, EmptyShell, MovedPage, NoPage

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, Request, Route

#: A page is finished when nothing was loaded and its text kept its length for so long.
QUIET_S, TICK_S = 1.0, 0.25
#: One that never is, is taken as it is after so long without the time in which it waited for us, and in all.
LONGEST_S, LONGEST_IN_ALL_S = 20.0, 600.0
#: Its scripts let nothing else happen for so long.
STUCK_S = 10.0
MOST_REQUESTS = 100
LENGTH = "document.documentElement.textContent.length"
#: What it says to browsers without scripts is no part of what the scripts made.
HTML = """(() => {
  for (const element of document.querySelectorAll('noscript')) element.remove();
  const html = document.documentElement.outerHTML;
  return html.length > %d ? '' : html;
})()"""


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page after its scripts ran; `refused` are scripts and data that were not loaded."""

    html: str
    address: str
    refused: tuple[str, ...]

    def still_empty(self) -> EmptyShell:
        if self.refused:
            text = _("its JavaScript was run, and it is still empty; not loaded was {address}")
            return EmptyShell(text, address=self.refused[0][:500])
        return EmptyShell(_("its JavaScript was run, and it is still empty"))


class PageRenderer:
    """A page while it is rendered. Nothing that it asks for reaches a network except through `resources`."""

    def __init__(self, page: "Page", address: str, shell: Resource, *, resources: Resources, scope: Scope) -> None:
        self._page, self._address, self._shell = page, address, shell
        self._resources, self._scope = resources, scope
        self._is_served = False
        self._asked = self._pending = 0
        self._leads_to = ""
        self._refused: dict[str, None] = {}

    async def render(self) -> RenderedPage:
        """Render it. Raises NoPage, MovedPage if it leads on, TimeoutError if it is stuck, and Playwright's errors."""
        await self._page.goto(self._address, wait_until="commit", timeout=STUCK_S * 1000)
        world = await _World.open(self._page)
        await self._settle(world)
        if self._leads_to or urlsplit(self._page.url).scheme not in {"http", "https"}:
            raise MovedPage(self._leads_to or self._page.url)
        html = await world.evaluate(HTML % MAX_BYTES)
        if not html:
            raise NoPage(_("its JavaScript was run, and it has more than {limit} bytes"), limit=f"{MAX_BYTES:,}")
        return RenderedPage(html, self._page.url, tuple(self._refused))

    async def _settle(self, world: "_World") -> None:
        quiet = spent = 0.0
        before: tuple[int, int] | None = None
        latest = time.monotonic() + LONGEST_IN_ALL_S
        while quiet < QUIET_S and spent < LONGEST_S and time.monotonic() < latest and not self._leads_to:
            begun = time.monotonic()
            await asyncio.sleep(TICK_S)
            now = (await world.evaluate(LENGTH), self._asked)
            took = time.monotonic() - begun
            spent += 0 if self._pending else took
            quiet = quiet + took if now == before and not self._pending else 0
            before = now

    # --- its requests ---

    async def answer(self, route: "Route") -> None:
        request = route.request
        if request.is_navigation_request():
            await self._navigate(route, request)
            return
        self._asked += 1
        verdict = judge(request.url, kind=request.resource_type, method=request.method, scope=self._scope)
        if verdict is Verdict.EMPTY:
            await route.fulfill(status=200, content_type="text/css", body="")
            return
        if verdict is Verdict.LOAD and self._asked <= MOST_REQUESTS:
            self._pending += 1
            try:
                if resource := await self._resources.load(request.url, accept=request.headers.get("accept", "")):
                    await _fulfill(route, resource)
                    return
            finally:
                self._pending -= 1
        if request.resource_type in NEEDED:
            self._refused[request.url] = None
        await route.abort("blockedbyclient")

    async def _navigate(self, route: "Route", request: "Request") -> None:
        """Serve the page itself, once; where it leads on is for the crawler to follow. Frames stay empty."""
        if request.method != "GET" or request.frame != self._page.main_frame:
            await route.abort("aborted")
        elif self._is_served:
            self._leads_to = self._leads_to or request.url
            await route.abort("aborted")
        else:
            self._is_served = True
            await _fulfill(route, self._shell)


async def _fulfill(route: "Route", resource: Resource) -> None:
    headers = {"Content-Type": resource.content_type} if resource.content_type else {}
    await route.fulfill(status=resource.status, headers=headers, body=resource.body)


class _World:
    """A place to run our own scripts in, which those of the page cannot change."""

    def __init__(self, session: "CDPSession", context_id: int) -> None:
        self._session, self._context_id = session, context_id

    @classmethod
    async def open(cls, page: "Page") -> "_World":
        async with asyncio.timeout(STUCK_S):
            session = await page.context.new_cdp_session(page)
            frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        return cls(session, world["executionContextId"])

    async def evaluate(self, expression: str) -> Any:
        async with asyncio.timeout(STUCK_S):
            asked = {"expression": expression, "contextId": self._context_id, "returnByValue": True}
            return (await self._session.send("Runtime.evaluate", asked))["result"].get("value")

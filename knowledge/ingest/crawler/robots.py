"""robots.txt by RFC 9309: a missing one allows everything, an unreadable one nothing."""

from typing import Any

from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

#: Our name in robots.txt files.
ROBOTS_NAME = "MarcelCMS"


class RobotsForbid(IgnoreRequest):
    """robots.txt asks crawlers to leave this address alone."""


class RobotsUnreadable(IgnoreRequest):
    """The rules could not be read; `__cause__` says why, or `status` does."""

    def __init__(self, status: int = 0) -> None:
        self.status = status


class ObeyRobots(RobotsTxtMiddleware):
    """Scrapy's middleware, which takes an error page for a robots.txt and no answer for a yes."""

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self._unreadable: dict[str, int | Exception] = {}

    async def process_request(self, request: Request, spider: Any = None) -> None:
        if request.meta.get("dont_obey_robotstxt"):
            return
        parser = await self.robot_parser(request)
        problem = self._unreadable.get(urlparse_cached(request).netloc)
        if isinstance(problem, Exception):
            raise RobotsUnreadable from problem
        if problem:
            raise RobotsUnreadable(problem)
        if parser and not parser.allowed(request.url, self._robotstxt_useragent or ""):
            raise RobotsForbid

    async def _parse_robots(self, response: Any, netloc: str, request: Request) -> None:
        if response.status >= 500 or response.status == 429:
            self._unreadable[netloc] = response.status
        usable = response if 200 <= response.status < 300 else response.replace(body=b"")
        await super()._parse_robots(usable, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if not isinstance(exc, IgnoreRequest):  # such as more redirects than five
            self._unreadable[netloc] = exc
        super()._robots_error(exc, netloc)

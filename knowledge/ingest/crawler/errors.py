"""Errors of fetching an address, explained for staff."""

from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
)

from knowledge.ingest.crawler.messages import CrawlPlan
from knowledge.ingest.crawler.robots import RobotsUnreadable
from knowledge.ingest.crawler.ssrf import refused
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _


def explain(error: BaseException, address: str, plan: CrawlPlan) -> Said:
    host = urlsplit(address).hostname or ""
    host = next((name for name in refused if name in str(error)), host)  # a redirected robots.txt leads elsewhere
    match error:
        case RobotsUnreadable(status=status) if status:
            return Said(_("its robots.txt answers with status {status}, so nothing may be read"), {"status": status})
        case RobotsUnreadable(__cause__=cause) if cause:
            return explain(cause, address, plan)
        case CannotResolveHostError() if host in refused:
            text = _("{host} leads to {address}, which is not a public address")
            return Said(text, {"host": host, "address": refused[host]})
        case CannotResolveHostError():
            return Said(_("nobody knows the name {host}"), {"host": host})
        case DownloadTimeoutError():
            return Said(_("it took longer than {seconds} seconds"), {"seconds": f"{plan.timeout_s:g}"})
        case DownloadCancelledError() | IgnoreRequest():
            return Said(_("it has more than {limit} bytes"), {"limit": f"{plan.max_bytes:,}"})
        case DownloadConnectionRefusedError():
            return Said(_("the connection was refused"))
    return Said(_("the connection failed: {error}"), {"error": (str(error) or type(error).__name__)[:200]})

"""What a crawl is to do: everything the crawling process is told."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page as it was last seen; `likeness` is that of `findings.Page`."""

    etag: str = ""
    last_modified: str = ""
    likeness: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """`allow` and `deny` are whole addresses in which `*` stands for anything; no `allow` allows the whole site."""

    start_urls: tuple[str, ...]
    user_agent: str
    folder: str  # where files go that the parent reads
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()  # further names of the first start address's host
    max_depth: int = 8
    max_pages: int = 5000
    delay_s: float = 0.5
    timeout_s: float = 30
    max_bytes: int = 10_000_000
    allow_private: bool = False
    use_sitemaps: bool = True
    memory_bytes: int = 2_000_000_000
    most_ahead: int = 100  # findings, with their files, that may wait for the parent
    known: Mapping[str, KnownPage] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "CrawlPlan":
        lists = {name: tuple(wire[name]) for name in ("start_urls", "allow", "deny", "domains")}
        known = {url: KnownPage(**{**page, "links": tuple(page["links"])}) for url, page in wire["known"].items()}
        return cls(**{**wire, **lists, "known": known})

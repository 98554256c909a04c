"""The frontier: what is visited next, every page once, to a depth, and no endless series; pure."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from w3lib.url import canonicalize_url

from knowledge.ingest.crawler.messages import CrawlPlan

#: Parameters that name the referrer or the visit; the page is the same without them.
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|_ga|_gl|phpsessid|jsessionid|session_?id|aspsessionid\w*",
    re.IGNORECASE,
)
SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?]*", re.IGNORECASE)
PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 2000


def normalised(url: str, base: str = "") -> str:
    """Normalise an address, or return "" if it cannot be fetched."""
    try:
        parts = urlsplit(urljoin(base, url.strip()))
        port = parts.port
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in PORTS or not host or "@" in parts.netloc:
        return ""
    netloc = f"[{host}]" if ":" in host else host
    if port and port != PORTS[parts.scheme]:
        netloc += f":{port}"
    path = SESSION_IN_PATH.sub("", parts.path) or "/"
    query = [
        (key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.fullmatch(key)
    ]
    try:
        found: str = canonicalize_url(urlunsplit((parts.scheme, netloc, path, urlencode(query), "")))
    except (ValueError, UnicodeError):
        return ""
    return found if len(found) <= MAX_LENGTH else ""


def shape(url: str) -> str:
    """Return the same shape for addresses that a program made of one pattern, without digits and the query's values."""
    parts = urlsplit(url)
    keys = "&".join(re.sub(r"\d+", "0", key) for key, _value in parse_qsl(parts.query, keep_blank_values=True))
    return f"{parts.netloc}{re.sub(r'[0-9]+', '0', parts.path)}?{keys}"


class Scope:
    """The site of a plan."""

    def __init__(self, plan: CrawlPlan) -> None:
        self.starts = [url for url in map(normalised, plan.start_urls) if url]
        starts = [urlsplit(url) for url in self.starts]
        self._ports = {port for parts in starts if (port := parts.port)} | {None}
        self._home: dict[str, str] = {}  # a host's name -> the name that its pages go by
        for parts in starts:
            for name in _forms(parts.hostname or ""):
                self._home.setdefault(name, parts.hostname or "")
        for name in (name for domain in plan.domains for name in _forms(domain.strip().lower().rstrip("."))):
            self._home.setdefault(name, starts[0].hostname or "")
        self._allow, self._deny = [_pattern(text) for text in plan.allow], [_pattern(text) for text in plan.deny]

    def is_on_site(self, url: str) -> bool:
        """Return whether a normalised address is on one of the site's hosts."""
        parts = urlsplit(url)
        return parts.hostname in self._home and parts.port in self._ports

    def is_wanted(self, url: str) -> bool:
        """Return whether its page (`page`) is to be visited: start addresses always, others by the patterns."""
        if url in self.starts:
            return True
        is_allowed = not self._allow or any(pattern.fullmatch(url) for pattern in self._allow)
        return is_allowed and not self._is_denied(url)

    def may_load(self, address: str) -> bool:
        """Return whether a page's scripts may load an address: on the site, and not one that is never to be read."""
        url = normalised(address)
        return bool(url) and self.is_on_site(url) and not self._is_denied(self.page(url))

    def _is_denied(self, url: str) -> bool:
        return any(pattern.fullmatch(url) for pattern in self._deny)

    def page(self, url: str) -> str:
        """Return the address that a page goes by, whichever of the site's names led to it."""
        parts = urlsplit(url)
        home = self._home.get(parts.hostname or "", parts.hostname or "")
        port = f":{parts.port}" if parts.port else ""
        return urlunsplit(parts._replace(netloc=(f"[{home}]" if ":" in home else home) + port))


def _forms(host: str) -> tuple[str, ...]:
    try:
        ip_address(host)
    except ValueError:
        bare = host.removeprefix("www.")
        return (bare, f"www.{bare}") if "." in bare else (host,)
    return (host,)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.strip().split("*"))), re.IGNORECASE)


#: A chain of links between addresses of one shape that is longer is made by a program, such as a calendar.
LONGEST_SERIES = 10
#: Addresses that a crawl may come across for each page that it may hand over.
ADDRESSES_A_PAGE, ADDRESSES_MORE = 10, 1000


@dataclass(frozen=True, slots=True)
class Visit:
    """A planned visit: `url` is the page's name, `address` the one to fetch; `trail` led there by redirects."""

    url: str
    address: str
    depth: int = 0
    series: int = 0
    trail: tuple[str, ...] = ()
    tries: int = 0


class Frontier:
    """Remembers what was offered, and returns each page once."""

    def __init__(self, scope: Scope, *, max_depth: int, max_pages: int) -> None:
        self._scope, self._max_depth = scope, max_depth
        self._most = max_pages * ADDRESSES_A_PAGE + ADDRESSES_MORE
        self.admitted: set[str] = set()
        self._too_deep: dict[str, None] = {}
        self._endless: dict[str, None] = {}
        self.is_full = False

    @property
    def too_deep(self) -> list[str]:
        return [url for url in self._too_deep if url not in self.admitted]

    @property
    def endless(self) -> list[str]:
        return [url for url in self._endless if url not in self.admitted]

    def offer(self, address: str, *, depth: int = 0, parent: Visit | None = None) -> Visit | None:
        """Return the visit to a normalised address, or None: off the site, unwanted, repeated, or cut off."""
        if not address or not self._scope.is_on_site(address):
            return None
        url = self._scope.page(address)
        if url in self.admitted or not self._scope.is_wanted(url):
            return None
        series = parent.series + 1 if parent and shape(parent.url) == shape(url) else 0
        if depth > self._max_depth:
            self._too_deep[url] = None
            return None
        if series > LONGEST_SERIES:
            self._endless[url] = None
            return None
        if len(self.admitted) >= self._most:
            self.is_full = True
            return None
        self.admitted.add(url)
        return Visit(url, address, depth, series)

"""Sitemaps: the addresses in one, which may be packed, or the further sitemaps that it lists."""

from dataclasses import dataclass
from itertools import islice

from lxml.etree import XMLSyntaxError
from scrapy.utils._compression import _DecompressionMaxSizeExceeded
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

#: What the protocol allows a file to hold.
MAX_BYTES, MAX_ADDRESSES = 50_000_000, 50_000
MAX_FILES = 200


@dataclass(frozen=True, slots=True)
class Listed:
    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(body: bytes) -> Listed:
    """What it lists. Raises ValueError where it is none, or too large."""
    try:
        if body[:2] == b"\x1f\x8b":
            body = gunzip(body, max_size=MAX_BYTES)
        if not body.lstrip().startswith(b"<"):  # the simplest form: one address a line
            lines = (line.strip() for line in body.decode("utf-8", "replace").splitlines())
            return Listed(pages=tuple(islice((line for line in lines if line.startswith("http")), MAX_ADDRESSES)))
        sitemap = Sitemap(body)
        found = tuple(entry["loc"] for entry in islice(sitemap, MAX_ADDRESSES))
    except _DecompressionMaxSizeExceeded as error:
        raise ValueError(f"unpacked it has more than {MAX_BYTES:,} bytes") from error
    except (OSError, EOFError, XMLSyntaxError, StopIteration) as error:
        raise ValueError("it is no sitemap") from error
    if sitemap.type == "sitemapindex":
        return Listed(sitemaps=found)
    return Listed(pages=found) if sitemap.type == "urlset" else Listed()

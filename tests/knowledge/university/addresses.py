"""Addresses that lead elsewhere, that are others' copies, that never end, or that may not or cannot be read."""

import gzip
import random

from tests.knowledge.site import WORDS, Answer, Site, html, page, redirect, sitemap

LEFT_OUT = {
    "/old": "it leads to /study/art",
    "/moved": "it leads to /circular",
    "/local": "it leads to /study/law",
    "/withdrawn": "it leads to /",
    "/chain-one": "it leads to /chain-two",
    "/chain-two": "it leads to /chain-three",
    "/chain-three": "it leads to /chain-end",
    "/loop-one": "it leads to /loop-two",
    "/loop-two": "its redirects go in a circle",
    **{f"/hop/{number}": f"it leads to /hop/{number + 1}" for number in range(8)},
    "/hop/8": "there are more than 8 redirects in a row",
    "/away": "it leads to http://elsewhere.example/, which is not on this site",
    "/metadata": "it leads to http://169.254.169.254/latest/, which is not on this site",
    "/print/drama": "its canonical address is /study/drama",
    "/twin-two": "its canonical address is /twin-one",
    "/copy-of-film": "it has the same text as /study/film",
    "/calendar?month=12": "it is one of an endless series, such as a calendar",
    "/archive?start=12": "it is one of an endless series, such as a calendar",
    "/private/secret": "its robots.txt forbids it",
    "/noindex": "it asks not to be indexed (noindex)",
    "/broken": "the server answers with status 500",
    "/intranet": "the server answers with status 401",
    "/closed": "the server answers with status 503",
    "/slow": "it took longer than 1 seconds",
    "/big": "it has more than 1,000,000 bytes",
    "/bomb": "it has more than 1,000,000 bytes",
}
#: What a link leads to, and the server says is not there.
GONE = {"/missing": 404, "/removed": 410}
DOCUMENTS = (
    *("/hidden/first", "/hidden/second", "/chain-end", "/list?a=1&b=2", "/twin-one", "/behind-noindex", "/nofollow"),
    *("/session", "/astray", "/circular"),
    *(f"/calendar?month={number}" for number in range(1, 12)),
    *(f"/archive?start={number}" for number in range(1, 12)),
)
LINKS = (
    "/old", "/chain-one", "/loop-one", "/away", "/metadata", "/local", "/withdrawn", "/study/art?utm_source=mail#top",
    "/study/biology?fbclid=1", "/list?b=2&a=1", "/list?a=1&b=2", "/print/drama", "/twin-one", "/twin-two", *GONE,
    "/broken", "/intranet", "/closed", "/slow", "/private/secret", "/calendar?month=1", "/archive?start=1", "/big",
    "/bomb", "/noindex", "mailto:office@uni.example", "javascript:alert(1)", "http://elsewhere.example/",
    "/session;jsessionid=A1?PHPSESSID=7", "/nofollow", "/astray", "/circular", "/hop/0",
)  # fmt: skip


def other_names(site: Site) -> tuple[str, ...]:
    """Return links by which the home page names this machine in another way."""
    return (f"http://localhost:{site.port}/study/geology",)


def fill(site: Site) -> None:
    add_redirects(site)
    add_copies(site)
    add_sitemaps(site)
    add = site.answers
    add["/list"] = page(html("A sorted list"))
    add["/session"] = page(html("A page with sessions"))
    add["/removed"], add["/broken"] = Answer(410), Answer(500, b"Oops")
    add["/intranet"] = Answer(401, html("Log in"), {"WWW-Authenticate": "Basic", "Content-Type": "text/html"})
    add["/closed"] = Answer(503, html("Maintenance"), {"Retry-After": "3600", "Content-Type": "text/html"})
    add["/slow"] = Answer(200, html("Slow"), {"Content-Type": "text/html"}, after_s=4)
    add["/private/secret"] = page(html("Secret"))
    add["/calendar"] = lambda query: page(month(int(query.get("month", ["1"])[0])))
    add["/archive"] = lambda query: page(archive(int(query.get("start", ["1"])[0])))
    add["/big"] = page(html("Big", text="a" * 1_100_000))
    add["/bomb"] = Answer(
        200, gzip.compress(html("Bomb", text="a" * 9_000_000)),
        {"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )  # fmt: skip
    add["/noindex"] = page(
        html("Not for search", links=("/behind-noindex",), head='<meta name="robots" content="noindex">')
    )
    add["/behind-noindex"] = page(html("Behind the unindexed page"))
    add["/nofollow"] = page(html("A dead end", links=("/never-asked",), head='<meta name="robots" content="nofollow">'))
    add["/never-asked"] = page(html("Never asked"))


def add_redirects(site: Site) -> None:
    add = site.answers
    add["/old"] = redirect("/study/art")
    add["/chain-one"], add["/chain-two"], add["/chain-three"] = map(
        redirect, ("/chain-two", "/chain-three", "/chain-end")
    )
    add["/chain-end"] = page(html("The end of the chain"))
    add["/loop-one"], add["/loop-two"] = redirect("/loop-two"), redirect("/loop-one", 302)
    add["/away"], add["/metadata"] = redirect("http://elsewhere.example/"), redirect("http://169.254.169.254/latest/")
    add["/local"] = redirect(f"http://localhost:{site.port}/study/law")
    add["/withdrawn"] = redirect("/", 302)
    add |= {f"/hop/{number}": redirect(f"/hop/{number + 1}") for number in range(12)}


def add_copies(site: Site) -> None:
    add = site.answers
    add["/print/drama"] = page(html("About drama", text="Printed.", head='<link rel="canonical" href="/study/drama">'))
    add["/twin-one"] = page(html("The first twin", head='<link rel="canonical" href="/twin-two">'))
    add["/twin-two"] = page(html("The second twin", head='<link rel="canonical" href="/twin-one">'))
    add["/astray"] = page(html("A page astray", head='<link rel="canonical" href="/missing">'))
    add["/circular"] = page(html("A page in a circle", head='<link rel="canonical" href="/moved">'))
    add["/moved"] = redirect("/circular")
    add["/copy-of-film"] = page(html("About film", links=("/behind-the-copy",)))


def add_sitemaps(site: Site) -> None:
    add = site.answers
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


def month(number: int) -> bytes:
    """Make a page with the same words every month, except its number."""
    return html("Calendar", text=f"Month {number}.", links=(f"/calendar?month={number + 1}",))


def archive(start: int) -> bytes:
    """Make a page with other words every time, without an end."""
    title = " ".join(random.Random(start).choices(WORDS, k=6))
    return html(f"Archive of {title}", links=(f"/archive?start={start + 1}",))

"""A university's site: every kind of page, file and trap that a crawler meets, and what is to become of each."""

import gzip
import random

from django.utils import timezone

from knowledge.editions.terms import Term, month_of, name_term, term_at
from tests.knowledge import offices, scans
from tests.knowledge.pdfs import PROSE, text_pages
from tests.knowledge.pdfs import pdf as pages_of
from tests.knowledge.site import STUDY, WORDS, Answer, Site, html, page, pdf, prose, redirect, sitemap

# fmt: off
SERVICES = ["advice", "bicycles", "canteen", "disability", "equality", "fees", "grants", "housing", "internships",
            "jobs", "kindergarten", "languages", "mentoring", "networks", "orientation", "printing"]
NEWS = ["award", "building", "concert", "donation", "election", "festival", "guest", "hiring", "invitation", "jubilee"]
GERMAN = ["bewerbung", "einschreibung", "pruefung", "rueckmeldung", "semesterbeitrag", "stundenplan"]
# fmt: on
MODIFIED = "Mon, 05 Jan 2026 08:00:00 GMT"
#: What a crawl of `university` is to go to: links away, and bytes of a page.
DEPTH, MAX_BYTES = 14, 1_000_000
XLSX, ANY_FILE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/octet-stream"
#: Answers with status 200 that are no pages.
TRAPS = {
    "/lost": "<title>Page not found</title><main><h1>Page not found</h1><p>Sorry, back to the home page.</p></main>",
    "/portal": "<title>Portal</title><main><h1>Log in</h1><form>Password <input type=password></form></main>",
    "/shell": "<title>Timetable</title><body><div id=app>Loading ...</div><script src=/app.js></script>",
    "/drawn": "<title>Rooms</title><body><div id=app>Please wait ...</div>"
    "<script>document.getElementById('app').innerHTML = '<main><h1>Rooms</h1>"
    "<p>The learning rooms open at eight and close at ten.</p></main>'</script>",
    "/poster": "<title>Poster</title><body><main><img src=/poster.png alt=''></main>",
    "/being-moved": '<title>Moved</title><meta http-equiv="refresh" content="0; url=/new-home"><p>You are led on.',
    "/repairs": "<title>Grades</title><body><h1>Scheduled maintenance</h1><p>We are back at noon.</p>",
}
#: Pages that the crawler leaves out, with its reason.
LEFT_OUT = {
    "/old": "it leads to /study/art",
    "/moved": "it leads to /circular",
    "/local": "it leads to /study/law",
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
    "/data.zip": "it is neither a page nor a file that can be read but application/zip",
    "/nothing": "there is no text in it",
    "/lost": "it says that there is no such page (“Page not found”), with the status of one",
    "/portal": "it is a login form",
    "/shell": "it is an empty shell that JavaScript would fill (“Loading ...”)",
    "/drawn": "it is an empty shell that JavaScript would fill (“Please wait ...”)",
    "/poster": "it says nothing itself but shows a picture: /poster.png",
    "http://elsewhere.example/plan.png": "it is a picture that a page shows, but not on this site",
    "/being-moved": "it leads to /new-home",
    "/repairs": "it says that the site is being maintained (“Scheduled maintenance”)",
    "/letter.doc": "it is of an old format (.doc): save it as .docx and take that file",
    "/broken": "the server answers with status 500",
    "/slow": "it took longer than 1 seconds",
    "/big": "it has more than 1,000,000 bytes",
    "/bomb": "it has more than 1,000,000 bytes",
}
#: What a link leads to, and the server says is not there.
GONE = {"/missing": 404, "/removed": 410}

#: The terms of one matter: the one before, the present one, and one to come.
NOW = term_at(month_of(timezone.localdate()))
TERMS = {
    f"/contribution/{term.kind}-{term.begin // 12}": term
    for term in (term_at(NOW.begin - 6), NOW, term_at(NOW.begin + 6))
}
#: Files whose pages are pictures: all of them, the only one, and one in the middle of a good file.
SCANS = {
    "/scan.pdf": pages_of(*[scans.picture_page(scans.photographed("?"))] * 2),
    "/notice.pdf": pages_of(scans.slip(scans.photographed("?"))),
    "/study-plan.pdf": pages_of(
        *text_pages(PROSE[0] * 3),
        scans.picture_page(scans.photographed("?"), "Plan of study"),
        *text_pages(PROSE[1] * 3),
    ),
}
#: Pages that show a picture instead of many words, and one that leads to pictures.
PICTURE_PAGES = {
    "/plan": "<title>Plan</title><main><h1>Plan of study</h1><p>As of 2026</p>"
    "<a href=/plan-large.png><img src=/plan-small.png width=600></a></main><footer><img src=/logo.png></footer>",
    "/plan-elsewhere": "<title>Plan</title><main><h1>Plan elsewhere</h1>"
    "<img src=http://elsewhere.example/plan.png></main>",
    "/gallery": f"<title>Gallery</title><main><h1>Gallery</h1><p>{prose('gallery')}</p>"
    "<img src=/hero.jpg><a href=/hall.jpg><img src=/hall-small.jpg></a>"
    "<a href=/exams.jpg>Plan of the exams</a> <a href=/campus.jpg>The campus</a></main>",
}
PICTURES = {
    "/poster.png": scans.file_of(scans.photographed("?")),
    "/plan-large.png": scans.file_of(scans.photographed("!")),
    "/exams.jpg": scans.file_of(scans.photographed("."), "JPEG"),
}
#: What staff are told of documents that were read.
REMARKS = {
    "/download?id=7": "hidden sheets were left out: intern",
    "/scan.pdf": "2 of 2 pages are pictures of text and are being read by OCR: 1, 2",
    "/notice.pdf": "1 of 1 pages are pictures of text and are being read by OCR: 1",
    "/study-plan.pdf": "1 of 3 pages are pictures of text and are being read by OCR: 2",
    **dict.fromkeys(PICTURES, "it is a picture, which is being read by OCR"),
}
#: What they are told of pictures where OCR is not installed.
PICTURES_LEFT = {
    "/scan.pdf": "it was scanned: 2 of 2 pages are pictures without a text layer; recognise its text first",
    "/notice.pdf": "it was scanned: 1 of 1 pages are pictures without a text layer; recognise its text first",
    "/study-plan.pdf": "1 of 3 pages are pictures of text and were left out: 2",
    "/poster": LEFT_OUT["/poster"],
    **dict.fromkeys(PICTURES, "it is a picture: what it says can be read only where OCR is installed"),
}
#: Files that are fetched and cannot be imported, with what staff are told of each.
REFUSED = {
    "/macro.docx": "it holds macros, which could harm whoever opens it: save it without them, as .docx",
    "/password.xlsx": "it opens with a password only: save it without one",
    "/campus.jpg": "it looks like a photograph and not like text",
}


def university(site: Site) -> None:
    """Add everything at once; `documents` says which pages must become documents."""
    add = site.answers
    specials = (
        "/old", "/chain-one", "/loop-one", "/away", "/metadata", "/local", "/study/art?utm_source=mail#top",
        "/study/biology?fbclid=1", "/list?b=2&a=1", "/list?a=1&b=2", "/print/drama", "/twin-one", "/twin-two",
        "/handbook.pdf", "/untidy", "/missing", "/removed", "/broken", "/slow", "/private/secret", "/calendar?month=1",
        "/archive?start=1", "/big", "/bomb", "/umlauts", "/noindex", "/data.zip", "/busy", "/deep/one",
        f"http://localhost:{site.port}/study/geology", "mailto:office@uni.example", "javascript:alert(1)",
        "http://elsewhere.example/", "/session;jsessionid=A1?PHPSESSID=7", "/nofollow", "/nothing",
        "/astray", "/circular", "/hop/0", *TRAPS, "/slides.pptx", "/download?id=7", "/letter.doc",
        *TERMS, *SCANS, *PICTURE_PAGES, "/macro.docx", "/password.xlsx",
    )  # fmt: skip
    groups = {"study": STUDY, "services": SERVICES, "news": NEWS, "de": GERMAN}
    add["/"] = page(html("University", links=(*(f"/{group}/" for group in groups), *specials)))
    for group, names in groups.items():
        links = tuple(f"/{group}/{name}" for name in names)
        add[f"/{group}/"] = page(html(f"All of {group}", links=links))
        for name in names:
            language = "de" if group == "de" else "en"
            add[f"/{group}/{name}"] = page(html(f"About {name}", links=links[:3], language=language))
    for name in NEWS:
        add[f"/news/{name}"] = page(html(f"News of the {name}"), **{"Last-Modified": MODIFIED})

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

    add["/old"] = redirect("/study/art")
    add["/chain-one"], add["/chain-two"], add["/chain-three"] = map(
        redirect, ("/chain-two", "/chain-three", "/chain-end")
    )
    add["/chain-end"] = page(html("The end of the chain"))
    add["/loop-one"], add["/loop-two"] = redirect("/loop-two"), redirect("/loop-one", 302)
    add["/away"], add["/metadata"] = redirect("http://elsewhere.example/"), redirect("http://169.254.169.254/latest/")
    add["/local"] = redirect(f"http://localhost:{site.port}/study/law")
    add["/list"] = page(html("A sorted list"))
    add["/print/drama"] = page(html("About drama", text="Printed.", head='<link rel="canonical" href="/study/drama">'))
    add["/twin-one"] = page(html("The first twin", head='<link rel="canonical" href="/twin-two">'))
    add["/twin-two"] = page(html("The second twin", head='<link rel="canonical" href="/twin-one">'))
    add["/astray"] = page(html("A page astray", head='<link rel="canonical" href="/missing">'))
    add["/circular"] = page(html("A page in a circle", head='<link rel="canonical" href="/moved">'))
    add["/moved"] = redirect("/circular")
    add |= {f"/hop/{number}": redirect(f"/hop/{number + 1}") for number in range(12)}
    add["/copy-of-film"] = page(html("About film", links=("/behind-the-copy",)))
    add["/handbook.pdf"] = Answer(200, pdf("Regulations of study"), {"Content-Type": "application/pdf"})
    add["/untidy"] = page(
        f"<title>Untidy</title><p>{prose('untidy')}<table><tr><td>Cell<div><b>Bold {prose('bold')}".encode()
        + b'<a href="/behind-untidy">On'
    )
    add["/behind-untidy"] = page(html("Behind the untidy page"))
    add["/removed"], add["/broken"] = Answer(410), Answer(500, b"Oops")
    add["/slow"] = Answer(200, html("Slow"), {"Content-Type": "text/html"}, after_s=4)
    add["/private/secret"] = page(html("Secret"))
    add["/calendar"] = lambda query: page(month(int(query.get("month", ["1"])[0])))
    add["/archive"] = lambda query: page(archive(int(query.get("start", ["1"])[0])))
    add["/big"] = page(html("Big", text="a" * 1_100_000))
    add["/bomb"] = Answer(
        200, gzip.compress(html("Bomb", text="a" * 9_000_000)),
        {"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )  # fmt: skip
    add["/umlauts"] = Answer(
        200, html("Prüfungsämter", text="Über Prüfungen. " * 5).replace(b'<meta charset="utf-8">', b""),
        {"Content-Type": "text/html; charset=iso-8859-1"},
    )  # fmt: skip
    add["/noindex"] = page(
        html("Not for search", links=("/behind-noindex",), head='<meta name="robots" content="noindex">')
    )
    add["/behind-noindex"] = page(html("Behind the unindexed page"))
    add["/nofollow"] = page(html("A dead end", links=("/never-asked",), head='<meta name="robots" content="nofollow">'))
    add["/never-asked"] = page(html("Never asked"))
    add["/data.zip"] = Answer(200, b"PK\x03\x04" + b"0" * 1000, {"Content-Type": "application/zip"})
    add["/nothing"] = page(b"<title>Nothing</title><a href='/behind-nothing'></a>")
    add["/behind-nothing"] = page(html("Behind the page without text"))
    add["/session"] = page(html("A page with sessions"))
    add["/deep/one"] = page(html("The first level", links=("/deep/two", "/copy-of-film")))
    add["/deep/two"] = page(html("The second level", links=("/deep/three",)))
    add["/deep/three"] = page(html("The third level", links=("/deep/four",)))
    add["/deep/four"] = page(html("The fourth level"))
    add |= {path: page(body.encode()) for path, body in TRAPS.items()}
    add["/new-home"] = page(html("The new home"))
    add["/slides.pptx"] = file(offices.slides())
    add["/download"] = Answer(200, offices.workbook(), {"Content-Type": XLSX})
    add["/letter.doc"] = Answer(200, b"\xd0\xcf\x11\xe0", {"Content-Type": "application/msword"})
    add["/macro.docx"] = file(offices.with_part(offices.word(), "word/vbaProject.bin", b"x"))
    add["/password.xlsx"] = file(offices.encrypted())
    add |= {path: Answer(200, body, {"Content-Type": "application/pdf"}) for path, body in SCANS.items()}
    add |= {path: page(body.encode()) for path, body in PICTURE_PAGES.items()}
    add |= {path: Answer(200, body, {"Content-Type": f"image/{path[-3:]}"}) for path, body in PICTURES.items()}
    add["/campus.jpg"] = Answer(200, scans.file_of(scans.photograph(), "JPEG"), {"Content-Type": "image/jpeg"})
    add |= {path: page(contribution(term)) for path, term in TERMS.items()}
    busy = iter([Answer(429, b"", {"Retry-After": "0"}), Answer(503, b"", {"Retry-After": "0"})])
    add["/busy"] = lambda _query: next(busy, page(html("A busy page")))


def documents(site: Site) -> set[str]:
    """Return what is to become a document, files included."""
    groups = {"study": STUDY, "services": SERVICES, "news": NEWS, "de": GERMAN}
    paths = {f"/{group}/{name}" for group, names in groups.items() for name in ("", *names)}
    paths |= {
        "/", "/hidden/first", "/hidden/second", "/chain-end", "/list?a=1&b=2", "/twin-one", "/handbook.pdf",
        "/untidy", "/behind-untidy", "/umlauts", "/behind-noindex", "/nofollow", "/behind-nothing", "/session", "/busy",
        "/deep/one", "/deep/two", "/deep/three", "/deep/four", "/astray", "/circular",
        "/new-home", "/slides.pptx", "/download?id=7", *TERMS, *SCANS, *PICTURE_PAGES, *PICTURES,
        *(f"/calendar?month={number}" for number in range(1, 12)),
        *(f"/archive?start={number}" for number in range(1, 12)),
    }  # fmt: skip
    return {site.url(path) for path in paths}


def month(number: int) -> bytes:
    """Make a page with the same words every month, except its number."""
    return html("Calendar", text=f"Month {number}.", links=(f"/calendar?month={number + 1}",))


def archive(start: int) -> bytes:
    """Make a page with other words every time, without an end."""
    title = " ".join(random.Random(start).choices(WORDS, k=6))
    return html(f"Archive of {title}", links=(f"/archive?start={start + 1}",))


def contribution(term: Term) -> bytes:
    """Make a page that another term's differs from in the term and a figure alone."""
    name = name_term(term, "en")
    body = f"<h1>Contribution: {name}</h1><p>{prose('contribution')}</p><p>It is {term.begin % 1000}.40 euros.</p>"
    return f"<!doctype html><html lang=en><title>Contribution: {name}</title><body><main>{body}</main>".encode()


def file(body: bytes) -> Answer:
    """Answer with a file whose kind only its name says."""
    return Answer(200, body, {"Content-Type": ANY_FILE})


def left_out() -> dict[str, str]:
    """Return what staff are told of all that becomes no document, by path."""
    gone = "a link leads there, but the server answers with status {}"
    return LEFT_OUT | REFUSED | {path: gone.format(status) for path, status in GONE.items()}

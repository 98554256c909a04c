"""Pages that become documents: of departments, untidy ones, editions of one matter, and ones of the same title."""

from django.utils import timezone

from knowledge.editions.terms import Term, month_of, name_term, term_at
from tests.knowledge.site import STUDY, Answer, Site, html, page, prose

# fmt: off
SERVICES = ["advice", "bicycles", "canteen", "disability", "equality", "fees", "grants", "housing", "internships",
            "jobs", "kindergarten", "languages", "mentoring", "networks", "orientation", "printing"]
NEWS = ["award", "building", "concert", "donation", "election", "festival", "guest", "hiring", "invitation", "jubilee"]
GERMAN = ["bewerbung", "einschreibung", "pruefung", "rueckmeldung", "semesterbeitrag", "stundenplan"]
# fmt: on
GROUPS = {"study": STUDY, "services": SERVICES, "news": NEWS, "de": GERMAN}
MODIFIED = "Mon, 05 Jan 2026 08:00:00 GMT"

#: The terms of one matter: the one before, the present one, and one to come.
NOW = term_at(month_of(timezone.localdate()))
TERMS = {
    f"/contribution/{term.kind}-{term.begin // 12}": term
    for term in (term_at(NOW.begin - 6), NOW, term_at(NOW.begin + 6))
}
#: Pages whose title is the institution's name, and the titles that tell them apart from the home page.
NAMESAKES = {
    "/admission": ("Admission", "University (Admission)"),
    "/counselling": ("Counselling", "University (Counselling)"),
    "/programmes/physics": ("Master of Physics", "University: Master of Physics"),
}
PORTAL = "https://portal.example/apply?term=winter"
#: Pages of few words, and what is to be read of them.
SHORT = {
    "/hours": "# Opening hours\n\nOpen from 8 to 20.",
    "/apply": "# How to apply\n\nRead the [rules][1] and the [fees][2]; then apply [here][3].",
}
BODIES = {
    "/hours": f"<div class=teasers><p>{prose('teasers', 200)}</p></div>"
    "<main><h1>Opening hours</h1><p>Open from 8 to 20.</p></main>",
    "/apply": "<main><h1>How to apply</h1><p>Read the <a href=/study/law>rules</a> and the <a href=/services/fees>fees"
    f"</a>; then apply <a href='{PORTAL}'>here</a>.</p></main>",
    "/untidy": f"<p>{prose('untidy')}<table><tr><td>Cell<div><b>Bold {prose('bold')}<a href='/behind-untidy'>On",
}

LINKS = (*(f"/{group}/" for group in GROUPS), *TERMS, *NAMESAKES, *BODIES, "/umlauts", "/busy", "/deep/one")
DOCUMENTS = (
    *(f"/{group}/{name}" for group, names in GROUPS.items() for name in ("", *names)),
    *(*TERMS, *NAMESAKES, *BODIES, "/behind-untidy", "/umlauts", "/busy"),
    *(f"/deep/{level}" for level in ("one", "two", "three", "four")),
)
LEFT_OUT: dict[str, str] = {}


def fill(site: Site) -> None:
    add = site.answers
    for group, names in GROUPS.items():
        links = tuple(f"/{group}/{name}" for name in names)
        add[f"/{group}/"] = page(html(f"All of {group}", links=links))
        for name in names:
            language = "de" if group == "de" else "en"
            add[f"/{group}/{name}"] = page(html(f"About {name}", links=links[:3], language=language))
    for name in NEWS:
        add[f"/news/{name}"] = page(html(f"News of the {name}"), **{"Last-Modified": MODIFIED})

    add |= {path: page(f"<title>{path[1:]}</title><body>{body}".encode()) for path, body in BODIES.items()}
    add["/behind-untidy"] = page(html("Behind the untidy page"))
    add["/umlauts"] = Answer(
        200, html("Prüfungsämter", text="Über Prüfungen. " * 5).replace(b'<meta charset="utf-8">', b""),
        {"Content-Type": "text/html; charset=iso-8859-1"},
    )  # fmt: skip
    for path, (heading, _told_apart) in NAMESAKES.items():
        add[path] = page(html(heading).replace(b"<title>" + heading.encode(), b"<title>University"))
    add |= {path: page(contribution(term)) for path, term in TERMS.items()}
    add["/deep/one"] = page(html("The first level", links=("/deep/two", "/copy-of-film")))
    add["/deep/two"] = page(html("The second level", links=("/deep/three",)))
    add["/deep/three"] = page(html("The third level", links=("/deep/four",)))
    add["/deep/four"] = page(html("The fourth level"))
    busy = iter([Answer(429, b"", {"Retry-After": "0"}), Answer(503, b"", {"Retry-After": "0"})])
    add["/busy"] = lambda _query: next(busy, page(html("A busy page")))


def contribution(term: Term) -> bytes:
    """Make a page that another term's differs from in the term and a figure alone."""
    name = name_term(term, "en")
    body = f"<h1>Contribution: {name}</h1><p>{prose('contribution')}</p><p>It is {term.begin % 1000}.40 euros.</p>"
    return f"<!doctype html><html lang=en><title>Contribution: {name}</title><body><main>{body}</main>".encode()

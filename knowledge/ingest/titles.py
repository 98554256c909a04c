"""Titles that tell documents apart: one that says nothing, or that another document has, gets what its cover says."""

import re
from collections.abc import Sequence

from knowledge.chunking.page_markers import MARKER
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Collection

#: Titles of any file of a kind.
GENERIC = re.compile(
    r"(?:the )?(?:modul(?:e?\s?handb(?:uch|ook)|beschreibung(?:en)?|katalog|übersicht)"
    r"|module (?:descriptions?|catalogue|compendium)"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|deckblatt|titel(?:blatt)?|cover|title"
    r"|amtliche (?:bekanntmachung(?:en)?|mitteilung(?:en)?)|verkündungsblatt|official (?:announcements?|bulletin)"
    r"|(?:studien|prüfungs)(?:verlaufs)?(?:plan|ordnung)|merkblatt|anlage(?: \d+)?|anhang|appendix|syllabus|handbook)",
    re.IGNORECASE,
)
PROGRAMME = re.compile(
    r"\b(?:bachelor\w*|master\w*|studieng(?:ang|änge)|teilstudiengang|staatsexamen|lehramt\w*|diplom|zertifikat"
    r"|(?:degree|course|study) program(?:me)?s?|[BM]\. ?(?:Sc|A|Ed|Eng)\b\.?|LL\. ?[BM]\b\.?)",
    re.IGNORECASE,
)
#: Where a programme's name ends: the institution, the degree, a date or a remark follows.
INSTITUTION = r"(?:universität|hochschule|university|fakultät|faculty|fachbereich|institut|school|college|department)"
NAME_END = re.compile(
    r"\s*(?:$|[;:,]|\((?![BM]\. ?[A-Z]|LL)"
    rf"|\b(?:an |of |at )?(?:der|des|am|im|the|of|at) (?:[\w-]+ ){{0,2}}[\w-]*{INSTITUTION}|\b{INSTITUTION}"
    r"|\b(?:mit dem abschluss|vom \d|gültig|valid|leading to|für (?:studierende|das)|ab (?:dem )?(?:WS|SS|wi|so)))",
    re.IGNORECASE,
)
DEGREE = re.compile(r"\b(?:Bachelor|Master) of \w+|\b[BM]\. ?(?:Sc|A|Ed|Eng)\b\.?")
GRADES = re.compile(r"bachelor|master|\b[BM]\. ?(?:Sc|A|Ed|Eng)\b", re.IGNORECASE)
#: A line of a cover that goes on from its title: “for the degree programme …”.
GOES_ON = re.compile(r"(?:für|for|of|im|in|des|der|zum|zur)\b", re.IGNORECASE)
YEAR = r"(?:19|20)\d\d(?:/\d{2,4})?"
REGULATION = re.compile(
    r"\b(?:PO|SPO|FPO|(?:fach)?(?:studien- und )?prüfungsordnung|examination regulations?|ordnung vom|fassung|version)"
    rf"\b[^\n;,|]{{0,40}}?\b{YEAR}",
    re.IGNORECASE,
)
MONTH = (
    "(?:jan(?:uar|uary)|feb(?:ruar|ruary)|märz|march|april|mai|may|juni|june|juli|july|august|september|o[ck]tober"
    "|november|de[cz]ember)"
)
#: The first one that a cover has says more than the next.
DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:stand|as of|gültig ab|valid from)\b:?[^\n;,|]{{0,30}}?\b{YEAR}",
        rf"\bfassung (?:der bekanntmachung )?vom\b[^\n;,|]{{0,20}}?\b{YEAR}",
        rf"\b(?:winter|sommer|summer|spring|fall)[- ]?(?:semester|term)?\s?{YEAR}|\b(?:WS|WiSe|SS|SoSe)\s?{YEAR}",
        rf"\b{MONTH} {YEAR}",
    )
]
COVER_CHARACTERS = 3_000
LONGEST_LINE, LONGEST_NAME, LONGEST_PARAGRAPH = 120, 100, 300
MOST_CHARACTERS = 500


def tell_apart(title: str, *, text: str, names: Sequence[str], collection: Collection, url: str) -> str:
    """Return the title, with more words where it says nothing or where another document of the collection has it.

    They are the programme, the regulation and the date on the cover, else the first of `names` that no other has.
    """
    if not GENERIC.fullmatch(title.strip()) and not _is_taken(title, collection, url):
        return title
    said = read_cover(text, title)
    longer = f"{title}: {', '.join(said)}"[:MOST_CHARACTERS] if said else title
    if said and not _is_taken(longer, collection, url):
        return longer
    named = [f"{longer} ({name})"[:MOST_CHARACTERS] for name in names if name.casefold() not in {"", title.casefold()}]
    return next((each for each in named if not _is_taken(each, collection, url)), (named or [longer])[-1])


def own_title(title: str) -> str:
    """Return the title that a document's editions share; empty if it says nothing, so that the told-apart one does."""
    return "" if GENERIC.fullmatch(title.strip()) else title


def read_cover(text: str, title: str) -> list[str]:
    """List what a document's first page says of its programme, its regulation and its date, each once."""
    pages = MARKER.split(text[: 2 * COVER_CHARACTERS], maxsplit=2)  # text, number, text, number …
    cover = (pages[0] + (pages[2] if len(pages) > 2 and not pages[0].strip() else ""))[:COVER_CHARACTERS]
    lines = [line for raw in cover.split("\n") if (line := make_plain(raw.strip("#*-> ")))]
    found: list[str] = []
    named = (name for line in lines if line != title and (name := _name_programme(line, title)))
    if programme := next(named, ""):
        found.append(programme)
    for patterns in ([REGULATION], DATES):
        matches = (match[0] for pattern in patterns for line in lines if (match := pattern.search(line)))
        said = next(matches, "")
        if said and not any(said.casefold() in each.casefold() for each in (*found, title)):
            found.append(said)
    return found


def _name_programme(line: str, title: str) -> str:
    """Return the programme that a line of a cover names, with its degree; empty if it names none.

    A line that begins with something else, such as the regulations' name, is a name as a whole. A long one is that of a
    cover only if the institution, the degree or a date follows on the programme: else it is a sentence.
    """
    begin = GENERIC.match(line)
    if begin and (begin[0].casefold() in title.casefold() or len(line) > LONGEST_LINE):
        line = line[begin.end() :].lstrip(" :")
    match = PROGRAMME.search(line)
    if match is None or len(line) > LONGEST_PARAGRAPH:
        return ""
    goes_on = GOES_ON.match(line)
    if not goes_on and (match.start() or len(line) > LONGEST_LINE):
        return line.rstrip(".:;,") if len(line) <= LONGEST_LINE else ""
    end = NAME_END.search(line, match.end())
    name = line[match.start() : end.start() if end else None].rstrip(".:;, ")
    is_sentence = len(line) > LONGEST_LINE and (end is None or not end[0].strip(" ,;:("))
    if is_sentence or len(name) > LONGEST_NAME:
        return ""
    degree = None if GRADES.search(name) else DEGREE.search(line)
    return f"{name}, {degree[0]}" if degree else name


def _is_taken(title: str, collection: Collection, url: str) -> bool:
    """Return whether an older document has the title: the oldest one keeps it, however often its page is read."""
    others = collection.documents.filter(title=title).exclude(url=url)
    own = collection.documents.filter(url=url).values_list("pk", flat=True).first()
    return others.filter(pk__lt=own).exists() if own else others.exists()

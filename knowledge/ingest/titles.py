"""Titles that tell documents apart: one that says nothing, or that another document has, gets what its cover says."""

import re

from knowledge.chunking.page_markers import MARKER
from knowledge.chunking.plain_text import make_plain
from knowledge.models import Collection

#: Titles of any file of a kind.
GENERIC = re.compile(
    r"(?:the )?(?:modul(?:e?\s?handb(?:uch|ook)|beschreibung(?:en)?|katalog|übersicht|e descriptions?|e catalogue)"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|deckblatt|titel(?:blatt)?|cover|title"
    r"|amtliche (?:bekanntmachung(?:en)?|mitteilung(?:en)?)|verkündungsblatt|official (?:announcements?|bulletin)"
    r"|(?:studien|prüfungs)(?:verlaufs)?(?:plan|ordnung)|merkblatt|anlage(?: \d+)?|anhang|appendix|syllabus|handbook)",
    re.IGNORECASE,
)
PROGRAMME = re.compile(
    r"\b(?:bachelor\w*|master\w*|studieng(?:ang|änge)|teilstudiengang|staatsexamen|lehramt\w*|diplom|zertifikat"
    r"|degree program(?:me)?s?|[BM]\. ?(?:Sc|A|Ed|Eng)\b\.?|LL\. ?[BM]\b\.?)",
    re.IGNORECASE,
)
YEAR = r"(?:19|20)\d\d(?:/\d{2,4})?"
REGULATION = re.compile(
    r"\b(?:PO|SPO|FPO|(?:fach)?(?:studien- und )?prüfungsordnung|examination regulations?|ordnung vom|fassung|version)"
    rf"\b[^\n;,|]{{0,40}}?\b{YEAR}",
    re.IGNORECASE,
)
DATE = re.compile(
    rf"\b(?:stand|as of|gültig ab|valid from)\b:?[^\n;,|]{{0,30}}?\b{YEAR}"
    rf"|\b(?:winter|sommer|summer|spring|fall)[- ]?(?:semester|term)?\s?{YEAR}|\b(?:WS|WiSe|SS|SoSe)\s?{YEAR}",
    re.IGNORECASE,
)
COVER_CHARACTERS = 3_000
LONGEST_LINE = 120
MOST_CHARACTERS = 500


def tell_apart(title: str, *, text: str, name: str, collection: Collection, url: str) -> str:
    """Return the title, with more words where it says nothing or where another document of the collection has it.

    They are the programme, the regulation and the date on the cover, else `name`, the file's.
    """
    if not GENERIC.fullmatch(title.strip()) and not _is_taken(title, collection, url):
        return title
    said = read_cover(text, title)
    longer = f"{title}: {', '.join(said)}"[:MOST_CHARACTERS] if said else title
    if name.casefold() != title.casefold() and (not said or _is_taken(longer, collection, url)):
        longer = f"{longer} ({name})"[:MOST_CHARACTERS]
    return longer


def read_cover(text: str, title: str) -> list[str]:
    """List what a document's first page says of its programme, its regulation and its date, each once."""
    pages = MARKER.split(text[: 2 * COVER_CHARACTERS], maxsplit=2)  # text, number, text, number …
    cover = (pages[0] + (pages[2] if len(pages) > 2 and not pages[0].strip() else ""))[:COVER_CHARACTERS]
    lines = [line for raw in cover.split("\n") if (line := make_plain(raw.strip("#*-> ")))]
    found: list[str] = []
    named = (line for line in lines if PROGRAMME.search(line) and len(line) <= LONGEST_LINE and line != title)
    if programme := next(named, ""):
        found.append(programme.rstrip(".:;,"))
    for pattern in (REGULATION, DATE):
        match = next((match for line in lines if (match := pattern.search(line))), None)
        if match and not any(match[0].casefold() in each.casefold() for each in (*found, title)):
            found.append(match[0])
    return found


def _is_taken(title: str, collection: Collection, url: str) -> bool:
    """Return whether an older document has the title: the oldest one keeps it, however often its page is read."""
    others = collection.documents.filter(title=title).exclude(url=url)
    own = collection.documents.filter(url=url).values_list("pk", flat=True).first()
    return others.filter(pk__lt=own).exists() if own else others.exists()

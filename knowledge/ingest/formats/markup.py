"""Elements of HTML, which the readers of office files make, into a file's text."""

import re
from collections.abc import Sequence

from lxml import etree

from core.language import guess_language
from knowledge.ingest.formats.types import BadFile, FileText, Said, Write
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.dom import Element, elements, read_text
from knowledge.ingest.html.markdown import Writer

#: XML allows no other control characters.
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
#: A longer cell is no name of a column.
LONGEST_NAME = 60
FIGURE = re.compile(r"[\d\s.,:%€$/+()-]+")
#: Titles that programs fill in.
UNTITLED = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)\b.*|(?:power)?point.?pr(?:ä|ae)sentation|powerpoint presentation"
    r"|präsentation|presentation|unbenannt\w*|untitled\w*|document|dokument)\W*\d*(?:\.\w+)?",
    re.IGNORECASE,
)


def element(tag: str, text: str = "", **attributes: str) -> Element:
    made = etree.Element(tag, attributes)
    made.text = CONTROLS.sub("", text)
    return made


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    made = element(tag, text, **attributes)
    parent.append(made)
    return made


def add_text(parent: Element, text: str) -> None:
    """Add text behind what the element holds already."""
    text = CONTROLS.sub("", text)
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def name_columns(root: Element) -> None:
    """Make a table's first row its header if it reads like one: office programs rarely say."""
    for table in elements(root, "table"):
        rows = list(table.iter("tr"))
        if len(rows) > 1 and not any(True for _ in table.iter("th")) and _are_names(rows[0]):
            for cell in rows[0]:
                cell.tag = "th"


def _are_names(row: Element) -> bool:
    names = [read_text(cell) for cell in row]
    if len(names) < 2 or len(set(names)) < len(names):
        return False
    return all(0 < len(name) <= LONGEST_NAME and not FIGURE.fullmatch(name) for name in names)


def file_text(
    root: Element,
    *,
    write: Write,
    stated_title: str = "",
    title: str = "",
    pages: int = 0,
    warnings: Sequence[Said] = (),
) -> FileText:
    """Write the elements as Markdown; return the rest of the text.

    The title is `title`, else the first heading of the highest level if the text begins with it, else the one that the
    file's properties state. Raises BadFile if there is no text.
    """
    name_columns(root)
    words = read_text(root)
    stated = "" if UNTITLED.fullmatch(stated_title.strip()) else stated_title.strip()
    heading = next(elements(root, "h1"), None)
    writer = Writer("")
    markdown = writer.write(root)
    if not markdown.strip():
        raise BadFile(_("there is no text in it; if it shows text, that is in pictures"))
    write(markdown.replace("<!--", "<! --") + "\n")
    return FileText(
        title=title or (read_text(heading) if heading is not None else "") or stated,
        language=guess_language(words),
        pages=pages,
        warnings=tuple(warnings),
        references=tuple((link.text, link.url) for link in writer.references.links()),
    )

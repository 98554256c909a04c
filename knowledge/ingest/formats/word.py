"""What mammoth leaves out of a Word file: automatic numbers, such as § 3, and which of its own styles are headings."""

import io
import re
from collections.abc import Iterator
from zipfile import ZIP_DEFLATED, ZipFile

from lxml import etree

from knowledge.ingest.formats.archive import read_part
from knowledge.ingest.formats.pictures import size_in_emu, size_in_words
from knowledge.ingest.formats.types import BadFile
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.html.dom import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAIN, STYLES, NUMBERS = "word/document.xml", "word/styles.xml", "word/numbering.xml"
TITLE = re.compile(r"title|titel", re.IGNORECASE)
#: What Markdown writes as a list by itself: "1." and bullets.
PLAIN = re.compile(r"%\d\.?")
ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
         (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
LEVELS = 9


def parse_part(archive: ZipFile, name: str) -> Element | None:
    """Parse a part; None if the file has none. Raises BadFile."""
    if name not in archive.namelist():
        return None
    try:
        return etree.fromstring(read_part(archive, name), etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise BadFile(_("it is cut off or damaged: copy or download it again")) from error


def stated_title(archive: ZipFile) -> str:
    core = parse_part(archive, "docProps/core.xml")
    found = core.findtext("{http://purl.org/dc/elements/1.1/}title") if core is not None else None
    return (found or "").strip()


def picture_sizes(archive: ZipFile) -> list[float]:
    """List the sizes of the pictures in the text itself, not in headers and footers, in square centimetres."""
    root = parse_part(archive, MAIN)
    if root is None:
        return []
    drawn = [each for each in root.iter(f"{W}drawing") if next(each.iter("{*}blip"), None) is not None]
    extents = [extent for each in drawn if (extent := next(each.iter("{*}extent"), None)) is not None]
    # As Word wrote pictures before 2007.
    shapes = [image.getparent().get("style", "") for image in root.iter("{urn:schemas-microsoft-com:vml}imagedata")]
    styles = [dict(part.partition(":")[::2] for part in style.split(";")) for style in shapes]
    return [
        *(size_in_emu(extent.get("cx"), extent.get("cy")) for extent in extents),
        *(size_in_words(style.get("width"), style.get("height")) for style in styles),
    ]


def style_map(archive: ZipFile) -> str:
    """Map the styles that have an outline level, by themselves or by the one they stand on, to headings."""
    lines = []
    for style, level in _outline(_styles(archive)).items():
        name = _value(_styles(archive)[style].find(f"{W}name"))
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"p[style-name='{quoted}'] => h{min(level + 1, 6)}:fresh")
    return "\n".join([*lines, "p[style-name='Title'] => h1:fresh", "p[style-name='Titel'] => h1:fresh"])


def numbered(archive: ZipFile) -> io.BytesIO:
    """Copy the file with numbers in its text where Word makes them and Markdown would not."""
    root = parse_part(archive, MAIN)
    if root is None:
        raise BadFile(_("it is cut off or damaged: copy or download it again"))
    _write_numbers(root, archive)
    copy = io.BytesIO()
    with ZipFile(copy, "w", ZIP_DEFLATED, compresslevel=1) as target:
        for part in archive.infolist():
            if part.filename == MAIN:
                target.writestr(MAIN, etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
            elif part.filename.endswith((".xml", ".rels")):
                target.writestr(part.filename, read_part(archive, part))
            else:  # a picture: mammoth asks whether it is there
                target.writestr(part.filename, b"")
    copy.seek(0)
    return copy


def _write_numbers(root: Element, archive: ZipFile) -> None:
    lists, styles = _Lists(parse_part(archive, NUMBERS)), _styles(archive)
    headings = _outline(styles)
    for paragraph in root.iter(f"{W}p"):
        style = _value(paragraph.find(f"{W}pPr/{W}pStyle"))
        number, level = _numbering(paragraph, style, styles)
        if not number or not (label := lists.next(number, level)):
            continue
        is_heading = style in headings or paragraph.find(f"{W}pPr/{W}outlineLvl") is not None
        if is_heading or not lists.is_plain(number, level):
            _begin_with(paragraph, label)


def _begin_with(paragraph: Element, label: str) -> None:
    """Write the number as text; the paragraph is no list item any more."""
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        properties = etree.Element(f"{W}pPr")
        paragraph.insert(0, properties)
    for former in properties.findall(f"{W}numPr"):
        properties.remove(former)
    none = etree.SubElement(properties, f"{W}numPr")
    etree.SubElement(none, f"{W}numId", {f"{W}val": "0"})
    run = etree.Element(f"{W}r")
    etree.SubElement(run, f"{W}t").text = f"{label} "
    paragraph.insert(paragraph.index(properties) + 1, run)


def _numbering(paragraph: Element, style: str, styles: dict[str, Element]) -> tuple[str, int]:
    """Return the id of the paragraph's list and its level; "" if it is in none."""
    own = paragraph.find(f"{W}pPr/{W}numPr")
    number = _value(own.find(f"{W}numId")) if own is not None else ""
    level = _value(own.find(f"{W}ilvl")) if own is not None else ""
    for each in _lineage(style, styles):
        inherited = each.find(f"{W}pPr/{W}numPr")
        if inherited is not None:
            number = number or _value(inherited.find(f"{W}numId"))
            level = level or _value(inherited.find(f"{W}ilvl"))
    return ("" if number == "0" else number), min(int(level), LEVELS - 1) if level.isdecimal() else 0


class _Lists:
    """The lists that a file defines, and how far each has counted."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, Element]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[str, list[int | None]] = {}
        if root is None:
            return
        for abstract in root.iter(f"{W}abstractNum"):
            levels = {int(level.get(f"{W}ilvl", "0")): level for level in abstract.findall(f"{W}lvl")}
            self._levels[abstract.get(f"{W}abstractNumId", "")] = levels
        for number in root.iter(f"{W}num"):
            self._abstract[number.get(f"{W}numId", "")] = _value(number.find(f"{W}abstractNumId"))

    def next(self, number: str, level: int) -> str:
        """Count one further, and return the number as it is shown; "" for bullets."""
        key = self._abstract.get(number, "")
        levels = self._levels.get(key, {})
        counts = self._counts.setdefault(key, [None] * LEVELS)
        before = counts[level]
        counts[level] = _start(levels.get(level)) if before is None else before + 1
        counts[level + 1 :] = [None] * (LEVELS - level - 1)
        if level not in levels or _format(levels[level]) in {"bullet", "none"}:
            return ""
        shown = {
            str(each + 1): _shown(counts[each] or _start(levels.get(each)), _format(levels.get(each)))
            for each in range(level + 1)
        }
        text = _value(levels[level].find(f"{W}lvlText"))
        return re.sub(r"%(\d)", lambda place: shown.get(place[1], ""), text).strip()

    def is_plain(self, number: str, level: int) -> bool:
        found = self._levels.get(self._abstract.get(number, ""), {}).get(level)
        text = _value(found.find(f"{W}lvlText")) if found is not None else ""
        return _format(found) == "decimal" and bool(PLAIN.fullmatch(text))


def _start(level: Element | None) -> int:
    text = _value(level.find(f"{W}start")) if level is not None else ""
    return int(text) if text.isdecimal() and len(text) < 6 else 1


def _format(level: Element | None) -> str:
    return _value(level.find(f"{W}numFmt")) if level is not None else "decimal"


def _shown(count: int, numbering: str) -> str:
    if "Letter" in numbering:
        text = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
    elif "Roman" in numbering:
        text = ""
        for value, sign in ROMAN:
            text, count = text + sign * (count // value), count % value
    else:
        return str(count)
    return text.upper() if numbering.startswith("upper") else text


def _value(found: Element | None) -> str:
    return str(found.get(f"{W}val", "")) if found is not None else ""


def _styles(archive: ZipFile) -> dict[str, Element]:
    root = parse_part(archive, STYLES)
    found = root.findall(f"{W}style") if root is not None else []
    return {style.get(f"{W}styleId", ""): style for style in found if style.get(f"{W}type") == "paragraph"}


def _lineage(style: str, styles: dict[str, Element]) -> Iterator[Element]:
    seen = set()
    while style in styles and style not in seen:
        seen.add(style)
        yield styles[style]
        style = _value(styles[style].find(f"{W}basedOn"))


def _outline(styles: dict[str, Element]) -> dict[str, int]:
    """Return the outline level of each style that has one; level 9 is body text."""
    found = {}
    for name in styles:
        for each in _lineage(name, styles):
            level = _value(each.find(f"{W}pPr/{W}outlineLvl"))
            if level.isdecimal():
                if int(level) < LEVELS and not TITLE.fullmatch(_value(styles[name].find(f"{W}name"))):
                    found[name] = int(level)
                break
    return found

"""OpenDocument texts: their XML is close to HTML, so that it is read as it is (see decision 0047)."""

from typing import TYPE_CHECKING, BinaryIO

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, Progress, Said, Write
from knowledge.ingest.formats.types import gettext_noop as _

if TYPE_CHECKING:
    from knowledge.ingest.html.dom import Element

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
SPACES = {
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
}
TEXT, TABLE, STYLE, XLINK, SVG = (f"{{{SPACES[name]}}}" for name in ("text", "table", "style", "xlink", "svg"))
TAGS = {
    f"{TEXT}p": "p",
    f"{TEXT}list-item": "li",
    f"{TEXT}list-header": "li",
    f"{TABLE}table": "table",
    f"{TABLE}table-row": "tr",
    f"{TABLE}table-cell": "td",
    f"{TABLE}table-header-rows": "thead",
    f"{TEXT}a": "a",
    f"{TEXT}note-body": "span",
    f"{TEXT}line-break": "br",
}
#: What is not shown, or is shown twice.
LEFT_OUT = {
    f"{TEXT}tracked-changes",
    f"{{{SPACES['office']}}}annotation",
    f"{TEXT}note-citation",
    f"{TEXT}table-of-content",
    f"{TABLE}covered-table-cell",
    f"{{{SPACES['office']}}}forms",
    f"{TEXT}sequence-decls",
}
#: Repeated cells and rows fill a sheet to its edge.
MOST_REPEATED = 200


def read(file: BinaryIO, *, limits: Limits, progress: Progress, write: Write) -> FileText:
    from knowledge.ingest.formats.archive import open_archive
    from knowledge.ingest.formats.markup import element, file_text
    from knowledge.ingest.formats.pictures import remark_on_pictures
    from knowledge.ingest.formats.word import parse_part

    archive = open_archive(file, ".odt", limits)
    content = parse_part(archive, "content.xml")
    body = content.find("office:body/office:text", SPACES) if content is not None else None
    if body is None:
        raise BadFile(_("it is cut off or damaged: copy or download it again"))
    root = element("body")
    _write(root, body, _Styles(content, parse_part(archive, "styles.xml")))
    for name in [cell for cell in root.iter("td") if any(True for _head in cell.iterancestors("thead"))]:
        name.tag = "th"
    meta = parse_part(archive, "meta.xml")
    stated = (meta.findtext(".//dc:title", namespaces=SPACES) or "") if meta is not None else ""
    warnings = [*_from_elsewhere(content), *remark_on_pictures(_picture_sizes(body))]
    return file_text(root, write=write, stated_title=stated, warnings=warnings)


class _Styles:
    """What the file's styles say of its elements."""

    def __init__(self, *roots: "Element") -> None:
        self.titles = {"Title"}
        self._numbered: dict[str, set[str]] = {}
        for root in (root for root in roots if root is not None):
            for style in root.iterfind(".//style:style[@style:parent-style-name='Title']", SPACES):
                self.titles.add(style.get(f"{STYLE}name", ""))
            for style in root.iterfind(".//text:list-style", SPACES):
                levels = style.iterfind("text:list-level-style-number", SPACES)
                shown = {level.get(f"{TEXT}level", "") for level in levels if level.get(f"{STYLE}num-format")}
                self._numbered[style.get(f"{STYLE}name", "")] = shown

    def list_tag(self, source: "Element") -> str:
        """Tell a numbered list; one inside another has the outer one's style unless it names its own."""
        around = [source, *source.iterancestors(f"{TEXT}list")]
        style = next((name for each in around if (name := each.get(f"{TEXT}style-name"))), "")
        return "ol" if str(len(around)) in self._numbered.get(style, ()) else "ul"


def _write(into: "Element", source: "Element", styles: _Styles) -> None:
    """Write what an element holds; its text and tails stay in their order."""
    from knowledge.ingest.formats.markup import add, add_text

    add_text(into, source.text or "")
    for child in source:
        if not isinstance(child.tag, str) or child.tag in LEFT_OUT:
            pass
        elif child.tag == f"{TEXT}h" or (child.tag == f"{TEXT}p" and child.get(f"{TEXT}style-name") in styles.titles):
            level = child.get(f"{TEXT}outline-level", "1")
            _write(add(into, f"h{min(int(level), 6) if level.isdecimal() and int(level) else 1}"), child, styles)
        elif child.tag == f"{TEXT}s":
            count = child.get(f"{TEXT}c", "1")
            add_text(into, " " * (min(int(count), 100) if count.isdecimal() else 1))
        elif child.tag == f"{TEXT}tab":
            add_text(into, " ")
        elif child.tag == f"{TEXT}note":
            add_text(into, " (")
            _write(into, child, styles)
            add_text(into, ")")
        elif child.tag == f"{TEXT}list":
            _write(add(into, styles.list_tag(child)), child, styles)
        elif tag := TAGS.get(child.tag):
            for _time in range(_repeated(child)):
                _write(add(into, tag, **_attributes(child)), child, styles)
        else:
            _write(into, child, styles)
        add_text(into, child.tail or "")


def _attributes(source: "Element") -> dict[str, str]:
    found = {"href": source.get(f"{XLINK}href") if source.tag == f"{TEXT}a" else None}
    if source.tag == f"{TABLE}table-cell":
        found |= {
            "colspan": source.get(f"{TABLE}number-columns-spanned"),
            "rowspan": source.get(f"{TABLE}number-rows-spanned"),
        }
    return {name: value for name, value in found.items() if value}


def _repeated(source: "Element") -> int:
    for name in ("number-columns-repeated", "number-rows-repeated"):
        count = source.get(f"{TABLE}{name}", "")
        if count.isdecimal():
            return min(int(count), MOST_REPEATED) if any(source.itertext()) else 1
    return 1


def _picture_sizes(body: "Element") -> list[float]:
    """List the sizes of the pictures in square centimetres, without the copies of charts and formulas."""
    from knowledge.ingest.formats.pictures import size_in_words

    found = body.iterfind(".//draw:frame[draw:image]", SPACES)
    frames = [frame for frame in found if frame.find("draw:object", SPACES) is None]
    return [size_in_words(frame.get(f"{SVG}width"), frame.get(f"{SVG}height")) for frame in frames]


def _from_elsewhere(content: "Element") -> list[Said]:
    names = ("image", "object", "plugin", "floating-frame")
    places = [found.get(f"{XLINK}href", "") for name in names for found in content.iterfind(f".//draw:{name}", SPACES)]
    places += [found.get(f"{XLINK}href", "") for found in content.iterfind(".//text:section-source", SPACES)]
    far = list(dict.fromkeys(place[:200] for place in places if "://" in place))
    if not far:
        return []
    text = _("it takes content from elsewhere, which was not fetched ({address}): put into the file what students need")
    return [Said(text, {"address": ", ".join(far[:3])})]


FORMAT = Format(".odt", "OpenDocument", (MEDIA_TYPE,), read, b"PK")

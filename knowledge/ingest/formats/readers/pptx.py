"""PowerPoint files, by python-pptx: each slide under a heading with its number, which a citation then names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, Progress, Said, Write
from knowledge.ingest.formats.types import gettext_noop as _

if TYPE_CHECKING:
    from knowledge.ingest.html.dom import Element

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
#: Of a relationship to the text of a SmartArt.
DIAGRAM = "/diagramData"
SLIDE_NAMES = {"de": "Folie"}
DEEPEST_GROUP = 20


def read(file: BinaryIO, *, limits: Limits, progress: Progress, write: Write) -> FileText:
    from pptx import Presentation

    from core.language import guess_language
    from knowledge.ingest.formats.archive import from_elsewhere, open_archive
    from knowledge.ingest.formats.markup import add, element, file_text
    from knowledge.ingest.html.dom import read_text

    archive = open_archive(file, ".pptx", limits)
    file.seek(0)
    presentation = Presentation(file)
    slides = list(presentation.slides)
    if len(slides) > limits.pages:
        raise BadFile(_("it has {count} slides; {limit} are allowed: split it"), count=len(slides), limit=limits.pages)
    root = element("body")
    headings, pictures = [], []
    first_title = ""
    for number, slide in enumerate(slides, start=1):
        progress(number - 1, len(slides))
        if slide._element.get("show") == "0":
            continue
        part = add(root, "div")
        title = _title(slide)
        first_title = first_title or title
        headings.append((add(part, "h2"), number, title))
        _write(part, slide, [shape for shape in _in_order(slide.shapes) if shape != slide.shapes.title])
        if not read_text(part) and any(shape.shape_type == 13 for shape in slide.shapes):  # 13 is a picture
            pictures.append(number)
    word = SLIDE_NAMES.get(guess_language(read_text(root)), "Slide")
    for heading, number, title in headings:
        heading.text = f"{word} {number}: {title}" if title else f"{word} {number}"
    warnings = from_elsewhere(archive)
    if pictures:
        named = ", ".join(map(str, pictures))
        warnings.append(Said(_("slides that are pictures without text: {slides}"), {"slides": named}))
    if not any(title or len(heading.getparent()) > 1 for heading, _number, title in headings):
        raise BadFile(_("there is no text in it; if it shows text, that is in pictures"))
    stated = presentation.core_properties.title or ""
    return file_text(root, write=write, title=first_title, stated_title=stated, pages=len(slides), warnings=warnings)


def _title(slide: Any) -> str:
    title = slide.shapes.title
    return " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""


def _in_order(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """Yield shapes from top to bottom, then from left to right; a group's own where the group is."""
    for shape in sorted(shapes, key=lambda shape: ((shape.top or 0) // 200_000, shape.left or 0)):
        if shape.shape_type == 6 and depth < DEEPEST_GROUP:  # 6 is a group
            yield from _in_order(shape.shapes, depth + 1)
        else:
            yield shape


def _write(part: "Element", slide: Any, shapes: list[Any]) -> None:
    from knowledge.ingest.formats.markup import add

    for shape in shapes:
        if shape.has_text_frame:
            _write_text(part, shape)
        elif getattr(shape, "has_table", False) and shape.has_table:
            _write_table(part, shape.table)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            chart = shape.chart
            if chart.has_title and chart.chart_title.has_text_frame:
                add(part, "p", chart.chart_title.text_frame.text)
        elif described := shape._element.xpath(".//p:cNvPr/@descr"):
            add(part, "img", alt=described[0])
    for relationship in slide.part.rels.values():
        if relationship.reltype.endswith(DIAGRAM) and not relationship.is_external:
            for text in _diagram(relationship.target_part.blob):
                add(part, "p", text)


def _write_text(part: "Element", shape: Any) -> None:
    from knowledge.ingest.formats.markup import add

    paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
    listed = shape.is_placeholder and shape.placeholder_format.type in {2, 7} and len(paragraphs) > 1  # body, object
    if not listed:
        for paragraph in paragraphs:
            _write_runs(add(part, "p"), paragraph)
        return
    lists = [add(part, "ul")]
    for paragraph in paragraphs:
        while len(lists) > paragraph.level + 1:
            lists.pop()
        while len(lists) < paragraph.level + 1 and len(lists[-1]):
            lists.append(add(lists[-1][-1], "ul"))
        _write_runs(add(lists[-1], "li"), paragraph)


def _write_runs(into: "Element", paragraph: Any) -> None:
    from pptx.text.text import _Run

    from knowledge.ingest.formats.markup import add, add_text

    for child in paragraph._p:
        if child.tag == f"{A}br":
            add(into, "br")
        elif child.tag == f"{A}r":
            run = _Run(child, paragraph)
            if address := run.hyperlink.address:
                add(into, "a", run.text, href=address)
            else:
                add_text(into, run.text)
        elif child.tag == f"{A}fld":
            add_text(into, "".join(child.itertext(f"{A}t")))


def _write_table(part: "Element", table: Any) -> None:
    from knowledge.ingest.formats.markup import add

    made = add(part, "table")
    for number, row in enumerate(table.rows):
        line = add(made, "tr")
        for cell in row.cells:
            if cell.is_spanned:
                continue
            spans = {"colspan": str(cell.span_width), "rowspan": str(cell.span_height)} if cell.is_merge_origin else {}
            add(line, "th" if number == 0 and table.first_row else "td", cell.text_frame.text, **spans)


def _diagram(blob: bytes) -> list[str]:
    from lxml import etree

    root = etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True))
    texts = ["".join(paragraph.itertext(f"{A}t")).strip() for paragraph in root.iter(f"{A}p")]
    return [text for text in texts if text]


FORMAT = Format(".pptx", "PowerPoint", (MEDIA_TYPE,), read, b"PK")

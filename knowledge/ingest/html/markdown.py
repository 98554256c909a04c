"""Elements into Markdown, in one walk without recursion: however deep a page nests, it takes linear time."""

import re
from dataclasses import dataclass, field

from lxml import etree

from knowledge.chunking.numbered_links import end_link
from knowledge.ingest.html.dom import (
    HEADINGS,
    INLINE,
    Element,
    References,
    absolute,
    attribute,
    clean,
    elements,
    holds,
)
from knowledge.ingest.html.escaping import CODE_END, CODE_START, collapse_space, escaped, split_lines, wrap_in_marks
from knowledge.ingest.html.tables import list_cells, pipe_table

EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
CODE = frozenset({"code", "kbd", "samp", "tt"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
#: Deeper lists and quotations are written at this depth: readers of Markdown stop there too.
MAX_INDENTS = 8
#: Alternative texts that say nothing: a file's name, a word for "picture".
SPEECHLESS = re.compile(
    r"(?:.*\.(?:jpe?g|png|gif|svg|webp)|(?:image|img|bild|foto|photo|picture|logo|icon|symbol|spacer|\W)*\d*)",
    re.IGNORECASE,
)
#: They would be read as the heading's closing marks.
CLOSING_HASHES = re.compile(r"(?<=\s)(#+)$")
LANGUAGE = re.compile(r"\b(?:language|lang|highlight)-([A-Za-z][\w+#-]*)")


@dataclass(slots=True)
class Indent:
    """Beginnings of the lines inside a list item or a quotation; the first one with its marker."""

    first: str
    rest: str
    used: bool = False


@dataclass(slots=True)
class Mark:
    """An inline element still open, and where its text begins in the paragraph."""

    kind: str  # "**", "*" or "["
    element: Element
    start: int
    url: str = ""


@dataclass(slots=True)
class Listing:
    """A list still open; one without items of its own (`layout`) arranges parts of the page and lists nothing."""

    layout: bool
    number: int | None


@dataclass(slots=True)
class Writer:
    """Writes elements one after the other; in a table's cell everything stands on one line."""

    base: str
    references: References = field(default_factory=References)
    cell: bool = False
    _out: list[str] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    _marks: list[Mark] = field(default_factory=list)
    _indents: list[Indent] = field(default_factory=list)
    _lists: list[Listing] = field(default_factory=list)
    _heading: int = 0
    _level: int = 1  # the last heading's, for the title of an accordion under it
    _code: int = 0
    _term: bool = False  # the paragraph is a term so far: its definition goes on in it
    _listed: Listing | None = None  # the outermost list that the last block was in

    def write(self, root: Element) -> str:
        skipped = None
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if self._whole(element):
                    skipped = element
                    walk.skip_subtree()
                else:
                    self._open(element)
                    self._text(element.text)
                continue
            if element is not skipped:
                self._close(element)
            if element is not root:
                self._text(element.tail)
        if self.cell:
            return " ".join(" ".join(lines) for lines in split_lines(self._taken(), cell=True))
        self._flush()
        return "".join(self._out)

    def _whole(self, element: Element) -> bool:
        """Write what is not walked into: pictures, breaks, code as it stands, tables."""
        tag = element.tag
        if tag in {"br", "hr", "img"}:
            if tag == "img":
                alt = clean(element.get("alt"))
                self._text(f" {alt} " if len(alt) > 2 and not SPEECHLESS.fullmatch(alt) else "")
            elif tag == "hr":
                self._break()
            elif not self._term:
                self._inline.append(" " if self.cell or self._heading else "\n")
            return True
        if tag == "pre" and not self.cell and not self._heading:
            self._write_list(element)
            return True
        if tag == "table" and not self.cell and not self._heading and (rows := list_cells(element)):
            self._flush()
            texts = {cell: Writer(self.base, self.references, cell=True).write(cell) for row in rows for cell in row}
            for caption in elements(element, "caption"):
                self._block([Writer(self.base, self.references, cell=True).write(caption)])
            self._block(pipe_table(rows, texts))
            return True
        return False

    def _open(self, element: Element) -> None:
        tag = element.tag
        if tag in INLINE:
            self._open_inline(element)
        elif tag in HEADINGS or tag == "summary":
            self._break()
            if not self.cell and not self._heading:
                self._flush()
                self._heading = int(tag[1]) if tag in HEADINGS else min(self._level + 1, 6)
                self._level = self._heading if tag in HEADINGS else self._level
        elif tag in LISTS and not self.cell:
            self._flush()
            full = len(self._indents) >= MAX_INDENTS
            start = attribute(element, "start")
            number = (int(start) if start.isdecimal() and len(start) < 7 else 1) if tag == "ol" else None
            self._lists.append(Listing(full or holds(element, "summary", *HEADINGS), number))
        elif tag == "li":
            self._item(element)
        elif tag == "blockquote" and not self.cell and len(self._indents) < MAX_INDENTS:
            self._flush()
            self._indents.append(Indent("> ", "> "))
        elif tag == "dt" and not self.cell:
            self._flush()
            self._marks.append(Mark("**", element, 0))
        elif tag == "dd" and self._term:
            self._inline.append(" " if self._inline[-1].rstrip("*")[-1:] in ":?!" else ": ")
        else:
            self._break()

    def _close(self, element: Element) -> None:
        tag = element.tag
        if tag in INLINE:
            self._close_inline(element)
        elif (tag in HEADINGS or tag == "summary") and self._heading:
            self._flush()
        elif tag in LISTS and not self.cell:
            self._flush()
            self._lists.pop()
        elif tag == "li":
            if not self.cell:
                self._flush()
                if self._lists and not self._lists[-1].layout:
                    self._indents.pop()
        elif tag == "blockquote" and not self.cell and self._indents and self._indents[-1].rest == "> ":
            self._flush()
            self._indents.pop()
        elif tag == "dt" and not self.cell:
            self._end_mark(element)
            self._term = bool("".join(self._inline).strip())
        else:
            self._break()

    def _item(self, element: Element) -> None:
        if self.cell:
            if "".join(self._inline).strip():
                self._inline.append(";")
            self._inline.append(" ")
            return
        self._flush()
        if self._lists and not (listing := self._lists[-1]).layout:
            marker = "* "
            if listing.number is not None:
                value = attribute(element, "value")
                listing.number = int(value) if value.isdecimal() and len(value) < 7 else listing.number
                marker, listing.number = f"{listing.number}. ", listing.number + 1
            self._indents.append(Indent(marker, " " * len(marker)))

    def _open_inline(self, element: Element) -> None:
        tag = element.tag
        kinds = {mark.kind for mark in self._marks}
        if tag in CODE:
            self._code += 1
        elif tag == "a" and "[" not in kinds and (href := attribute(element, "href").strip()):
            if url := absolute(href, self.base) if not href.startswith("#") else "":
                self._marks.append(Mark("[", element, len(self._inline), url))
        elif (kind := EMPHASIS.get(tag)) and kind not in kinds and not self._heading:
            self._marks.append(Mark(kind, element, len(self._inline)))
        elif tag == "q":
            self._inline.append('"')

    def _close_inline(self, element: Element) -> None:
        if element.tag in CODE:
            self._code -= 1
        elif element.tag == "q":
            self._inline.append('"')
        else:
            self._end_mark(element)

    def _end_mark(self, element: Element) -> None:
        if any(mark.element is element for mark in self._marks):
            # Marks that began inside it and are not closed yet end with it.
            while self._marks:
                mark = self._marks.pop()
                self._wrap(mark)
                if mark.element is element:
                    break

    def _wrap(self, mark: Mark) -> None:
        text = "".join(self._inline[mark.start :])
        del self._inline[mark.start :]
        if mark.kind != "[":
            self._inline.append(wrap_in_marks(text, mark.kind, mark.kind))
        elif mark.url and text.strip():
            number = self.references.number(mark.url, mark.element)
            if self._inline and self._inline[-1].endswith("!"):
                self._inline[-1] = f"{self._inline[-1][:-1]}\\!"  # or it would be a picture
            self._inline.append(wrap_in_marks(text, "[", end_link(text.strip(), number)))
            mark.url = ""  # a card's heading is linked, the text under it is not linked again
        else:
            self._inline.append(text)

    def _text(self, text: str | None) -> None:
        if not text:
            return
        text = collapse_space(text)
        if self._code and not text.isspace():
            self._inline.append(f"{CODE_START}{text}{CODE_END}")
        else:
            link = any(mark.kind == "[" for mark in self._marks)
            self._inline.append(escaped(text, link=link, cell=self.cell))
        if not text.isspace():
            self._term = False

    def _break(self) -> None:
        """Begin or end a block here."""
        if self.cell or self._heading:
            self._inline.append(" ")
        elif not self._term:
            self._flush()

    def _taken(self) -> str:
        """Take the paragraph so far; marks that are still open continue in the next one."""
        for mark in reversed(self._marks):
            self._wrap(mark)
            mark.start = 0
        text = "".join(self._inline)
        self._inline.clear()
        return text

    def _flush(self) -> None:
        self._term = False
        if not self._inline:
            self._heading = 0
            return
        paragraphs = split_lines(self._taken())
        if self._heading:
            title = " ".join(line for lines in paragraphs for line in lines)
            if title:
                self._block(["#" * self._heading + " " + CLOSING_HASHES.sub(r"\\\1", title)])
            self._heading = 0
            return
        for lines in paragraphs:
            self._block([f"{line}  " for line in lines[:-1]] + lines[-1:])

    def _write_list(self, element: Element) -> None:
        self._flush()
        for line_break in elements(element, "br"):
            line_break.tail = "\n" + (line_break.tail or "")
        lines = "".join(element.itertext()).expandtabs(4).replace("\r", "").strip("\n").rstrip().split("\n")
        longest = max((len(run) for line in lines for run in re.findall("^ *(`{3,})", line)), default=2)
        fence = "`" * (longest + 1)
        around = (attribute(element, "class"), *(attribute(child, "class") for child in element[:1]))
        language = next((found[1] for text in around if (found := LANGUAGE.search(text))), "")
        if any(line.strip() for line in lines):
            self._block([fence + language, *(line.rstrip() for line in lines), fence])

    def _block(self, lines: list[str]) -> None:
        begins = any(not indent.used and indent.rest != "> " for indent in self._indents)
        listing = next((listing for listing in self._lists if not listing.layout), None)
        if self._out:
            tight = begins and self._listed is not None and self._listed is listing
            quote = "".join(indent.rest for indent in self._indents if indent.used).rstrip()
            self._out.append("\n" if tight else f"\n{quote}\n")
        for count, line in enumerate(lines):
            before = "".join(indent.rest if indent.used else indent.first for indent in self._indents)
            for indent in self._indents:
                indent.used = True
            self._out.append(("\n" if count else "") + (before + line if line else before.rstrip()))
        self._listed = listing

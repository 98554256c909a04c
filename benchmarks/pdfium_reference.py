"""A PDF as PDFium reads it: its words a page, its running lines, its bookmarks; pypdfium2 is no part of the product."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from benchmarks.pdf_headings import Mark, bare

WORD = re.compile(r"[^\W_]+")
#: Halves of a word that a line's end cuts: PDFium says U+FFFE or U+0002 for a hyphen that it takes for such a cut.
CUT = re.compile(r"[^\W_]+[-\u00ad\u2010\ufffe\x02]\s*[\r\n]+\s*[^\W_]+|[^\W_]+[\ufffe\x02][^\W_]+")
ENTRY = re.compile(r"(?:\.\s?){3,}\s*(?:\d{1,4}|[ivxlc]{1,6})$|[^\W\d_]{3}.*\s(?:\d{1,4}|[ivxlc]{1,6})$")
#: Bookmarks of what the import leaves out on purpose.
LEFT_OUT = re.compile(r"^(?:table of )?contents$|^inhalt|^list of |verzeichnis$", re.IGNORECASE)
#: Lines at a page's upper and lower edge that may run.
EDGE = 2


@dataclass(frozen=True, slots=True)
class Reference:
    """`lines` and `running` (the running ones among them) a page; `contents` are pages of a table of contents."""

    texts: list[str]
    lines: list[list[str]]
    running: list[list[str]]
    contents: set[int]
    bookmarks: list[Mark]

    @classmethod
    def of(cls, path: Path) -> "Reference":
        document = pypdfium2.PdfDocument(path)
        try:
            texts, lines = [], []
            for index in range(len(document)):
                page = document[index].get_textpage()
                texts.append(page.get_text_range())
                lines.append(_lines(page))
            bookmarks = _bookmarks(document)
        finally:
            document.close()
        titles = {name for title, _level, _page in bookmarks for name in bare(title)}
        contents = {number for number, page in enumerate(lines, start=1) if _is_contents(page)}
        return cls(texts, lines, _running(lines, titles), contents, bookmarks)

    def words_by_page(self) -> Iterator[tuple[int, Counter[str]]]:
        """(page, its words) but those of running lines, of tables of contents, and halves at line ends."""
        for number, (text, running) in enumerate(zip(self.texts, self.running, strict=True), start=1):
            if number not in self.contents:
                yield number, words(CUT.sub(" ", text)) - words("\n".join(running))

    def words(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for _page, own in self.words_by_page():
            found += own
        return found


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _lines(page: "pypdfium2.PdfTextPage") -> list[str]:
    """Its lines from top to bottom, whatever columns they stand in."""
    rows: list[tuple[float, list[tuple[float, str]]]] = []
    boxes = [page.get_rect(index) for index in range(page.count_rects())]
    for left, bottom, right, top in sorted(boxes, key=lambda box: -(box[1] + box[3])):
        said = " ".join(page.get_text_bounded(left, bottom, right, top).split())
        middle = (bottom + top) / 2
        if said and rows and rows[-1][0] - middle < 3:
            rows[-1][1].append((left, said))
        elif said:
            rows.append((middle, [(left, said)]))
    return [" ".join(said for _left, said in sorted(row)) for _middle, row in rows]


def _is_contents(lines: list[str]) -> bool:
    return len(lines) > 5 and sum(bool(ENTRY.search(line)) for line in lines) > 0.6 * len(lines)


def _running(pages: list[list[str]], titles: set[str]) -> list[list[str]]:
    """Return the lines at each page's edges whose words, but for numbers, stand there on two more of the pages near.

    A bookmark's title is none: it may be the heading itself.
    """

    def key(line: str) -> str:
        return re.sub(r"^[ivxlc]+$|^[ivxlc]+ | [ivxlc]+$", "#", re.sub(r"\d+", "#", line))

    places: dict[tuple[int, str], list[int]] = {}
    spots = [*range(EDGE), *range(-EDGE, 0)]
    for number, lines in enumerate(pages):
        if len(lines) > 2 * EDGE:
            for spot in spots:
                places.setdefault((spot, key(lines[spot])), []).append(number)
    found: list[list[str]] = [[] for _ in pages]
    for (spot, _key), numbers in places.items():
        for number in numbers:
            line = pages[number][spot]
            if sum(abs(other - number) <= 4 for other in numbers) >= 3 and not bare(line) & titles:
                found[number].append(line)
    return found


def _bookmarks(document: "pypdfium2.PdfDocument") -> list[Mark]:
    found = []
    for item in document.get_toc(max_depth=15):
        dest = item.get_dest()
        index = dest.get_index() if dest else None
        title = " ".join(item.get_title().split())
        if index is not None and title and not LEFT_OUT.search(title):
            found.append((title, item.level, index + 1))
    return found

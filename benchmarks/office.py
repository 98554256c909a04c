"""Measures how office files are read: words, headings, cells of tables and items of lists that are kept.

`python -m benchmarks.office [--only SUFFIX] [--json FILE]`: LibreOffice (`soffice`, Debian's libreoffice-*-nogui) makes
40 files of the demo's pages, 8 of each format: their text as it was written is the reference. Texts come to Writer as
HTML and are saved as .docx, .odt and .rtf; a page's tables come to Calc, a sheet each; slides are made by python-pptx
and saved anew by Impress, one for each section.
"""

import argparse
import io
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
from markdown_it import MarkdownIt
from pptx import Presentation

from benchmarks.environment import ROOT
from benchmarks.measuring import say, table
from knowledge.ingest.formats.reader import read_file
from knowledge.ingest.formats.registry import find_format

PAGES = ROOT / "marcelcms" / "demo" / "pages"
A_FORMAT = 8
WORD = re.compile(r"[^\W_]+")
MARKUP = re.compile(r"\]\[\d+\]|\]\([^)]*\)|[\[\]*_`\\]")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) ")
#: What the reader puts before a slide's title.
SLIDE = re.compile(r"^## (?:Slide|Folie) \d+: ", re.MULTILINE)
RULE = re.compile(r"[\s|:-]+")
PARSER = MarkdownIt("commonmark").enable("table")
#: LibreOffice's names of formats, and of what reads the source.
FILTERS = {
    ".docx": ("docx:MS Word 2007 XML", "writer"),
    ".odt": ("odt:writer8", "writer"),
    ".rtf": ("rtf:Rich Text Format", "writer"),
    ".xlsx": ("xlsx:Calc MS Excel 2007 XML", "calc"),
    ".pptx": ("pptx:Impress MS PowerPoint 2007 XML", "impress"),
}


@dataclass(slots=True)
class Said:
    """The parts of a text: headings with their levels, rows as cells, items of lists, and all words."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)


def read_markdown(markdown: str) -> Said:
    said = Said()
    for line in markdown.split("\n"):
        said.words.update(word.lower() for word in WORD.findall(plain(line)))
        if heading := re.match(r"(#+) (.*)", line):
            said.headings.append((len(heading[1]), plain(heading[2])))
        elif line.lstrip().startswith("|") and not RULE.fullmatch(line):
            said.rows.append(tuple(map(plain, re.split(r"(?<!\\)\|", line.strip())[1:-1])))
        elif item := ITEM.match(line):
            said.items.append(plain(line[item.end() :]))
    return said


def plain(text: str) -> str:
    return " ".join(MARKUP.sub("", text).split())


def pages() -> list[tuple[str, str]]:
    """Return the title and the Markdown of the demo's pages that have a table, in the order of their names."""
    found = []
    for path in sorted(PAGES.iterdir()):
        head, _, text = path.read_text("utf-8").partition("\n\n")
        if "\n|" in text:
            found.append((re.findall(r"^Title: (.*)", head, re.MULTILINE)[0], text))
    return found


def as_html(title: str, markdown: str) -> tuple[str, bytes, str]:
    html = f"<html><head><meta charset=utf-8><title>{title}</title></head><body>{PARSER.render(markdown)}</body></html>"
    return ".html", html.encode(), markdown


def as_sheets(title: str, markdown: str) -> tuple[str, bytes, str]:
    """Make a workbook of the page's tables; a sheet is named after the section."""
    book, said, heading = openpyxl.Workbook(), [], title
    book.remove(book.active)
    for block in markdown.split("\n\n"):
        if block.startswith("#"):
            heading = plain(block.lstrip("# "))
        elif block.lstrip().startswith("|"):
            rows = read_markdown(block).rows
            name = re.sub(r"[\[\]:*?/\\]", " ", heading)[:28]
            name = name if name not in book.sheetnames else f"{name} {len(book.sheetnames)}"
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
            said.append(f"## {sheet.title}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows))
    return ".xlsx", saved(book.save), "\n\n".join(said)


def as_slides(_title: str, markdown: str) -> tuple[str, bytes, str]:
    """Make a presentation with a slide for each section: its sentences and items as points, its table as a table."""
    show, said = Presentation(), []
    for section in re.split(r"\n(?=#)", markdown):
        head, _, body = section.partition("\n")
        blocks = [block for block in body.split("\n\n") if block.strip()]
        rows = [row for block in blocks for row in read_markdown(block).rows]
        lines = [line for block in blocks if "|" not in block for line in block.split("\n")]
        points = [text for line in lines if (text := plain(ITEM.sub("", line)))]
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = plain(head.lstrip("# "))
        slide.placeholders[1].text = "\n".join(points)
        if rows:
            width = max(map(len, rows))
            shape = slide.shapes.add_table(len(rows), width, 0, 0, 9_000_000, 3_000_000)
            for at, row in enumerate(rows):
                for place, cell in enumerate(row):
                    shape.table.cell(at, place).text = cell
        shown = [f"## {slide.shapes.title.text}", *points, *(f"| {' | '.join(row)} |" for row in rows)]
        said.append("\n".join(shown))
    return ".pptx", saved(show.save), "\n".join(said)


def saved(save: Callable[[Any], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


MAKERS = {".docx": as_html, ".odt": as_html, ".rtf": as_html, ".xlsx": as_sheets, ".pptx": as_slides}


def make(suffix: str, sources: Sequence[tuple[str, str]], folder: Path) -> list[tuple[Path, str]]:
    """Have LibreOffice make a file of each source; return the files with what they say."""
    made, there = [], []
    for number, (title, markdown) in enumerate(sources):
        kind, content, said = MAKERS[suffix](title, markdown)
        path = folder / f"{suffix[1:]}-{number}{kind}"
        path.write_bytes(content)
        there.append(path)
        made.append((folder / "made" / f"{path.stem}{suffix}", said))
    target, program = FILTERS[suffix]
    reads = ["--infilter=HTML (StarWriter)"] if program == "writer" else []
    command = ["soffice", f"-env:UserInstallation=file://{folder}/user", "--headless", *reads]
    command += ["--convert-to", target, "--outdir", str(folder / "made"), *map(str, there)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return made


def compare(path: Path, reference: str) -> dict[str, float]:
    """Return how many of the reference's parts are kept, and how many words are added."""
    markdown = SLIDE.sub("## ", read_file(path, kind=find_format(path.name)).markdown)
    ours, theirs = read_markdown(markdown), read_markdown(reference)
    cells = Counter(cell for row in theirs.rows for cell in row if cell)
    return {
        "words": theirs.words.total(),
        "words kept": (theirs.words & ours.words).total(),
        "words added": (ours.words - theirs.words).total(),
        "headings": len(theirs.headings),
        "headings right": (Counter(theirs.headings) & Counter(ours.headings)).total(),
        "rows": len(theirs.rows),
        "rows right": (Counter(theirs.rows) & Counter(ours.rows)).total(),
        "cells": cells.total(),
        "cells kept": (cells & Counter(cell for row in ours.rows for cell in row if cell)).total(),
        "items": len(theirs.items),
        "items right": (Counter(theirs.items) & Counter(ours.items)).total(),
    }


def measure(only: str = "") -> list[dict[str, Any]]:
    found = []
    sources = pages()
    with tempfile.TemporaryDirectory() as name:
        for place, suffix in enumerate([only] if only else FILTERS):
            chosen = sources[place * A_FORMAT : (place + 1) * A_FORMAT]
            files = make(suffix, chosen, Path(name))
            sums: Counter[str] = Counter()
            for path, reference in files:
                sums.update(compare(path, reference))
            found.append({"format": suffix, "files": len(files), **sums})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.office", description=__doc__)
    parser.add_argument("--only", choices=FILTERS, default="")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    found = measure(arguments.only)
    pairs = {"words": "kept", "headings": "right", "rows": "right", "cells": "kept", "items": "right"}
    table(
        ("format", "files", *(f"{part} {how}" for part, how in pairs.items()), "words added"),
        [
            (
                row["format"],
                row["files"],
                *(f"{row[f'{part} {how}']} of {row[part]}" for part, how in pairs.items()),
                f"{100 * row['words added'] / row['words']:.1f} %",
            )
            for row in found
        ],
    )
    say()
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

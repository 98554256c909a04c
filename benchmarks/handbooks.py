"""Measures how module handbooks are read, compared with other programs: letters, words, time, memory; draws passages.

`python -m benchmarks.handbooks FOLDER [--only NAME] [--excerpt] [--python PYTHON] [--sizes N,N] [--draw N] [--seed N]
[--json FILE]` reads every PDF in FOLDER, with `--excerpt` 30 pages of each. pdftotext (poppler-utils) is needed, and
says what is in a file; PYTHON is an interpreter with pymupdf4llm or markitdown, which are compared if it has them.
`--sizes` reads so many pages of all of them as one file, to show what memory a page takes. Time is the processor's, so
that other work on the machine does not count. Whether a passage is garbled is for a person to judge: `--draw 15` prints
as many, drawn by chance from all files.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from benchmarks.fidelity_pdf import our_pages, share
from benchmarks.measuring import say, table
from benchmarks.pdf_readers import OURS, PDFTOTEXT, Program, Reading, find_programs
from benchmarks.pdfium_reference import words
from knowledge.chunking.chunker import Chunk, cut
from knowledge.chunking.page_markers import MARKER, with_pages

#: A passage has about so many words, as with the product's embedding models.
PASSAGE_WORDS = 180
#: Pages of an excerpt: from the beginning, and from the middle.
FIRST, MIDDLE = 10, 20
#: A word that a line's end cuts.
CUT = re.compile(r"(?<=[^\W\d_])-\s*\n\s*(?=[^\W\d_A-ZÄÖÜ])")
#: How pymupdf4llm writes the end of a line in a cell.
BREAK = re.compile(r"<br ?/?>")
HEAD = ["PDF", "reader", "pages", "letters", "words lost", "words added", "headings", "pages/s of a core", "MiB"]
FIGURES = ("letters", "words_lost", "words_added", "pages_per_second", "mebibytes")
SUMMARY = ["reader", "PDFs", "letters", "words lost", "words added", "pages/s of a core", "MiB"]


def compare(path: Path, programs: Mapping[str, Program]) -> tuple[dict[str, dict[str, Any]], list[tuple[str, Chunk]]]:
    """Read a PDF with each program; return each one's figures, and the passages of ours."""
    reference = programs[PDFTOTEXT].read(path)
    pages = [CUT.sub("", page) for page in reference.text.split("\f")[:-1]]
    results: dict[str, dict[str, Any]] = {}
    passages: list[tuple[str, Chunk]] = []
    for name, program in programs.items():
        reading = reference if name == PDFTOTEXT else program.read(path)
        if name == OURS:
            own = our_pages(reading.text)
            # A page that is left out whole is one of a table of contents.
            expected = [page for number, page in enumerate(pages, start=1) if number in own]
            said, text = "\n".join(own.values()), MARKER.sub("", reading.text)
            chunks = cut(reading.text, limit=PASSAGE_WORDS, measure=lambda passage: len(passage.split()))
            passages = [(f"{path.stem}, page {page}", chunk) for chunk, page in with_pages(chunks)]
        else:
            expected, text = pages, BREAK.sub("\n", reading.text)
            said = CUT.sub("", text)
        results[name] = {
            "pages": len(pages),
            "pages_left_out": len(pages) - len(expected),
            "letters": round(letters(text) / letters(reference.text), 3),
            **compared_words(expected, said),
            "headings": sum(line.startswith("#") for line in text.split("\n")),
            **used(reading, len(pages)),
        }
    return results, passages


def compared_words(expected: Sequence[str], said: str) -> dict[str, float]:
    theirs: Counter[str] = Counter()
    for page in expected:
        theirs += words(page)
    ours = words(said)
    return {
        "words_lost": share((theirs - ours).total(), theirs.total()),
        "words_added": share((ours - theirs).total(), theirs.total()),
    }


def used(reading: Reading, pages: int) -> dict[str, float]:
    return {"pages_per_second": round(pages / reading.seconds, 1), "mebibytes": reading.mebibytes}


def letters(text: str) -> int:
    return sum(not char.isspace() for char in text)


def measure(paths: Sequence[Path], programs: Mapping[str, Program], *, draw: int, seed: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    passages: list[tuple[str, Chunk]] = []
    for path in paths:
        results[path.name], own = compare(path, programs)
        passages += own
        say(f"{path.name} is read.")
    say()
    table(HEAD, [_row(Path(name).stem, reader, own) for name, each in results.items() for reader, own in each.items()])
    say()
    table(SUMMARY, [_summary(reader, [each[reader] for each in results.values()]) for reader in programs])
    chosen = random.Random(seed).sample(passages, min(draw, len(passages)))
    for number, (place, chunk) in enumerate(chosen, start=1):
        say(f"\n--- {number}: {place}: {' > '.join(chunk.heading_path)}\n{chunk.text}")
    return results


def _row(name: str, reader: str, result: Mapping[str, Any]) -> list[object]:
    shown = [_shown(key, result[key]) for key in FIGURES]
    return [name, reader, result["pages"], *shown[:3], result["headings"], *shown[3:]]


def _summary(reader: str, results: Sequence[Mapping[str, Any]]) -> list[object]:
    """From the least to the most of each figure."""
    ends = ((key, min(each[key] for each in results), max(each[key] for each in results)) for key in FIGURES)
    return [reader, len(results), *(f"{_shown(key, least)} to {_shown(key, most)}" for key, least, most in ends)]


def _shown(key: str, value: float) -> str:
    if key.startswith("words"):
        return f"{100 * value:.1f} %"
    return f"{value:.2f}" if key == "letters" else f"{value:,}"


def measure_sizes(paths: Sequence[Path], programs: Mapping[str, Program], sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Read the first pages of all files, put together, with each program."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="marcelcms-handbooks-") as name:
        for size in sizes:
            path = Path(name) / f"{size}.pdf"
            pages = put_together(paths, path, size)
            for reader, program in programs.items():
                rows.append({"reader": reader, "pages": pages, **used(program.read(path), pages)})
                say(str(rows[-1]))
    say()
    table(["reader", "pages", "pages/s of a core", "MiB"], [list(row.values()) for row in rows])
    return rows


def put_together(paths: Sequence[Path], target: Path, most: int) -> int:
    """Write the first `most` pages of the files into one; return how many there are."""
    with pypdfium2.PdfDocument.new() as joined:
        for path in paths:
            with pypdfium2.PdfDocument(path) as source:
                joined.import_pages(source, list(range(min(len(source), most - len(joined)))))
            if len(joined) == most:
                break
        joined.save(target)
        return len(joined)


def excerpt(path: Path, folder: Path) -> Path:
    """Write the pages of an excerpt to a file of the same name."""
    with pypdfium2.PdfDocument(path) as source, pypdfium2.PdfDocument.new() as taken:
        middle = max(FIRST, len(source) // 2 - MIDDLE // 2)
        taken.import_pages(source, [*range(FIRST), *range(middle, middle + MIDDLE)])
        taken.save(folder / path.name)
    return folder / path.name


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.handbooks", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the PDFs lie")
    parser.add_argument("--only", default="", metavar="NAME", help="PDFs with this in their name")
    parser.add_argument("--excerpt", action="store_true", help="the first 10 pages of each and 20 of its middle")
    parser.add_argument("--python", default="", metavar="PYTHON", help="one that has pymupdf4llm or markitdown")
    parser.add_argument("--sizes", default="", metavar="N,N", help="read so many pages of all as one file instead")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="passages to print")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="for drawing others")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write every figure")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.glob("*.pdf") if arguments.only in path.name)
    if not paths:
        say(f"No PDFs in {arguments.folder}.")
        return 1
    programs = find_programs(arguments.python)
    with tempfile.TemporaryDirectory(prefix="marcelcms-handbooks-") as folder:
        if arguments.excerpt:
            paths = [excerpt(path, Path(folder)) for path in paths]
        if arguments.sizes:
            results: Any = measure_sizes(paths, programs, [int(size) for size in arguments.sizes.split(",")])
        else:
            results = measure(paths, programs, draw=arguments.draw, seed=arguments.seed)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

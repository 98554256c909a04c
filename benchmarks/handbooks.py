"""Measures how module handbooks are read, compared with pdftotext: letters, words, time, memory; draws passages.

`python -m benchmarks.handbooks FOLDER [--only NAME] [--draw N] [--seed N] [--json FILE]` reads every PDF in FOLDER.
pdftotext (poppler-utils) is needed. Time is the processor's, so that other work on the machine does not count.
Whether a passage is garbled is for a person to judge: `--draw 15` prints as many, drawn by chance from all files.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fidelity_pdf import our_pages, share
from benchmarks.measuring import say, table
from benchmarks.pdfium_reference import words
from knowledge.chunking.chunker import Chunk, cut
from knowledge.chunking.page_markers import MARKER, with_pages
from knowledge.ingest.pdf.reader import read_pdf
from knowledge.ingest.pdf.types import Limits

#: A passage has about so many words, as with the product's embedding models.
PASSAGE_WORDS = 180
#: A word that a line's end cuts.
CUT = re.compile(r"(?<=[^\W\d_])-\s*\n\s*(?=[^\W\d_A-ZÄÖÜ])")
HEAD = ["PDF", "pages", "letters", "words lost", "words added", "modules", "pages/s of a core", "MiB"]


def compare(path: Path) -> tuple[dict[str, Any], list[tuple[str, Chunk]]]:
    """Read a PDF and what pdftotext says of it; return the figures, and the passages."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = read_pdf(path, limits=replace(Limits(), page_seconds=300, total_seconds=3_600))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout
    pages = our_pages(text.markdown)
    # A page that is left out whole is one of a table of contents.
    theirs: Counter[str] = Counter()
    for number, page in enumerate(said.split("\f"), start=1):
        if number in pages:
            theirs += words(CUT.sub("", page))
    ours = words("\n".join(pages.values()))
    result = {
        "pages": text.pages,
        "pages_left_out": text.pages - len(pages),
        "letters": round(letters(MARKER.sub("", text.markdown)) / letters(said), 3),
        "words_lost": share((theirs - ours).total(), theirs.total()),
        "words_added": share((ours - theirs).total(), theirs.total()),
        "headings": sum(line.startswith("#") for line in text.markdown.split("\n")),
        "pages_per_second": round(text.pages / seconds, 1),
        "mebibytes": round(after.ru_maxrss / 1024),
    }
    chunks = cut(text.markdown, limit=PASSAGE_WORDS, measure=lambda passage: len(passage.split()))
    return result, [(f"{path.stem}, page {page}", chunk) for chunk, page in with_pages(chunks)]


def letters(text: str) -> int:
    return sum(not char.isspace() for char in text)


def measure(paths: Sequence[Path], *, draw: int, seed: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    passages: list[tuple[str, Chunk]] = []
    for path in paths:
        results[path.name], own = compare(path)
        passages += own
    say()
    table(HEAD, [_row(Path(name).stem, result) for name, result in results.items()])
    chosen = random.Random(seed).sample(passages, min(draw, len(passages)))
    for number, (place, chunk) in enumerate(chosen, start=1):
        say(f"\n--- {number}: {place}: {' > '.join(chunk.heading_path)}\n{chunk.text}")
    return results


def _row(name: str, result: dict[str, Any]) -> list[object]:
    percents = (f"{100 * result[key]:.1f} %" for key in ("words_lost", "words_added"))
    figures = (result[key] for key in ("headings", "pages_per_second", "mebibytes"))
    return [name, result["pages"], f"{result['letters']:.2f}", *percents, *figures]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.handbooks", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the PDFs lie")
    parser.add_argument("--only", default="", metavar="NAME", help="PDFs with this in their name")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="passages to print")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="for drawing others")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write every figure")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.glob("*.pdf") if arguments.only in path.name)
    if not paths:
        say(f"No PDFs in {arguments.folder}.")
        return 1
    results = measure(paths, draw=arguments.draw, seed=arguments.seed)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

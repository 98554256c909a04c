"""Measures how many words OCR gets wrong on scanned German pages, through the whole way of a PDF.

`python -m benchmarks.ocr [--pages 20] [--json FILE] [--show]`. The word error rate is the edit distance between the
words set and the words read, divided by those set. A word is what stands between blanks, with its punctuation and its
capitals; only quotation marks and dashes count as one kind each.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

from benchmarks.measuring import say, table
from benchmarks.ocr_pages import as_pdf, make_pages
from knowledge.chunking.page_markers import MARKER
from knowledge.ingest.formats.reader import read_file
from knowledge.ingest.formats.registry import FORMATS
from knowledge.ingest.ocr.reader import read_pictures

SAME = str.maketrans(dict.fromkeys("„“”‟‚‘’'", '"') | dict.fromkeys("–—−", "-"))


def words_of(text: str) -> list[str]:
    said = text.translate(SAME).replace("\\", "").replace('""', '"')
    return [word for word in said.split() if word.strip("#-*")]


def read_scan(pdf: bytes) -> tuple[str, float]:
    """Return the text of a scanned page, and the seconds that OCR took; a process a page, with its start."""
    started = time.perf_counter()
    recognised = {}
    for read in read_pictures(pdf, [1]):
        if read.problem:
            raise RuntimeError(str(read.problem))
        recognised[read.page] = read.lines
    seconds = time.perf_counter() - started
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(recognised, file)
        file.flush()
        text = read_file(pdf, kind=FORMATS[".pdf"], leave_pictures=True, recognised=file.name)
    return MARKER.sub("", text.markdown), seconds


def measure(count: int, *, show: bool = False) -> dict[str, Any]:
    rows = []
    for number, page in enumerate(make_pages(count), start=1):
        text, seconds = read_scan(as_pdf([page.picture]))
        expected, said = words_of(page.text), words_of(text)
        wrong = Levenshtein.distance(expected, said)
        unquoted = Levenshtein.distance(*([word.replace('"', "") for word in words] for words in (expected, said)))
        letters = Levenshtein.distance(" ".join(expected), " ".join(said))
        rows.append(
            {
                "page": number,
                "columns": page.columns,
                "font": page.font,
                "dpi": page.dpi,
                "words": len(expected),
                "wrong": wrong,
                "wrong_but_for_quotation_marks": unquoted,
                "letters": sum(map(len, expected)),
                "letters_wrong": letters,
                "seconds": round(seconds, 1),
            }
        )
        say(json.dumps(rows[-1]))
        if show:
            for kind, i, j, k, m in Levenshtein.opcodes(expected, said).as_list():
                if kind != "equal":
                    say(f"    {' '.join(expected[i:j])!r} -> {' '.join(said[k:m])!r}")
    total = sum(row["words"] for row in rows)
    return {
        "pages": rows,
        "words": total,
        "word_error_rate": round(sum(row["wrong"] for row in rows) / total, 4),
        "but_for_quotation_marks": round(sum(row["wrong_but_for_quotation_marks"] for row in rows) / total, 4),
        "letter_error_rate": round(sum(row["letters_wrong"] for row in rows) / sum(row["letters"] for row in rows), 4),
        "worst_page": max(round(row["wrong"] / row["words"], 4) for row in rows),
        "seconds_a_page": statistics.median(row["seconds"] for row in rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ocr", description=__doc__)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--show", action="store_true", help="print what was read wrongly")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    result = measure(args.pages, show=args.show)
    names = ("words", "word_error_rate", "but_for_quotation_marks", "letter_error_rate", "worst_page", "seconds_a_page")
    table(["measure", "value"], [[name, result[name]] for name in names])
    if args.json:
        args.json.write_text(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

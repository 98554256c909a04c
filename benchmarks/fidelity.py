"""How much of real PDFs the import keeps: words, headings with their pages, boilerplate left; pages a second.

`python -m benchmarks.fidelity [--pdfs FOLDER] [--only NAME] [--json FILE]`. The PDFs are those of Debian's documentation
packages; without --pdfs they are fetched with `apt-get download` into a temporary folder. `pdftotext` and `pdfinfo`
(poppler-utils) give the words and lines to compare with, PDFium the bookmarks: neither is a part of the product.
"""

import argparse
import gzip
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2

from benchmarks.measuring import say, table
from knowledge.ingest.pdf.reading import read_pdf

MARKER = re.compile(r"<!-- page (\d+) -->")
HEADING = re.compile(r"^(#{1,6}) (.+)$")
WORD = re.compile(r"[^\W_]+")
NUMBERING = re.compile(
    r"^(?:(?:chapter|kapitel|appendix|anhang|teil|part)\s+)?(?:[A-Z]|\d{1,3}|[IVX]+)?(?:\.?\d{1,3})*[.:]?\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A PDF, and the pages that hold nothing but its table of contents: the import leaves them out on purpose."""

    name: str
    package: str
    path: str
    contents: tuple[int, int]


SAMPLES = (
    Sample("developers-reference.pdf", "developers-reference", "usr/share/developers-reference/developers-reference.pdf", (3, 8)),
    Sample("policy.pdf", "debian-policy", "usr/share/doc/debian-policy/policy.pdf.gz", (3, 9)),
    Sample("debian-faq.de.pdf", "debian-faq-de", "usr/share/doc/debian/FAQ/debian-faq.de.pdf.gz", (3, 6)),
    Sample("install.de.pdf", "installation-guide-amd64", "usr/share/doc/installation-guide-amd64/de/install.de.pdf.gz", (3, 9)),
    Sample("maint-guide.en.pdf", "maint-guide", "usr/share/doc/maint-guide/maint-guide.en.pdf", (4, 6)),
    Sample("project-history.de.pdf", "debian-history", "usr/share/doc/debian-history/docs/project-history.de.pdf", (4, 5)),
    Sample("gnuplot.pdf", "gnuplot-doc", "usr/share/doc/gnuplot/gnuplot.pdf", (2, 19)),
    Sample("latex2rtf.pdf", "latex2rtf-doc", "usr/share/doc/latex2rtf-doc/latex2rtf.pdf.gz", (0, 0)),
    Sample("fhs-3.0.pdf", "debian-policy", "usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz", (4, 6)),
    Sample("debian-reference.de.pdf", "debian-reference-de", "usr/share/debian-reference/debian-reference.de.pdf", (3, 22)),
    Sample("l2kurz.pdf", "texlive-lang-german", "usr/share/doc/texlive-doc/latex/lshort-german/l2kurz.pdf", (3, 4)),
)
#: Bookmarks of what the import leaves out.
LEFT_OUT = re.compile(r"^(?:table of )?contents$|^inhalt|^list of |verzeichnis$", re.IGNORECASE)


def fetch(folder: Path) -> None:
    """Downloads the packages and lays their PDFs into `folder`."""
    with tempfile.TemporaryDirectory(prefix="marcelcms-fidelity-") as name:
        place = Path(name)
        place.chmod(0o777)
        packages = sorted({sample.package for sample in SAMPLES})
        subprocess.run(["apt-get", "download", *packages], cwd=place, check=True, capture_output=True)
        for package in place.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, place / package.name.partition("_")[0]], check=True)
        for sample in SAMPLES:
            source = place / sample.package / sample.path
            raw = source.read_bytes()
            (folder / sample.name).write_bytes(gzip.decompress(raw) if source.suffix == ".gz" else raw)


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def normal(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in text if char.isalnum())


def bare(title: str) -> set[str]:
    return {normal(title), normal(NUMBERING.sub("", title, count=1))} - {""}


# --- the reference ---


def reference_pages(path: Path) -> list[list[str]]:
    """Lines a page, by `pdftotext -layout`."""
    done = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True)
    pages = done.stdout.decode("utf-8", "replace").split("\f")
    return [[line for line in page.split("\n") if line.strip()] for page in pages[:-1]]


def boilerplate(pages: list[list[str]]) -> list[list[str]]:
    """The running lines of each page: among its first or last two, with the same words on three pages or more."""

    def key(line: str) -> str:
        line = re.sub(r"\d+", "#", " ".join(line.split()))
        return re.sub(r"^[ivxlc]+$", "#", line)

    edges = [[*page[:2], *page[-2:]] if len(page) > 4 else page for page in pages]
    counts = Counter(key(line) for lines in edges for line in set(lines))
    return [[line for line in dict.fromkeys(lines) if counts[key(line)] >= 3] for lines in edges]


def reference_words(pages: list[list[str]], running: list[list[str]], contents: tuple[int, int]) -> Counter[str]:
    """Every word but those of running lines, of the table of contents, and the halves at line ends."""
    found: Counter[str] = Counter()
    for number, lines in enumerate(pages, start=1):
        if contents[0] <= number <= contents[1]:
            continue
        cut = False
        for line in lines:
            if line in running[number - 1]:
                continue
            text = line.strip()
            if cut:  # the second half of a word
                text = text.partition(" ")[2]
            cut = bool(re.search(r"\w[-\u00ad‐]$", text))
            if cut:
                text = text.rpartition(" ")[0]
            found += words(text)
    return found


def outline(path: Path) -> list[tuple[str, int, int]]:
    """(title, level, page) of the bookmarks, by PDFium."""
    document = pypdfium2.PdfDocument(path)
    found = []
    for item in document.get_toc(max_depth=15):
        dest = item.get_dest()
        index = dest.get_index() if dest else None
        title = " ".join(item.get_title().split())
        if index is not None and title and not LEFT_OUT.search(title):
            found.append((title, item.level, index + 1))
    document.close()
    return found


# --- ours ---


def our_pages(markdown: str) -> dict[int, str]:
    pieces = MARKER.split(markdown)
    pages: dict[int, str] = {0: pieces[0]}
    for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
        pages[int(number)] = pages.get(int(number), "") + text
    return pages


def our_headings(markdown: str) -> list[tuple[str, int, int]]:
    found, page, fenced = [], 0, False
    for line in markdown.split("\n"):
        for number in MARKER.findall(line):
            page = int(number)
        fenced ^= line.startswith("```")
        if not fenced and (heading := HEADING.match(line)):
            found.append((heading[2], len(heading[1]), page))
    return found


def compare(sample: Sample, path: Path) -> dict[str, Any]:
    started = time.perf_counter()
    text = read_pdf(path)
    seconds = time.perf_counter() - started
    pages = reference_pages(path)
    running = boilerplate(pages)
    expected = reference_words(pages, running, sample.contents)
    kept = sum((expected & words(text.markdown)).values()) / max(1, expected.total())
    left, lines = boilerplate_left(pages, running, text.markdown, sample.contents)
    marks = outline(path)
    result: dict[str, Any] = {
        "pages": text.pages,
        "pages_per_second": round(text.pages / seconds, 1),
        "words": expected.total(),
        "words_kept": round(kept, 4),
        "words_added": round((words(text.markdown) - expected).total() / max(1, expected.total()), 4),
        "running_lines": lines,
        "running_left": round(left / max(1, lines), 4),
        "bookmarks": len(marks),
        "missing": (expected - words(text.markdown)).most_common(12),
    }
    if marks:
        result["with_bookmarks"] = headings_found(marks, our_headings(text.markdown))
        result["without_bookmarks"] = headings_found(marks, our_headings(read_pdf(path, use_bookmarks=False).markdown))
    return result


def boilerplate_left(
    pages: list[list[str]], running: list[list[str]], markdown: str, contents: tuple[int, int]
) -> tuple[int, int]:
    """(running lines that our text of their page has oftener than the page's own text, running lines)."""
    ours = our_pages(markdown)
    left = count = 0
    for number, (lines, extra) in enumerate(zip(pages, running, strict=True), start=1):
        if contents[0] <= number <= contents[1]:
            continue
        said = [normal(line) for line in ours.get(number, "").split("\n")]
        own = [normal(line) for line in lines if line not in extra]
        for line in extra:
            wanted = normal(line)
            if not wanted:
                continue
            count += 1
            left += sum(wanted == one for one in said) > sum(wanted == one for one in own)
    return left, count


def headings_found(marks: list[tuple[str, int, int]], ours: list[tuple[str, int, int]]) -> dict[str, Any]:
    """Shares of the bookmarks that are a heading of ours, on the right page, of the right relative level."""
    free = [(bare(title), level, page) for title, level, page in ours]
    found = right = nested = 0
    stack: list[tuple[int, int]] = []
    missed = []
    top = min(level for _title, level, _page in marks)
    for title, level, page in marks:
        wanted = bare(title)
        fits = [item for item in free if item[0] & wanted]
        if not fits:
            missed.append((title, page))
            continue
        best = min(fits, key=lambda item: abs(item[2] - page))
        free.remove(best)
        found += 1
        right += best[2] == page
        while stack and stack[-1][0] >= level:
            stack.pop()
        # Deeper than four levels there is no heading in our Markdown.
        nested += level - top >= 4 or not stack or best[1] > stack[-1][1] or best[1] == 4
        stack.append((level, best[1]))
    count = len(marks)
    return {
        "found": round(found / count, 4),
        "right_page": round(right / count, 4),
        "nested": round(nested / max(1, found), 4),
        "ours": len(ours),
        "more_than_bookmarks": round(len(free) / max(1, len(ours)), 4),
        "missed": missed[:12],
    }


def measure(folder: Path, *, only: str = "") -> dict[str, Any]:
    results = {}
    for sample in SAMPLES:
        path = folder / sample.name
        if (only and only not in sample.name) or not path.exists():
            continue
        results[sample.name] = compare(sample, path)
    rows = []
    for name, result in results.items():
        marked, unmarked = result.get("with_bookmarks"), result.get("without_bookmarks")
        rows.append(
            [
                name,
                result["pages"],
                percent(result["words_kept"]),
                f"{percent(result['running_left'])} of {result['running_lines']}",
                result["bookmarks"] or "–",
                *([percent(marked[key]) for key in ("found", "right_page")] if marked else ["–", "–"]),
                *([percent(unmarked[key]) for key in ("found", "right_page", "nested")] if unmarked else ["–", "–", "–"]),
                result["pages_per_second"],
            ]
        )
    table(
        [
            "PDF",
            "pages",
            "words kept",
            "running lines left",
            "bookmarks",
            "found",
            "right page",
            "found without using them",
            "right page",
            "nested right",
            "pages/s",
        ],
        rows,
    )
    say(f"\nPeak memory of the reading process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")
    return results


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__)
    parser.add_argument("--pdfs", type=Path, metavar="FOLDER", help="where the PDFs lie already")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if not shutil.which("pdftotext"):
        parser.error("pdftotext is missing: install poppler-utils")
    with tempfile.TemporaryDirectory(prefix="marcelcms-fidelity-") as name:
        folder = arguments.pdfs or Path(name)
        if not arguments.pdfs:
            fetch(folder)
        results = measure(folder, only=arguments.only)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

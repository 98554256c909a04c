"""Measures what the import keeps of real PDFs: words, pages, headings; running lines left; pages a second.

`python -m benchmarks.fidelity_pdf FOLDER [--fetch] [--only NAME] [--json FILE]` measures every PDF in FOLDER; with
`--fetch` it first downloads those of Debian's documentation packages into it. What to compare with is PDFium's
reading (`pdfium_reference`), which shares no code with the product's.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import say, table
from benchmarks.pdf_headings import bare, normal, our_headings, share_found
from benchmarks.pdfium_reference import Reference, words
from knowledge.chunking.page_markers import MARKER
from knowledge.ingest.pdf.reader import read_pdf
from knowledge.ingest.pdf.types import BadPdf

#: Package and path: manuals in English and German, made by several tools and layouts.
PDFS = (
    ("bash-doc", "usr/share/doc/bash/bashref.pdf"),
    ("debian-faq-de", "usr/share/doc/debian/FAQ/debian-faq.de.pdf.gz"),
    ("debian-history", "usr/share/doc/debian-history/docs/project-history.de.pdf"),
    ("debian-policy", "usr/share/doc/debian-policy/fhs/fhs-3.0.pdf.gz"),
    ("debian-policy", "usr/share/doc/debian-policy/policy.pdf.gz"),
    ("developers-reference", "usr/share/developers-reference/developers-reference.pdf"),
    ("gnuplot-doc", "usr/share/doc/gnuplot/gnuplot.pdf"),
    ("installation-guide-amd64", "usr/share/doc/installation-guide-amd64/de/install.de.pdf.gz"),
    ("latex2rtf-doc", "usr/share/doc/latex2rtf-doc/latex2rtf.pdf.gz"),
    ("maint-guide", "usr/share/doc/maint-guide/maint-guide.en.pdf"),
    ("python-reportlab-doc", "usr/share/doc/python-reportlab-doc/reportlab-userguide.pdf"),
    ("r-doc-pdf", "usr/share/R/doc/manual/R-intro.pdf"),
)


def fetch(folder: Path) -> None:
    """Download the packages, without installing them, and lay their PDFs into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="marcelcms-fidelity-") as name:
        place = Path(name)
        place.chmod(0o777)  # apt-get downloads as a user of its own
        packages = sorted({package for package, _path in PDFS})
        subprocess.run(["apt-get", "download", *packages], cwd=place, check=True, stdout=subprocess.DEVNULL)
        for package in place.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, place / package.name.partition("_")[0]], check=True)
        for package_name, path in PDFS:
            source = place / package_name / path
            raw = source.read_bytes()
            (folder / source.name.removesuffix(".gz")).write_bytes(
                gzip.decompress(raw) if source.suffix == ".gz" else raw
            )


def compare(path: Path) -> dict[str, Any]:
    """Read a PDF's text. Raise BadPdf."""
    started = time.perf_counter()
    text = read_pdf(path)
    seconds = time.perf_counter() - started
    reference = Reference.of(path)
    ours = our_pages(text.markdown)
    expected, said = reference.words(), words("\n".join(ours.values()))
    placed = sum((own & words(ours.get(page, ""))).total() for page, own in reference.words_by_page())
    result: dict[str, Any] = {
        "pages": text.pages,
        "pages_per_second": round(text.pages / seconds, 1),
        "words": expected.total(),
        "words_kept": share((expected & said).total(), expected.total()),
        "words_on_their_page": share(placed, (expected & said).total()),
        "words_added": share((said - expected).total(), expected.total()),
        "contents_pages": sorted(reference.contents),
        "running_words": sum(words(line).total() for lines in reference.running for line in lines),
        "running_left": running_left(reference, ours),
        "bookmarks": len(reference.bookmarks),
        "missing": (expected - said).most_common(12),
    }
    if reference.bookmarks:
        result["headings"] = share_found(reference.bookmarks, our_headings(text.markdown))
        blind = read_pdf(path, use_bookmarks=False).markdown
        result["headings_without_bookmarks"] = share_found(reference.bookmarks, our_headings(blind))
    return result


def our_pages(markdown: str) -> dict[int, str]:
    pieces = MARKER.split(markdown)
    pages: dict[int, str] = {}
    for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
        pages[int(number)] = pages.get(int(number), "") + text
    return pages


def running_left(reference: Reference, ours: Mapping[int, str]) -> float:
    """Return the share of the running lines' words that stand in our text of their page, as a line of their own."""
    left = count = 0
    for page, (lines, running) in enumerate(zip(reference.lines, reference.running, strict=True), start=1):
        if page in reference.contents:
            continue
        said = [normal(line) for line in ours.get(page, "").split("\n")]
        headings = [name for line in ours.get(page, "").split("\n") if line.startswith("#") for name in bare(line)]
        own = [normal(line) for line in lines if line not in running]
        for line in running:
            wanted, weight = normal(line), words(line).total()
            if weight:
                count += weight
                left += weight * (said.count(wanted) - headings.count(wanted) > own.count(wanted))
    return share(left, count)


def share(part: int, whole: int) -> float:
    return round(part / max(1, whole), 4)


def measure(paths: Sequence[Path]) -> dict[str, Any]:
    results: dict[str, Any] = {}
    rows = []
    for path in paths:
        try:
            result = results[path.name] = compare(path)
        except BadPdf as bad:
            say(str(bad))
            continue
        marked, blind = result.get("headings"), result.get("headings_without_bookmarks")
        rows.append(
            [
                path.stem,
                result["pages"],
                percent(result["words_kept"]),
                percent(result["words_on_their_page"]),
                f"{percent(result['running_left'])} of {result['running_words']}" if result["running_words"] else "–",
                result["bookmarks"] or "–",
                *(percent(found[key]) if found else "–" for found in (marked, blind) for key in KEYS),
                result["pages_per_second"],
            ]
        )
    say()
    table(HEAD, rows)
    return results


def measure_folder(folder: Path | None, *, only: str = "") -> dict[str, Any]:
    """Every PDF in it; says what to do where there are none."""
    paths = sorted(path for path in folder.glob("*.pdf") if only in path.name) if folder else []
    if not paths:
        say(
            f"No PDFs in {folder}: put some there, or have Debian's manuals downloaded with "
            "`python -m benchmarks.fidelity_pdf FOLDER --fetch`."
            if folder
            else "Skipped: it needs --pdfs FOLDER; `python -m benchmarks.fidelity_pdf FOLDER --fetch` downloads some."
        )
        return {}
    return measure(paths)


KEYS = ("found", "right_level", "right_page")
HEAD = [
    "PDF",
    "pages",
    "words kept",
    "on their page",
    "running words left",
    "bookmarks",
    "found",
    "level",
    "page",
    "found without them",
    "level",
    "page",
    "pages/s",
]


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity_pdf", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the PDFs lie")
    parser.add_argument("--fetch", action="store_true", help="download Debian's manuals into it first (apt-get)")
    parser.add_argument("--only", default="", metavar="NAME", help="PDFs with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write every figure")
    arguments = parser.parse_args()
    if arguments.fetch:
        fetch(arguments.folder)
    results = measure_folder(arguments.folder, only=arguments.only)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())

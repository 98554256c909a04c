"""Measures what the import keeps of real HTML pages: content's words kept, boilerplate's left; pages a second.

`python -m benchmarks.fidelity_html [--folder FOLDER] [--pages N] [--json FILE]`. The pages are those of Debian's
documentation packages; without --folder they are fetched with `apt-get download` into a temporary folder. What is
content is said by hand for each package, as CSS selectors of its own generator; html.parser reads both, so that no
code under test has a part in the reference. Next to it stand trafilatura and markdownify over the whole page.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import trafilatura
from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from markdownify import MarkdownConverter

from benchmarks.measuring import say, table
from knowledge.ingest.html import UnreadablePage, read_html

WORD = re.compile(r"[^\W_]+")
#: What Markdown adds: a link's number, a list's.
ADDED = re.compile(r"(?<=\])\[\d+\]|^ *\d+\. ", re.MULTILINE)
#: Nobody reads these: neither content nor boilerplate.
UNSEEN = ("script", "style", "template", "noscript", "title")


@dataclass(frozen=True, slots=True)
class Sample:
    """Pages of a package; `content` holds what they say, `apart` what inside it only leads elsewhere."""

    package: str
    pages: str
    content: str
    apart: str = ""
    left_out: str = r"(?:index|genindex|search|contents|bookindex).*\.html"


SPHINX = ".headerlink, .contents.local, nav.contents"
#: Lists of links alone, which Apache lays out without the container.
APACHE_LISTS = r"(?:index|directives|quickreference|sitemap).*\.html"
APACHE = ".toplang, .bottomlang, #quickview, .top, #comments_section, .lang-toggle"
SAMPLES = (
    Sample("debian-policy", "usr/share/doc/debian-policy/policy.html/*.html", "div.body", SPHINX),
    Sample("developers-reference", "usr/share/developers-reference/*.html", "div.body", SPHINX),
    Sample("python3.11-doc", "usr/share/doc/python3.11/html/[lthr]*/*.html", "div.body", SPHINX),
    Sample("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/*.html", "body", ".navheader, .navfooter"),
    Sample(
        "apache2-doc (en)",
        "usr/share/doc/apache2-doc/manual/en/**/*.html",
        "#page-content",
        APACHE,
        APACHE_LISTS,
    ),
    Sample(
        "apache2-doc (de)",
        "usr/share/doc/apache2-doc/manual/de/**/*.html",
        "#page-content",
        APACHE,
        APACHE_LISTS,
    ),
    Sample("git-doc", "usr/share/doc/git-doc/git-*.html", "#header, #content", "#toc"),
    Sample("debian-faq-de", "usr/share/doc/debian/FAQ/de/*.html", "body", ".navheader, .docnav, .navfooter, .toc"),
    Sample(
        "debian-handbook (de)", "usr/share/doc/debian-handbook/html/de-DE/*.html", "body", "#banner, #title, .docnav"
    ),
)


@dataclass(frozen=True, slots=True)
class Score:
    """Over all pages of a sample: words of the content, words of the boilerplate, and what a reader made of them."""

    content: int = 0
    kept: int = 0
    boilerplate: int = 0
    left: int = 0
    seconds: float = 0.0
    failed: int = 0


def words(text: str) -> Counter[str]:
    return Counter(word.casefold() for word in WORD.findall(text))


def reference(body: bytes, sample: Sample) -> tuple[Counter[str], Counter[str]]:
    """Return (the content's words, the boilerplate's), both by the selectors."""
    soup = BeautifulSoup(body, "html.parser")
    for element in soup(UNSEEN):
        element.decompose()
    whole = words(soup.body.get_text(" ") if soup.body else "")
    for element in soup.select(sample.apart) if sample.apart else ():
        element.extract()
    content = sum((words(element.get_text(" ")) for element in soup.select(sample.content)), Counter())
    return content, whole - content


def ours(body: bytes, url: str) -> str:
    return ADDED.sub("", read_html(body, url=url).markdown).replace("\\", "")


def by_trafilatura(body: bytes, url: str) -> str:
    return trafilatura.extract(body, url=url, output_format="txt", include_tables=True, include_comments=False) or ""


def by_markdownify(body: bytes, _url: str) -> str:
    soup = BeautifulSoup(body, "lxml")
    for element in soup(UNSEEN):
        element.decompose()
    return ADDED.sub("", str(MarkdownConverter(strip=["a"], escape_underscores=False).convert_soup(soup)))


READERS: dict[str, Callable[[bytes, str], str]] = {
    "ours": ours,
    "trafilatura": by_trafilatura,
    "markdownify": by_markdownify,
}


def score(pages: list[Path], sample: Sample, read: Callable[[bytes, str], str], *, verbose: bool = False) -> Score:
    content = kept = boilerplate = left = failed = 0
    seconds = 0.0
    for page in pages:
        body = page.read_bytes()
        told, rest = reference(body, sample)
        start = time.perf_counter()
        try:
            got = words(read(body, f"https://docs.example/{page.name}"))
        except (UnreadablePage, RecursionError):
            failed, got = failed + 1, Counter()
        seconds += time.perf_counter() - start
        found, wrong = (told & got).total(), ((got - told) & rest).total()
        content, kept = content + told.total(), kept + found
        boilerplate, left = boilerplate + rest.total(), left + wrong
        if verbose and (found < 0.97 * told.total() or wrong > 0.03 * rest.total()):
            missing, extra = told - got, (got - told) & rest
            say(
                f"{page.name}: {found}/{told.total()} kept, lost {' '.join(list(missing)[:12])}; left {dict(extra)}"[
                    :400
                ]
            )
    return Score(content, kept, boilerplate, left, seconds, failed)


def fetch(folder: Path) -> None:
    """Download the packages and lay their files into `folder`."""
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise SystemExit(f"There is no {tool} here. Unpack Debian's packages elsewhere and give their --folder.")
    packages = sorted({sample.package.split()[0] for sample in SAMPLES})
    fetched = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, text=True)
    archives = sorted(folder.glob("*.deb"))
    if fetched.returncode and not archives:
        raise SystemExit(
            "The packages cannot be downloaded (apt-get update, a Debian 12 mirror?); or unpack them yourself "
            f"with `dpkg -x PACKAGE.deb FOLDER` and give --folder FOLDER.\n{fetched.stderr.strip()}"
        )
    for archive in archives:
        subprocess.run(["dpkg", "-x", archive.name, "."], cwd=folder, check=True)


def pages_of(sample: Sample, folder: Path, count: int) -> list[Path]:
    """`count` of them, evenly over the alphabet."""
    left_out = re.compile(sample.left_out)
    pages = [page for page in sorted(folder.glob(sample.pages)) if not left_out.fullmatch(page.name)]
    return pages[:: max(1, len(pages) // count)][:count]


def measure(folder: Path, *, count: int, verbose: bool = False) -> dict[str, dict[str, object]]:
    results: dict[str, dict[str, object]] = {}
    rows = []
    for sample in SAMPLES:
        pages = pages_of(sample, folder, count)
        if not pages:
            say(f"{sample.package}: no pages in {folder}; `apt-get download {sample.package.split()[0]}`, `dpkg -x`")
            continue
        scores = {
            name: score(pages, sample, read, verbose=verbose and name == "ours") for name, read in READERS.items()
        }
        results[sample.package] = {"pages": len(pages), **{name: asdict(got) for name, got in scores.items()}}
        rows.append((sample.package, len(pages), f"{scores['ours'].content:,}", *map(shares, scores.values())))
    if not results:
        raise SystemExit(f"There are no pages in {folder}. Without --folder the packages are downloaded (Debian 12).")
    say()
    table(("package", "pages", "words", *(f"{name}: kept / left" for name in READERS)), rows)
    total = {name: [row[name] for row in results.values()] for name in READERS}
    pages_read = sum(int(str(row["pages"])) for row in results.values())
    for name, scores_of in total.items():
        say(f"{name}: {pages_read / sum(part['seconds'] for part in scores_of):.0f} pages/s")  # type: ignore[index]
    return results


def shares(got: Score) -> str:
    left = f"{100 * got.left / got.boilerplate:.1f}" if got.boilerplate else "-"
    return f"{100 * got.kept / got.content:.1f} % / {left} %" + (f" ({got.failed} failed)" if got.failed else "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity_html", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the packages are unpacked already")
    parser.add_argument("--pages", type=int, default=40, help="of each package (default: 40)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="name the pages that lose words or keep boilerplate")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not arguments.folder:
            fetch(folder)
        results = measure(folder, count=arguments.pages, verbose=arguments.verbose)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Public pages that many hands wrote over years, for `contradictions_real`: from clones of repositories, as Markdown.

The texts are not ours and stay out of the repository; the table says which commit of which repository was read:
`git clone https://github.com/NAME` in the folder of `--data`, then `git checkout COMMIT`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contradictions import Page
from knowledge.chunking.plain_text import make_plain

FRONT_MATTER = re.compile(r"\A\s*---\n(?P<fields>.*?)\n---\s*\n", re.DOTALL)
FIELD = re.compile(r"^title:\s*[\"']?(?P<title>.*?)[\"']?\s*$", re.MULTILINE)
META = re.compile(r"^\[\[!meta title=\"(?P<title>.*?)\"\]\]\s*$", re.MULTILINE)
HEADING = re.compile(r"^#\s+(?P<text>.+?)\s*#*$", re.MULTILINE)
#: Comments, commands of templates, marks of a content management system.
HIDDEN = re.compile(
    r"<!--.*?-->|\{%\s*capture.*?endcapture\s*%\}|\{%.*?%\}|\{\{.*?\}\}|\{:.*?\}"
    r"|Start nav-mobile End nav-mobile|TYPO3SEARCH_(?:begin|end)",
    re.DOTALL,
)
#: A box or a tab of MkDocs, whose lines are indented.
BOX = re.compile(r"^(?P<indent>\s*)(?:!!!|\?\?\?\+?|===\+?)\s*(?P<kind>[\w-]*)\s*(?:\"(?P<title>.*?)\")?\s*$")
#: Pages of a crawl, many in one file.
CRAWLED = re.compile(r"^---\nurl: (?P<url>\S+)\n(?P<fields>.*?)\n---\n", re.MULTILINE | re.DOTALL)
SHORTEST = 200


@dataclass(frozen=True, slots=True)
class Repository:
    """Files of a repository's `folder` at a commit, as patterns; `built_on` says that the rules were
    made with them."""

    name: str
    commit: str
    folder: str
    files: tuple[str, ...]
    language: str
    built_on: bool

    @property
    def short(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.partition("/")[2].lower())


REPOSITORIES = (
    # A computing centre of Finnish universities.
    Repository(
        "CSCfi/csc-user-guide",
        "dff081f239e21c4fd7492998e9ceb3ece63dd632",
        "docs",
        ("accounts/**/*.md", "computing/**/*.md", "data/**/*.md", "support/faq/*.md"),
        "en",
        True,
    ),
    # The university library of Mannheim.
    Repository(
        "tsmdt/UBi", "7d32d52b6a346fcb13432abc777eac4059567e64", "data/markdown", ("*.md",), "de", built_on=True
    ),
    # Statutes and rules of the students of Bonn, of 38 student councils among others.
    Repository("HSZemi/vs-bonn", "a961ecbb554bcd122bd1a9e543b23fa55067d5df", "md", ("**/*.md",), "de", built_on=True),
    # Degree programmes of a university of applied sciences in Cologne.
    Repository(
        "th-koeln/medieninformatik-5.0", "9168ec1f4d59096b8e2cf0bbff74946791e70b6d", "src", ("**/*.md",), "de", True
    ),
    # A computing centre of Uppsala.
    Repository(
        "UPPMAX/UPPMAX-documentation",
        "26d4db11881715dcbb1c1dfb1b8dcdef507f6815",
        "docs",
        ("[!s]*/**/*.md", "storage/*.md", "staff/*.md", "*.md"),
        "en",
        built_on=True,
    ),
    # Students of Berkeley who run computers for students.
    Repository(
        "ocf/ocfweb",
        "17d8aac7de4157ca28a03fa84e75e07832c4d01d",
        "ocfweb/docs/docs",
        ("**/*.md",),
        "en",
        built_on=True,
    ),
    # A computing centre of Wisconsin.
    Repository(
        "CHTC/chtc-website-source",
        "0353ce807cabaeafabddf6926f299039c74c5dc8",
        "_uw-research-computing",
        ("**/*.md",),
        "en",
        built_on=True,
    ),
    # The website of the university of Bamberg: the pages on studying, on the university and on its computer science.
    Repository(
        "sxxs/misc-public",
        "4ed0cb57ff00b79b61386323e565681ad9948f0a",
        "uni-bamberg-mockup/crawler/extracted/clusters",
        (
            "studium.md",
            "universitaet.md",
            "international.md",
            "infos-speziell-fuer.md",
            "wiai-[cfgnp]*.md",
            "wiai-studium.md",
            "[bm]a-[aci]*i*.md",
            "[bm]a-[isw]*.md",
        ),
        "de",
        built_on=True,
    ),
    # A computing centre of Luxembourg, without its list of programs.
    Repository(
        "ULHPC/ulhpc-docs",
        "5d0f9a2be1fdeed52c06a4d93c08219e7a616ac4",
        "docs",
        ("[!s]*/**/*.md", "services/**/*.md", "slurm/**/*.md", "systems/**/*.md", "*.md"),
        "en",
        built_on=False,
    ),
    # A computing centre of London.
    Repository(
        "ImperialCollegeLondon/icl-rcs-user-guide",
        "7b827e71574e7fadcf06ec5603346d4846a19210",
        "docs",
        ("**/*.md",),
        "en",
        built_on=False,
    ),
    # Other pages of the website of Bamberg.
    Repository(
        "sxxs/misc-public",
        "4ed0cb57ff00b79b61386323e565681ad9948f0a",
        "uni-bamberg-mockup/crawler/extracted/clusters",
        ("sonstiges-h-m.md", "diversity.md", "forschung.md", "kdwt.md", "transfer.md", "gbwiss.md"),
        "de",
        built_on=False,
    ),
)


def read_pages(data: Path, repository: Repository) -> Iterator[Page]:
    """Yield the pages of a repository's clone in `data`; those of a crawl once each."""
    root = data / repository.name.partition("/")[2] / repository.folder
    seen: set[str] = set()
    for path in sorted({path for pattern in repository.files for path in root.glob(pattern)}):
        text = path.read_text("utf-8", errors="replace")
        name = path.relative_to(root).with_suffix("").as_posix()
        crawled = list(CRAWLED.finditer(text))
        if not crawled:
            yield from _page(repository, name, text)
            continue
        ends = [*(match.start() for match in crawled[1:]), len(text)]
        for match, end in zip(crawled, ends, strict=True):
            if match["url"] not in seen:
                seen.add(match["url"])
                named = f"---\n{match['fields']}\n---\n{text[match.end() : end]}"
                yield from _page(repository, match["url"].partition("://")[2], named)


def _page(repository: Repository, name: str, text: str) -> Iterator[Page]:
    front = FRONT_MATTER.match(text)
    body = text[front.end() :] if front else text
    titles = [FIELD.search(front["fields"]) if front else None, META.search(body)]
    body = _flatten_boxes(HIDDEN.sub("", META.sub("", body)))
    heading = HEADING.search(body)
    title = next((match["title"] for match in titles if match and match["title"]), heading["text"] if heading else name)
    if len(body) >= SHORTEST:
        language = "en" if "/en/" in name else repository.language
        yield Page(name, repository.short, make_plain(title), language, body)


def _flatten_boxes(text: str) -> str:
    """Return Markdown with the lines of boxes and tabs as plain ones, each box with its title as a paragraph."""
    found: list[str] = []
    indents: list[int] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        while line.strip() and indents and depth <= indents[-1]:
            indents.pop()
        if match := BOX.match(line):
            indents.append(len(match["indent"]))
            found += ["", match["title"] or "", ""]
        else:
            found.append(line[min(4 * len(indents), depth) :])
    return "\n".join(found)

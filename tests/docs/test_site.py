"""The documentation builds without a warning, asks nothing of others, and says what the code does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from docs.generate import commands, variables
from docs.generate.descriptions import SECTIONS
from docs.hooks import PAGES
from tests.runtime.processes import ROOT, bare_environment

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
SERVERS = {
    "SECRET_KEY": "none",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}
#: Where a page could load something from: other addresses are links, which load nothing before they are followed.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*?\bsrc=["']?(https?:)?//|"""
    r"""<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*?\bhref=["']?(https?:)?//"""
)
IN_STYLES = re.compile(r"""(?:@import\s+|url\()\s*["']?(?:https?:)?//""")
#: What readers are told to type.
COMMAND = re.compile(r"manage\.py ([a-z_]+)")
TARGET = re.compile(r"(?:`|\$ |[A-Z_]+=\S+ )make ([a-z-]+)")

GUIDES = [("staff-guide.md", "“([^”]+)”", "msgid"), ("staff-guide.de.md", "„([^“]+)“", "msgstr")]
DJANGOS = {"add", "add faq", "hinzufügen", "faq hinzufügen"}


def pages() -> list[Path]:
    own = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "decisions"]
    return [*own, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "README.md"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` does; a broken link, anchor or picture is a warning, and a warning ends it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=bare_environment(**SERVERS, STATE_DIR=str(folder)), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_is_built_with_every_page(site: Path) -> None:
    for page in [*PAGES, "index.md", "staff-guide.md", "staff-guide.de.md", "privacy.md", "threat-model.md"]:
        address = page.removesuffix("index.md").removesuffix(".md")
        assert (site / address / "index.html").is_file(), page


def test_reading_it_asks_nothing_of_others(site: Path) -> None:
    found = [path.name for path in site.rglob("*.html") if LOADED.search(path.read_text("utf-8"))]
    found += [path.name for path in site.rglob("*.css") if IN_STYLES.search(path.read_text("utf-8"))]
    assert found == []


def test_no_code_is_published(site: Path) -> None:
    assert not [*site.rglob("*.py"), *site.rglob("*.pyc")]


def test_every_variable_that_the_code_reads_is_described() -> None:
    described = {name for section in SECTIONS.values() for name in section}
    assert set(variables.read_variables()) == described, "see docs/generate/descriptions.py"


def test_every_variable_that_is_named_exists() -> None:
    known = set(variables.read_variables())
    for page in pages():
        for name in re.findall(r"^ {0,8}([A-Z][A-Z_]{3,})=", page.read_text("utf-8"), re.MULTILINE):
            assert name.removesuffix("_FILE") in known | {"OMP_NUM_THREADS"}, f"{page.name}: {name}"


def test_every_command_that_is_named_exists() -> None:
    known = set(get_commands()) | {"import_docx"}  # an example that is left to the reader
    for page in pages():
        for name in COMMAND.findall(page.read_text("utf-8")):
            assert name in known, f"{page.name}: manage.py {name}"


def test_every_target_of_make_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in pages():
        for name in TARGET.findall(page.read_text("utf-8")):
            assert name in targets, f"{page.name}: make {name}"


def test_every_command_has_its_section() -> None:
    text = commands.page()
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == commands.names()


def test_the_guide_for_staff_is_whole_in_german() -> None:
    english, german = ((DOCS / name).read_text("utf-8") for name in ("staff-guide.md", "staff-guide.de.md"))
    for what in (r"^(#+) ", r"^\d+\. ", r"^\| "):
        counts = [len(re.findall(what, text, re.MULTILINE)) for text in (english, german)]
        assert counts[0] == counts[1], what
    pictures = [re.findall(r"\(screenshots/([a-z-]+?)(?:-(?:en|de))?\.png\)", text) for text in (english, german)]
    assert pictures[0] == pictures[1]
    assert "-en.png" not in german


@pytest.mark.parametrize(("guide", "quoted", "side"), GUIDES)
def test_what_the_guides_for_staff_quote_stands_on_a_screen(guide: str, quoted: str, side: str) -> None:
    """Texts of ours are in the catalogue; what Django says itself is listed here."""
    catalogue = (ROOT / "locale" / "de" / "LC_MESSAGES" / "django.po").read_text("utf-8")
    entries = re.findall(rf'^{side}(?:\[0\])? ((?:"[^\n]*"\n)+)', catalogue, re.MULTILINE)
    known = {"".join(re.findall(r'"(.*)"', entry)).casefold() for entry in entries} | DJANGOS
    for label in re.findall(quoted, (DOCS / guide).read_text("utf-8")):
        assert " ".join(label.split()).rstrip(",").casefold() in known, label


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    shown = {name for page in pages() for name in re.findall(r"screenshots/([\w-]+\.png)", page.read_text("utf-8"))}
    assert shown == {path.name for path in (DOCS / "screenshots").glob("*.png")}

"""The built editor is what its source builds to, of a modest size, and its unit tests pass."""

import gzip
import json
import re
from pathlib import Path

import pytest

from core.admin.markdown_widget import list_words
from tests.runtime.processes import ROOT
from tests.widget.toolchain import run, with_packages

EDITOR = ROOT / "core" / "editor"
BUILT = ROOT / "core" / "static" / "core" / "editor" / "editor.js"
MOST_BYTES = 140_000


@pytest.fixture(scope="module")
def packages() -> dict[str, str]:
    """Return the environment to run Node in, with the editor's packages installed."""
    return with_packages(EDITOR)


@pytest.mark.slow
def test_the_built_file_is_what_the_source_builds_to(packages: dict[str, str], tmp_path: Path) -> None:
    done = run(packages, "node", "build.mjs", str(tmp_path / "editor.js"), folder=EDITOR)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "editor.js").read_bytes() == BUILT.read_bytes(), "run `node build.mjs` in core/editor"


def test_the_built_file_is_modest_and_names_the_licences() -> None:
    built = BUILT.read_bytes()
    assert len(gzip.compress(built, 9)) < MOST_BYTES
    head = built[:1500].decode()
    assert all(name in head for name in ("prosemirror-view", "markdown-it", "entities", "MIT", "BSD-2-Clause"))


def test_the_built_file_evaluates_nothing() -> None:
    built = BUILT.read_text("utf-8")
    assert not re.search(r"\beval\(|new Function\b|\bimport\(", built)


def test_it_adds_no_style_sheets_of_its_own() -> None:
    built = BUILT.read_text()
    assert not re.search(r"""createElement\(["']style|adoptedStyleSheets|insertRule""", built)


def test_the_types_are_right(packages: dict[str, str]) -> None:
    done = run(packages, "node", "node_modules/typescript/bin/tsc", "--noEmit", folder=EDITOR)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_units_work(packages: dict[str, str]) -> None:
    done = run(packages, "node", "test.mjs", folder=EDITOR)
    assert done.returncode == 0, done.stdout


def test_the_script_and_the_server_know_the_same_words() -> None:
    source = (EDITOR / "src" / "words.ts").read_text()
    names = re.findall(r'"(\w+)"', source[source.index("[") : source.index("]")])
    assert sorted(names) == sorted(list_words())


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((EDITOR / "package-lock.json").read_text())
    assert all("resolved" not in package for package in lock["packages"].values())

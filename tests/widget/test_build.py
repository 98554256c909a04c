"""The built widget is what its source builds to, small, and its unit tests pass."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.chat.data_sets import FOLDER
from tests.widget.toolchain import BUILT, WIDGET, run

MOST_BYTES = 62_000


@pytest.mark.slow
def test_the_built_file_is_what_the_source_builds_to(packages: dict[str, str], tmp_path: Path) -> None:
    done = run(packages, "node", "build.mjs", str(tmp_path / "v1.js"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "v1.js").read_bytes() == BUILT.read_bytes(), "run `node build.mjs` in chat/widget"


def test_the_built_file_is_small_and_names_the_licences() -> None:
    built = BUILT.read_bytes()
    assert len(gzip.compress(built, 9)) <= MOST_BYTES
    head = built[:1000].decode()
    assert "marked" in head


def test_the_built_file_reads_in_any_encoding_and_evaluates_nothing() -> None:
    built = BUILT.read_bytes()
    assert built.isascii()
    assert not re.search(rb"\beval\(|new Function\b|\bimport\(", built)


@pytest.mark.slow
def test_the_types_are_right(packages: dict[str, str]) -> None:
    done = run(packages, "node", "node_modules/typescript/bin/tsc", "--noEmit")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_units_work(packages: dict[str, str]) -> None:
    folder = FOLDER / "security"
    done = run(packages, "node", "test.mjs", XSS_PAYLOADS=str(folder) if folder.is_dir() else "")
    assert done.returncode == 0, done.stdout


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((WIDGET / "package-lock.json").read_text())
    assert all("resolved" not in package for package in lock["packages"].values())

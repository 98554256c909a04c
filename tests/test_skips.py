"""A check that a machine skips is no check: only what is marked as an extra may skip itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.processes import ROOT

SKIPPING = """
import pytest

@pytest.mark.skipif(True, reason="no data")
def test_by_a_condition(): ...

def test_by_itself():
    pytest.skip("no program")

@pytest.fixture
def program():
    pytest.skip("no program")

def test_by_a_fixture(program): ...

def test_that_runs(): ...

@pytest.mark.xfail
def test_that_is_known_to_fail():
    assert False

@pytest.mark.slow
@pytest.mark.skipif(True, reason="no data")
def test_of_an_extra(): ...
"""
WHOLE = 'import pytest\npytest.importorskip("a_module_that_there_is_not")\n'


def outcome(folder: Path, text: str) -> str:
    """Return what pytest says at the end of a file of such tests."""
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.skips", "-p", "no:django", "-p", "no:cacheprovider", "-rA"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    return done.stdout


@pytest.mark.slow
def test_a_skipped_test_fails_unless_it_is_an_extra(tmp_path: Path) -> None:
    said = outcome(tmp_path, SKIPPING)
    for line in ("ERROR {}::test_by_a_condition", "ERROR {}::test_by_a_fixture", "FAILED {}::test_by_itself"):
        assert line.format("test_it.py") in said
    assert "no test may skip itself" in said
    assert "no program" in said
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed, 2 errors" in said


@pytest.mark.slow
def test_a_module_that_skips_itself_is_an_error(tmp_path: Path) -> None:
    said = outcome(tmp_path, WHOLE)
    assert "no test may skip itself" in said
    assert "1 error" in said

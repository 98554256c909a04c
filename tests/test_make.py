"""`make help` says what each target does."""

import os
import re
import subprocess

from tests.runtime.processes import ROOT

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_help_lists_every_target_with_its_text_in_one_column() -> None:
    # Under `make test` the make around this one would have it say which folder it enters.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make", "help"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line]
    rows = [re.fullmatch(r"make ([a-z-]+)( +)(\S.*)", line) for line in lines]
    assert all(rows), lines
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    assert [row[1] for row in rows if row] == targets
    assert len({row.start(3) for row in rows if row}) == 1


def test_make_alone_runs_everything() -> None:
    assert re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)[0] == "run"

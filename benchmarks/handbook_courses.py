"""Counts the courses that would be proposed from module handbooks, and draws some for a person to judge.

`python -m benchmarks.handbook_courses FOLDER [--only NAME] [--draw N] [--seed N] [--json FILE]` reads every PDF there.
pdftotext (poppler-utils) is needed: a handbook has as many modules as its text has “Modulnummer” or “Module No”, or
else “Modultitel deutsch”. Whether name, code and credits are right is for a person to judge.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import django

from benchmarks.measuring import say, table
from knowledge.ingest.pdf.reader import read_pdf
from knowledge.ingest.pdf.types import Limits

NUMBERS, TITLES = re.compile(r"\bModulnummer\b|\bModule No\b"), re.compile(r"\bModultitel +deutsch")
#: No database is asked, so that there need not be one.
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "marcelcms.settings",
    "SECRET_KEY": "only for benchmarks",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
}
HEAD = ["PDF", "modules by pdftotext", "found", "proposed", "without code", "code twice", "other"]


def count(path: Path) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Read a handbook; return its figures, and the courses that would be proposed with the handbook's name."""
    from knowledge.courses.modules import read_modules  # needs Django set up

    text = read_pdf(path, limits=replace(Limits(), page_seconds=300, total_seconds=3_600))
    said = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    modules = read_modules(text.markdown, url="https://www.uni.example/handbook.pdf", language=text.language)
    bad = [module for module in modules if module.record is None]
    without = sum(not module.code for module in bad)
    twice = sum("the same code" in " ".join(module.problems) for module in bad)
    result = {
        "modules": len(NUMBERS.findall(said) or TITLES.findall(said)),
        "found": len(modules),
        "proposed": len(modules) - len(bad),
        "without_code": without,
        "code_twice": twice,
        "other": len(bad) - without - twice,
    }
    return result, [(path.stem, module) for module in modules if module.record]


def measure(paths: Sequence[Path], *, draw: int, seed: int) -> dict[str, Any]:
    results: dict[str, Any] = {}
    proposed: list[tuple[str, Any]] = []
    for path in paths:
        results[path.name], own = count(path)
        proposed += own
    table(HEAD, [[Path(name).stem, *result.values()] for name, result in results.items()])
    chosen = random.Random(seed).sample(proposed, min(draw, len(proposed)))
    for number, (name, module) in enumerate(chosen, start=1):
        record = module.record
        say(f"{number}: {name}, page {module.page}: {record.code} | {record.name} | {record.ects}")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.handbook_courses", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the PDFs lie")
    parser.add_argument("--only", default="", metavar="NAME", help="PDFs with this in their name")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="proposed courses to print")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="for drawing others")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write every figure")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.glob("*.pdf") if arguments.only in path.name)
    if not paths:
        say(f"No PDFs in {arguments.folder}.")
        return 1
    os.environ |= SETTINGS
    django.setup()
    results = measure(paths, draw=arguments.draw, seed=arguments.seed)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

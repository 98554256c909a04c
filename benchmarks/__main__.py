"""`python -m benchmarks [--quick] [--only NAME] [--sizes N,N] [--pdfs FOLDER] [--json FILE]`: tables, and JSON in FILE.

Everything runs on a PostgreSQL and a Valkey of its own in a temporary folder, which is removed at the end.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

from django.core.management import call_command

from benchmarks.environment import ROOT, private_services
from benchmarks.measuring import machine, say

NAMES = (
    "profiles",
    "answers",
    "plain_language",
    "questions",
    "retrieval",
    "concurrency",
    "faq_effect",
    "indexing",
    "fidelity_pdf",
    "injections",
    "help",
    "kinds",
    "words",
    "matching",
    "gaps",
    "topics",
    "outcomes",
    "promise",
    "experiments",
    "asked_again",
    "contradictions",
    "contradictions_real",
    "editions",
    "replay",
    "shadow",
    "exports",
    "usage",
    "year",
    "cases",
    "cold_start",
    "restore",
)

#: Those that ask the model of LLM_BASE_URL, when each is run alone.
WITH_MODEL = {"profiles", "answers", "plain_language"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and few repetitions")
    parser.add_argument("--only", choices=NAMES, help="one benchmark instead of all")
    parser.add_argument("--sizes", type=numbers, help="documents for `retrieval` and `restore`, such as 249,2490")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="unpacked documentation for `injections`")
    parser.add_argument("--pdfs", type=Path, metavar="FOLDER", help="PDFs for `fidelity_pdf`")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="data sets for all that reads them",
    )
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "out" / "results.json", metavar="FILE")
    arguments = parser.parse_args()
    results: dict[str, object] = {
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "quick": arguments.quick,
        "machine": machine(),
    }
    with private_services(keeps_model=arguments.only in WITH_MODEL) as folder:
        for name in (arguments.only,) if arguments.only else NAMES:
            say(f"\n== {name}\n")
            call_command("flush", verbosity=0, interactive=False)  # each begins with empty tables
            results[name] = run(name, folder, arguments)
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            arguments.json.write_text(json.dumps(results, indent=1) + "\n")  # also where a later one fails
    say(f"\nWritten to {arguments.json}")
    return 0


def run(name: str, folder: Path, arguments: argparse.Namespace) -> object:
    # The benchmarks import models, which need the settings that `private_services` makes.
    if name == "questions":
        from benchmarks import questions

        return questions.measure()
    if name == "profiles":
        from benchmarks import profiles

        return profiles.measure(folder, arguments.data)
    if name == "answers":
        from benchmarks import answers

        return answers.measure(arguments.data, quick=arguments.quick)
    if name == "plain_language":
        from benchmarks import plain_language

        return plain_language.measure(quick=arguments.quick)
    if name == "retrieval":
        from benchmarks import retrieval

        sizes = arguments.sizes or (retrieval.QUICK_SIZES if arguments.quick else retrieval.SIZES)
        return retrieval.measure(folder, sizes=sizes, quick=arguments.quick)
    if name == "concurrency":
        from benchmarks import concurrency

        return concurrency.measure(folder)
    if name == "faq_effect":
        from benchmarks import faq_effect

        return faq_effect.measure(folder, edits=5 if arguments.quick else 20)
    if name == "injections":
        from benchmarks import injections

        return injections.measure(arguments.data, arguments.pages)
    if name == "help":
        from benchmarks import help as cries

        return cries.measure(arguments.data)
    if name == "kinds":
        from benchmarks import kinds

        return kinds.measure(arguments.data)
    if name == "words":
        from benchmarks import words

        return words.measure(arguments.data)
    if name == "matching":
        from benchmarks import matching

        return matching.measure(arguments.data)
    if name == "gaps":
        from benchmarks import gaps

        return gaps.measure(arguments.data)
    if name == "topics":
        from benchmarks import topics

        return topics.measure(arguments.data)
    if name == "outcomes":
        from benchmarks import outcomes

        return outcomes.measure(arguments.data, quick=arguments.quick)
    if name == "experiments":
        from benchmarks import experiments

        return experiments.measure(arguments.quick)
    if name == "promise":
        from benchmarks import promise

        return promise.measure(arguments.data)
    if name == "asked_again":
        from benchmarks import asked_again

        return asked_again.measure()
    if name == "contradictions":
        from benchmarks import contradictions

        return contradictions.measure(folder, arguments.data, quick=arguments.quick)
    if name == "contradictions_real":
        from benchmarks import contradictions_real

        return contradictions_real.measure(arguments.data)
    if name == "editions":
        from benchmarks import editions

        return editions.measure()
    if name == "replay":
        from benchmarks import replay

        if arguments.quick:
            return replay.measure(answers=40, edits=400)
        return replay.measure(answers=500, edits=2_000)
    if name == "shadow":
        from benchmarks import shadow

        return shadow.measure(folder, quick=arguments.quick)
    if name == "usage":
        from benchmarks import usage

        return usage.measure(quick=arguments.quick)
    if name == "year":
        from benchmarks import year

        return year.measure(arguments.data, quick=arguments.quick)
    if name == "cases":
        from benchmarks import cases

        return cases.measure(quick=arguments.quick)
    if name == "restore":
        from benchmarks import restore

        return restore.measure(
            folder, sizes=arguments.sizes or (restore.QUICK_SIZES if arguments.quick else restore.SIZES)
        )
    if name == "cold_start":
        from benchmarks import cold_start

        return cold_start.measure(folder, starts=2 if arguments.quick else 5)
    if name == "exports":
        from benchmarks import exports

        return exports.measure(folder, quick=arguments.quick)
    if name == "fidelity_pdf":
        from benchmarks import fidelity_pdf

        return fidelity_pdf.measure_folder(arguments.pdfs)
    from benchmarks import indexing

    return indexing.measure(documents=200 if arguments.quick else 6_250)


def numbers(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))


if __name__ == "__main__":
    sys.exit(main())

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analytics.evaluation.comparing import compare
from analytics.evaluation.coverage import coverage_of
from analytics.evaluation.datasets import BadDataset, read_dataset
from analytics.evaluation.loading import load
from analytics.evaluation.reports import as_json, comparison_lines, coverage_lines, table_lines
from analytics.evaluation.runner import run
from analytics.models import EvaluationRun
from chat.profiles import UnknownProfile, get_profile
from knowledge.management.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Measures a retrieval profile on a data set: a folder with corpus.jsonl, queries.jsonl, qrels.tsv and perhaps "
        "faqs.json. It is loaded once into a collection of its own, which answers nobody."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--profile", default="default", metavar="NAME", help="(default: %(default)s)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the results, with every question, here")
        parser.add_argument(
            "--compare",
            nargs=2,
            metavar=("A", "B"),
            help="instead of one profile: which questions B does better or worse",
        )

    def handle(self, *, folder: Path, profile: str, **options: Any) -> None:
        names = options["compare"] or [profile]
        try:
            for name in names:
                get_profile(name)
            dataset = read_dataset(folder)
            with progress_bar("Indexing") as show:
                loaded = load(dataset, progress=show)
        except (UnknownProfile, BadDataset) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        runs = []
        for name in names:
            with progress_bar(name) as show:
                runs.append(run(EvaluationRun.objects.create(evaluation_set=loaded, profile=name), progress=show))
        if options["json"]:
            documents = [as_json(each) for each in runs]
            text = json.dumps(documents if options["compare"] else documents[0], ensure_ascii=False, indent=1)
            options["json"].write_text(text + "\n", encoding="utf-8")
        for line in table_lines(runs):
            self.stdout.write(line)
        if options["compare"]:
            for line in comparison_lines(compare(*runs)):
                self.stdout.write(line)
        for line in coverage_lines(coverage_of(loaded)):
            self.stdout.write(line)

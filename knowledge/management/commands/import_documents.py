from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management import check_collection, progress_bar
from knowledge.indexing.documents import sync_pending
from knowledge.ingest.importer import collection_for, import_records, read_jsonl


class Command(BaseCommand):
    help = (
        "Imports documents, one JSON object a line with url, title, and text or content (Markdown) or html, and "
        "indexes them. A bad line is reported and the rest is loaded; running it twice changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.jsonl")
        parser.add_argument("--collection", default="default", metavar="SLUG", help="where to put them (default)")

    def handle(self, *, file: Path, collection: str, **options: Any) -> None:
        check_collection(collection)
        try:
            report = import_records(read_jsonl(file), collection=collection_for(collection))
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        for line, reason in [*report.problems, *report.remarks]:
            self.stderr.write(f"{file.name}, line {line}: {reason}")
        with progress_bar("Indexing") as show:
            indexed = sync_pending(progress=show)
        self.stdout.write(
            f"{report.created} new, {report.changed} changed, {report.unchanged} unchanged, "
            f"{len(report.problems)} with problems; {indexed} indexed."
        )
        if report.problems and not (report.created or report.changed or report.unchanged):
            raise CommandError("Nothing was imported.")

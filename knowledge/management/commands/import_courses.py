from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management import check_collection, progress_bar
from knowledge.courses.reader import BadFile, read_courses
from knowledge.courses.sync import import_courses
from knowledge.indexing.documents import sync_pending
from knowledge.ingest.importer import collection_for


class Command(BaseCommand):
    help = (
        "Imports course records, a JSON list or a CSV table with code, name, url and more, and indexes them. A file "
        "with a mistake is not imported at all: every mistake is named first. Running it twice changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.json|FILE.csv")
        parser.add_argument("--collection", default="default", metavar="SLUG", help="where to put them (default)")

    def handle(self, *, file: Path, collection: str, **options: Any) -> None:
        check_collection(collection)
        try:
            read = read_courses(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except BadFile as error:
            raise CommandError(f"{file.name}: {error}. Nothing was imported.") from error
        for where, reason in read.problems:
            self.stderr.write(f"{file.name}, {where}: {reason}")
        if read.problems:
            count = f"{len(read.problems)} mistakes" if len(read.problems) > 1 else "a mistake"
            raise CommandError(f"Nothing was imported: {file.name} has {count}, see above.")
        for column in read.unknown:
            self.stderr.write(f'{file.name}: the column "{column}" is left out; no field of a course is called so.')
        report = import_courses(read.records, collection=collection_for(collection))
        with progress_bar("Indexing") as show:
            indexed = sync_pending(progress=show)
        self.stdout.write(
            f"{report.created} new, {report.changed} changed, {report.unchanged} unchanged; {indexed} indexed."
        )

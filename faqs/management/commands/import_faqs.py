from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management import progress_bar
from faqs.importexport.json import BadFile, import_faqs, read_faqs
from faqs.indexing import sync_pending


class Command(BaseCommand):
    help = (
        "Imports FAQs from a JSON list of {question, phrasings, sources (addresses of documents), category, id} and "
        "indexes them. An FAQ with an address that no document has is kept as a draft."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.json")

    def handle(self, *, file: Path, **options: Any) -> None:
        try:
            report = import_faqs(read_faqs(file))
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except BadFile as error:
            raise CommandError(f"{file} cannot be imported: {error}.") from error
        for name, reason in report.problems:
            self.stderr.write(f"{name}: {reason}")
        with progress_bar("Indexing FAQs") as show:
            indexed = sync_pending(progress=show)
        self.stdout.write(
            f"{report.created} new, {report.changed} changed, {report.unchanged} unchanged, "
            f"{report.drafts} kept as drafts; {indexed} indexed."
        )

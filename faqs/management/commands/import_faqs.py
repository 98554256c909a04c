from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.management import progress_bar
from faqs.answers.checks import list_warnings
from faqs.answers.pages import index_pages
from faqs.importexport.files import LOCAL_LIMITS, BadTable, read_table
from faqs.importexport.resource import FAQResource, PlannedRow, Remark
from faqs.indexing import sync_pending
from faqs.models import FAQ
from faqs.services import import_table


class Command(BaseCommand):
    help = (
        "Imports FAQs from a JSON list of {question, phrasings, sources (addresses of documents), answer (staff's "
        "own words, or one for each language: {de, en}), category, id} and indexes them. An FAQ with an address that "
        "no document has is kept as a draft. A file that ends in .csv or "
        ".xlsx is read as a table with the same columns."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.json")

    def handle(self, *, file: Path, **options: Any) -> None:
        is_table = file.suffix.lower() in {".csv", ".xlsx"}
        resource = FAQResource.for_operator()
        try:
            table = read_table(file.name if is_table else "faqs.json", file.read_bytes(), limits=LOCAL_LIMITS)
            planned = import_table(table=table, resource=resource)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except BadTable as error:
            raise CommandError(f"{file} cannot be imported: {error}") from error
        if unread := resource.list_unread(table):
            self.stderr.write(f"Not read: {', '.join(unread)}.")
        for row in planned:
            self._remark(row, (*row.problems, *row.notices), is_table=is_table)
        with progress_bar("Indexing FAQs") as show:
            indexed = sync_pending(progress=show)
            index_pages()
        for row in planned:
            if row.rewords_answer:
                found = [(f"answer_{warned.language}", warned.message) for warned in list_warnings(row.faq)]
                self._remark(row, [each for each in found if each not in row.notices], is_table=is_table)
        count = {kind: sum(row.kind == kind for row in planned) for kind in ("new", "changed", "unchanged")}
        drafts = sum(row.kind != "wrong" and row.faq.status == FAQ.Status.DRAFT for row in planned)
        self.stdout.write(
            f"{count['new']} new, {count['changed']} changed, {count['unchanged']} unchanged, "
            f"{drafts} kept as drafts; {indexed} indexed."
        )

    def _remark(self, row: PlannedRow, remarks: Iterable[Remark], *, is_table: bool) -> None:
        where = f"{'Line' if is_table else 'FAQ'} {row.line}" + (f" ({row.name})" if row.name else "")
        for column, message in remarks:
            self.stderr.write(f"{where}: {column}: {message}" if column else f"{where}: {message}")

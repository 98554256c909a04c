from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import URLValidator

from core.management import check_collection, progress_bar
from knowledge.indexing.documents import sync_pending
from knowledge.ingest.file_importer import import_file
from knowledge.ingest.formats.registry import FORMATS
from knowledge.ingest.formats.types import BadFile
from knowledge.ingest.importer import collection_for
from knowledge.models import Collection


class Command(BaseCommand):
    help = (
        f"Imports files ({', '.join(FORMATS)}), one document a file, and indexes them. A bad file is reported and the "
        "rest is imported; running it twice changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--collection", default="default", metavar="SLUG", help="where to put them (default)")
        parser.add_argument(
            "--url",
            action="append",
            default=[],
            dest="urls",
            metavar="URL",
            help="where a citation opens the file, once a file in their order; without it we serve it ourselves",
        )

    def handle(self, *, files: list[Path], collection: str, urls: list[str], **options: Any) -> None:
        check_collection(collection)
        check_urls(urls, files)
        is_new = not Collection.objects.filter(slug=collection).exists()
        goal = collection_for(collection)
        outcomes: Counter[str] = Counter()
        for file, url in zip(files, urls or [""] * len(files), strict=True):
            try:
                with progress_bar(file.name) as show:
                    imported = import_file(file, collection=goal, url=url, progress=show)
            except BadFile as bad:
                outcomes["bad"] += 1
                self.stderr.write(str(bad))
            except OSError as error:
                outcomes["bad"] += 1
                self.stderr.write(f"{file} cannot be read: {error.strerror}")
            else:
                outcomes[imported.outcome] += 1
                for said in imported.remarks:
                    self.stderr.write(f"{file.name}: {said}")
        with progress_bar("Indexing") as show:
            indexed = sync_pending(progress=show)
        self.stdout.write(
            f"{outcomes['created']} new, {outcomes['changed']} changed, {outcomes['unchanged']} unchanged, "
            f"{outcomes['bad']} with problems; {indexed} indexed."
        )
        if outcomes["bad"] == len(files):
            if is_new:
                goal.delete()
            raise CommandError("Nothing was imported.")


def check_urls(urls: list[str], files: list[Path]) -> None:
    """Check the addresses; raises CommandError."""
    if urls and len(urls) != len(files):
        raise CommandError(
            f"--url is given {len(urls)} times for {len(files)} files: give it once a file, or not at all."
        )
    if len(set(urls)) < len(urls):
        raise CommandError("--url: two files cannot have the same address.")
    for url in urls:
        try:
            URLValidator(schemes=["http", "https"])(url)
        except ValidationError as error:
            raise CommandError(f"--url {url[:100]!r}: it takes an address with http:// or https://.") from error

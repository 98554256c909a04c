from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from marcelcms.backups.manifest import BackupError
from marcelcms.backups.restore import restore_backup


class Command(BaseCommand):
    help = (
        "Puts a backup in the place of what is here, wholly or not at all, and brings its tables up to this version. "
        "Stop web, workers and beat before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `manage.py backup` wrote")
        parser.add_argument("--replace", action="store_true", help="delete what is here now")

    def handle(self, *, file: Path, replace: bool, **options: Any) -> None:
        try:
            manifest = restore_backup(file, replace=replace)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        call_command("migrate", interactive=False, verbosity=0)
        rows = ", ".join(f"{count} {name.split('.')[1]}" for name, count in manifest.rows.items())
        self.stdout.write(f"Restored what was there on {manifest.made_at}: {rows}.")

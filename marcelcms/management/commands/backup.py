from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marcelcms.backups.backup import make_backup
from marcelcms.backups.manifest import BackupError
from marcelcms.health.heartbeats import BACKUP, record_heartbeat


class Command(BaseCommand):
    help = (
        "Writes everything into one file: the database with all vectors, the media files, and checksums. It may run "
        "while MarcelCMS does. The file holds personal data: keep it where only operators read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where the file marcelcms-<time>.tar is to be")

    def handle(self, *, folder: Path, **options: Any) -> None:
        try:
            made = make_backup(folder)
        except (BackupError, OSError) as error:
            raise CommandError(f"No backup was made: {error}") from error
        record_heartbeat(BACKUP)
        self.stdout.write(f"{made} ({made.stat().st_size / 1e6:,.1f} MB)")

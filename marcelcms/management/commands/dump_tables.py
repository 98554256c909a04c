from typing import Any

from django.core.management.base import BaseCommand

from marcelcms.backups.fresh import write_dump


class Command(BaseCommand):
    help = "Writes the tables that a fresh database begins with, from one that has been migrated and is still empty."

    def handle(self, **options: Any) -> None:
        self.stdout.write(f"{write_dump():,} bytes written.")

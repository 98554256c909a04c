"""Writes the protocol's JSON schema and the widget's TypeScript types."""

from typing import Any

from django.core.management.base import BaseCommand

from chat.protocol import schema


class Command(BaseCommand):
    help = "Write the wire protocol's JSON schema and the widget's TypeScript types from chat/protocol."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        schema.SCHEMA_FILE.write_text(schema.json_schema(), "utf-8")
        schema.TYPES_FILE.write_text(schema.typescript(), "utf-8")
        self.stdout.write(f"{schema.SCHEMA_FILE} and {schema.TYPES_FILE} are written. Now build the widget.")

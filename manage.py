#!/usr/bin/env python
"""Django's command line; where no database or broker is configured, a command runs beside the embedded ones."""

import os
import sys
import warnings
from pathlib import Path

from marcelcms.embedded.processes import ServiceError
from marcelcms.embedded.services import PARTS, provide, provide_secret_key

BASE_DIR = Path(__file__).resolve().parent
# Commands that only read code and settings.
OFFLINE = {"", "help", "version", "check", "diffsettings", "findstatic", "collectstatic"}
OFFLINE |= {"makemigrations", "makemessages", "compilemessages", "export_openapi_schema"}
# Commands that care for the tables themselves.
MIGRATING = {"migrate", "showmigrations", "sqlmigrate", "squashmigrations", "optimizemigration"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")
    from django.core.management import execute_from_command_line

    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    # A container gives secrets as files (`marcelcms.env`).
    if all(os.environ.get(part.variable) or os.environ.get(f"{part.variable}_FILE") for part in PARTS):
        execute_from_command_line(sys.argv)
        return
    state = Path(os.environ.get("STATE_DIR") or BASE_DIR / "var").resolve()
    if is_offline(command):
        provide_secret_key(state)
        os.environ.setdefault("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
        os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
        warnings.filterwarnings("ignore", message="Got an error checking a consistent migration history")
        execute_from_command_line(sys.argv)
        return
    with provide(state) as started:
        if "postgres" in started and command not in MIGRATING:
            bring_up_to_date()
        execute_from_command_line(sys.argv)


def is_offline(command: str) -> bool:
    if {"-h", "--help", "--version"} & set(sys.argv):
        return True
    return command in OFFLINE and not any(word.startswith("--database") for word in sys.argv)


def bring_up_to_date() -> None:
    """Apply missing migrations; standard output belongs to the command that follows."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False, stdout=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except ServiceError as error:
        sys.exit(str(error))

"""The page of the commands, from what each says of itself."""

from argparse import SUPPRESS, Action
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class

from docs.generate.tables import cell, code, table

APPS = ("knowledge", "faqs", "chat", "analytics", "marcelcms")
INTRODUCTION = """# Commands

`.venv/bin/python manage.py NAME`, in the project's folder. Where `make run` does not run and no `DATABASE_URL` and
`REDIS_URL` are set, a command starts the database and Valkey by itself, and stops them at its end. With `--json` a
command prints one JSON document on standard output, and nothing else there.

This page is made from the commands' own help.
"""
#: Options that every command of Django has.
COMMON = {
    "help",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}


def names() -> list[str]:
    return sorted(name for name, app in get_commands().items() if app in APPS)


def page() -> str:
    return "\n".join([INTRODUCTION, *map(_command, names())])


def _command(name: str) -> str:
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    rows = [[_usage(each), _meaning(each)] for each in _own(parser._actions)]
    parts = [f"## {name}\n", f"{cell(parser.description or '')}\n"]
    if rows:
        parts.append(table(["", "meaning"], rows))
    return "\n".join(parts)


def _own(actions: list[Action]) -> Iterator[Action]:
    return (each for each in actions if each.dest not in COMMON and each.help != SUPPRESS)


def _usage(action: Action) -> str:
    named = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return code(named)
    takes = "" if action.nargs == 0 else f" {' '.join(action.metavar) if isinstance(action.metavar, tuple) else named}"
    return code(action.option_strings[-1] + takes)


def _meaning(action: Action) -> str:
    said = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return cell(said)

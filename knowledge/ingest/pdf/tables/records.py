"""Records: forms that describe one thing each, such as a module, and the names that they give it; pure."""

import re

from knowledge.ingest.pdf.types import Line

_MODULE = (
    r"modul(?:titel|name|bezeichnung)?|(?:titel|name|bezeichnung) des moduls|"
    r"module? (?:title|name)|course (?:title|name)"
)
_LANGUAGE = r"(?:[ /]*\(?(?:deutsch|german|de)\)?)?\s*"
#: What a form calls the name of the thing that it describes: in a cell, and at the beginning of a line.
IN_CELL = re.compile(
    rf"^(?:{_MODULE}|module|(?:lehr)?veranstaltung(?:stitel|sname)?|titel|title){_LANGUAGE}:?$", re.IGNORECASE
)
IN_LINE = re.compile(rf"^(?:{_MODULE}){_LANGUAGE}:\s+(?P<name>\S.*)$", re.IGNORECASE)
#: A longer name is none.
LONGEST = 180


def is_name_of_record(label: str) -> bool:
    return bool(IN_CELL.match(label))


def record_in_line(line: Line) -> str:
    """Return what a line names as the thing described: “Algebra” for “Module title: Algebra”; or nothing."""
    found = IN_LINE.match(line.text)
    return found["name"] if found and len(line.text) <= LONGEST else ""

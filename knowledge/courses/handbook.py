"""Finds the records of modules in Markdown: labels and values below the module's name; reads no database.

A label stands before a colon, in bold, in a table's cell, or as a heading of its own below the module's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from knowledge.chunking.page_markers import MARKER
from knowledge.courses.labels import LEFT, Label, find_label

HEADING = re.compile(r"^(?P<level>#{1,6})[ \t]+(?P<text>.*?)[ \t#]*$")
#: A list's mark, and the number of a form's row that stands in a cell of its own.
ITEM = re.compile(r"^\s*(?:(?:[-*+]|\d{1,2}[.)])\s+)?(?:\d{1,2};\s+)?")
#: A colon within a word, as in “Dozent:in”, is a part of the label.
PAIR = re.compile(r"^(?P<label>(?:[^:\n]|:(?=\w)){1,90}):(?:\s+(?P<value>.*))?$")
BOLD = re.compile(r"^(?P<mark>\*{1,3}|_{1,3})(?P<label>[^*_]{1,90}?)\s*:?\s*(?P=mark)\s*:?\s*(?P<value>.*)$")
NUMBERED = re.compile(r"^(?P<number>\d{1,2}) (?=[^\W\d])")
CELLS = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"^[\s|:-]+$")
#: Fields whose values are short: further pairs may stand in their line. A text's line is taken whole.
SHORT = frozenset({"code", "name", "ects", "is_mandatory", "year", "field", LEFT})
#: One of these is in every record, and they are there once in each.
NEEDED = frozenset({"code", "ects"})
ONCE = frozenset({"code", "name"})
#: No module is called so: a heading that says one of these is a label, however high it stands.
NO_NAMES = frozenset({"code", "ects", "is_mandatory", "year"})
LEAST_LABELS = 3
#: A document with fewer records is no handbook.
LEAST_MODULES = 3


@dataclass(slots=True)
class Part:
    label: Label
    lines: list[str]

    @property
    def value(self) -> str:
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines)).strip()


@dataclass(slots=True)
class Module:
    """What stands below a heading; `page` is where it begins, if the document has pages."""

    heading: str
    level: int = 0
    page: int | None = None
    parts: list[Part] = field(default_factory=list)

    def find(self, field_name: str) -> list[Part]:
        return [part for part in self.parts if part.label.field == field_name]

    @property
    def is_record(self) -> bool:
        fields = {part.label.field for part in self.parts}
        return bool(fields & NEEDED) and len({part.label.words for part in self.parts}) >= LEAST_LABELS


def find_modules(text: str) -> list[Module]:
    """Return the records of modules, in order; none if they are too few for a handbook."""
    modules: list[Module] = []
    for section in _sections(text):
        last = modules[-1] if modules else None
        goes_on = last is not None and section.heading == last.heading and not _repeats(section, last)
        if section.is_record and not goes_on:
            modules.append(section)
        elif last is not None and (goes_on or section.level > last.level):
            last.parts += section.parts
    return modules if len(modules) >= LEAST_MODULES else []


def _repeats(section: Module, module: Module) -> bool:
    return any(section.find(name) and module.find(name) for name in NEEDED)


def _is_another(part: Part, section: Module) -> bool:
    """Return whether the part names another module than the section does; a form may say the same twice."""
    own = [each.value for each in section.parts if each.label.words == part.label.words]
    return bool(own) and part.value not in own


def _sections(text: str) -> Iterator[Module]:
    """Yield what stands below each heading that is no label."""
    section, page = Module(""), None
    rows: list[str] = []
    number = 0
    for raw in (*text.split("\n"), ""):
        if marker := MARKER.search(raw):
            page = int(marker.group(1))
            if not (raw := MARKER.sub("", raw)).strip():
                continue
        line = raw.rstrip()
        if line.lstrip().startswith("|"):
            rows.append(line.strip())
            continue
        found: list[Part] = []
        if rows:
            found, rows = _of_table(rows), []
        if heading := HEADING.match(line):
            level, words = len(heading["level"]), heading["text"]
            label = find_label(words)
            if label and level <= section.level and label.field not in NO_NAMES:
                label = None
            if label is None:
                section.parts += found
                yield section
                section, number = Module(words, level, page), 0
                continue
            found.append(Part(label, []))
        else:
            found += _of_line(line, after=number)
        for part in found:
            if part.label.field in ONCE and _is_another(part, section):
                yield section
                section = Module("", section.level, page)
            section.parts.append(part)
        if counted := NUMBERED.match(ITEM.sub("", line)):
            number = int(counted["number"]) if found else number
        if not found and section.parts:
            section.parts[-1].lines.append(line)
    yield section


def _of_line(line: str, *, after: int) -> list[Part]:
    """Return the parts that a line begins; none if it has no label, or belongs to the part before."""
    content = ITEM.sub("", line).strip()
    pair = BOLD.match(content)
    label = find_label(pair["label"]) if pair else None
    if label is None and (pair := PAIR.match(content)):
        label = find_label(pair["label"])
        counted = NUMBERED.match(content)
        if label is None and counted and int(counted["number"]) == after + 1:
            label = Label(LEFT, "plain", content[counted.end() : pair.end("label")])
    if pair is None or label is None:
        return []
    value = (pair["value"] or "").strip()
    return list(_apart(label, value)) if label.field in SHORT else [Part(label, [value])]


def _apart(label: Label, value: str) -> Iterator[Part]:
    """Yield the pairs of a line such as “Code: M1; Credits: 6”."""
    part = Part(label, [])
    for piece in value.split("; "):
        if part.lines and (pair := PAIR.match(piece)):
            yield part
            words = pair["label"].strip()
            part = Part(find_label(words) or Label(LEFT, "plain", words), [pair["value"] or ""])
        elif part.lines:
            part.lines[-1] += f"; {piece}"
        else:
            part.lines.append(piece)
    yield part


def _of_table(rows: Iterable[str]) -> list[Part]:
    """Return the parts of a table whose rows are labels and values, or whose header is labels above one row."""
    table = [[cell.strip().replace("<br>", "\n") for cell in CELLS.split(row.strip("|"))] for row in rows]
    table = [cells for cells in table if not all(RULE.match(cell) or not cell for cell in cells)]
    if len(table) == 2 and len(table[0]) > 1 and all(map(find_label, filter(None, table[0]))):
        pairs = list(zip(*table, strict=False))
    else:
        pairs = [pair for cells in table for pair in zip(cells[::2], [*cells[1::2], ""], strict=False)]
    return [Part(label, [value]) for words, value in pairs if (label := find_label(words))]

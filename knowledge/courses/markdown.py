"""Renders a course's record as Markdown: four sections, each of which names its course; reads no database.

A field may hold Markdown, but never a heading or a block without an end: every section stays whole, so that each
passage names its course.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from markdown_it import MarkdownIt

from knowledge.courses.codes import Codes, Named, code_key, mentions, split_by_mention
from knowledge.models import Course

#: Up to here a number is a year of study; beyond, as 2026, the record means a calendar year.
LAST_YEAR_OF_STUDY = 20
NEWLINE = re.compile(r"\r\n?|\f")
NEW_BLOCK = "\n\n"
#: What opens a block that only its own mark ends, or makes a heading of the line before.
OPENING = re.compile(r"^([ \t]*)(?=[#`~<=-])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wording:
    """Labels in the document's language, whatever the language of staff."""

    identity: str
    contents: str
    objectives: str
    requirements: str
    part_of: str
    year: str
    calendar_year: str
    mandatory: str
    yes: str
    no: str
    ects: str
    decimal_point: str
    field: str
    programme: str
    prerequisites: str
    required: str
    assessment: str
    module_of: str
    both_modules: str
    all_modules: str
    conjunction: str


ENGLISH = Wording(
    identity="Identity",
    contents="Contents",
    objectives="Objectives",
    requirements="Requirements and assessment",
    part_of="Integrated course",
    year="Year of study",
    calendar_year="Year",
    mandatory="Mandatory",
    yes="yes",
    no="no, elective",
    ects="ECTS credits",
    decimal_point=".",
    field="Field of research",
    programme="Detailed programme of {course}",
    prerequisites="Prerequisites",
    required="Required courses",
    assessment="Assessment",
    module_of="{course} is a module of the integrated course “{general}”.",
    both_modules="To pass the integrated course “{general}”, the modules {modules} must both be passed.",
    all_modules="To pass the integrated course “{general}”, the modules {modules} must all be passed.",
    conjunction="and",
)
GERMAN = Wording(
    identity="Steckbrief",
    contents="Inhalte",
    objectives="Lernziele",
    requirements="Voraussetzungen und Prüfung",
    part_of="Integrierter Kurs",
    year="Studienjahr",
    calendar_year="Jahr",
    mandatory="Pflichtmodul",
    yes="ja",
    no="nein, Wahlmodul",
    ects="ECTS-Punkte",
    decimal_point=",",
    field="Fachgebiet",
    programme="Ablauf von {course}",
    prerequisites="Voraussetzungen",
    required="Vorausgesetzte Module",
    assessment="Prüfung",
    module_of="{course} ist ein Modul des integrierten Kurses „{general}“.",
    both_modules="Für den integrierten Kurs „{general}“ müssen die Module {modules} beide bestanden werden.",
    all_modules="Für den integrierten Kurs „{general}“ müssen die Module {modules} alle bestanden werden.",
    conjunction="und",
)


def render_course(course: Course, siblings: Iterable[Named], required: Iterable[Named] = ()) -> str:
    """Write the text of a course's document in its language.

    `siblings` are the other modules of its integrated course.
    """
    document = getattr(course, "document", None)
    wording = GERMAN if document and document.language.lower().startswith("de") else ENGLISH
    title = f"**{_one_line(str(course))}**"
    note = _contained(_integration_note(course, list(siblings), wording))
    prerequisites, unnamed = _with_names(course.prerequisites, list(required))
    programme = wording.programme.format(course=_one_line(str(course)))
    sections = {
        wording.identity: [*_fields(_facts(course, wording)), note],
        wording.contents: [_contained(course.contents), *_fields({programme: course.programme}, itemised=False)],
        wording.objectives: [_contained(course.objectives)],
        wording.requirements: [
            *_fields(
                {
                    wording.prerequisites: prerequisites,
                    wording.required: "; ".join(f"{other.code} {other.name}" for other in unnamed),
                    wording.assessment: course.assessment,
                }
            ),
            note,
        ],
    }
    return "\n\n".join(f"## {heading}\n\n{_led_by(title, parts)}" for heading, parts in sections.items())


def general_key(name: str) -> str:
    """Return the same key for two spellings of an integrated course that differ in case and spaces only."""
    return "".join(name.casefold().split())


def _with_names(text: str, courses: list[Named]) -> tuple[str, list[Named]]:
    """Add the name after each code without one; return the text and the courses that it does not name."""
    text = _tidy(text)
    named, unnamed = split_by_mention(text, courses)
    words = " ".join(text.casefold().split())
    nameless = {code_key(course.code): course for course in named if _one_line(course.name).casefold() not in words}
    parts, done, later = [], 0, []
    for mention in mentions(text, Codes.of(course.code for course in named)):
        if course := nameless.pop(mention.key, None):
            parts.append(text[done : mention.end])
            done = mention.end
            if re.match(r"-\w", text[done:]):  # as in "CS-101-Klausur"
                later.append(f" ({course.code}: {_one_line(course.name)})")
            else:
                parts.append(f" {_one_line(course.name)}")
    return "".join((*parts, text[done:], *later)), unnamed


# --- parts of a section ---


def _facts(course: Course, wording: Wording) -> dict[str, str]:
    year = wording.year if (course.year or 0) <= LAST_YEAR_OF_STUDY else wording.calendar_year
    mandatory = {None: "", True: wording.yes, False: wording.no}[course.is_mandatory]
    ects = "" if course.ects is None else f"{Decimal(str(course.ects)).normalize():f}"
    return {
        wording.part_of: course.general_name,
        year: "" if course.year is None else str(course.year),
        wording.mandatory: mandatory,
        wording.ects: ects.replace(".", wording.decimal_point),
        wording.field: course.field,
    }


def _integration_note(course: Course, siblings: list[Named], wording: Wording) -> str:
    general = _one_line(course.general_name)
    if not general:
        return ""
    modules: dict[str, Named] = {code_key(course.code): course}
    for sibling in siblings:
        modules.setdefault(code_key(sibling.code), sibling)
    part_of = wording.module_of.format(course=_one_line(str(course)), general=general)
    if len(modules) == 1:
        return "" if general_key(general) == general_key(course.name) else part_of
    *first, last = (f"{_one_line(module.name)} ({module.code})" for _key, module in sorted(modules.items()))
    rule = wording.all_modules if len(first) > 1 else wording.both_modules
    listed = f"{', '.join(first)} {wording.conjunction} {last}"
    return f"{part_of} {rule.format(general=general, modules=listed)}"


def _led_by(title: str, parts: list[str]) -> str:
    """Join the parts after the course's title: a sentence that is quoted then names its course."""
    parts = [part for part in parts if part.strip()]
    lead = f"{title} – " if parts and _is_prose(parts[0]) else f"{title}\n\n"
    return (lead + "\n\n".join(parts)).rstrip()


def _fields(values: Mapping[str, str], *, itemised: bool = True) -> Iterator[str]:
    """Yield lists of one-line values, and values of several lines under their labels; empty ones are left out."""
    items: list[str] = []
    for label, raw in values.items():
        value = _tidy(raw)
        if not value:
            continue
        if itemised and "\n" not in value:
            items.append(f"- {label}: {value}")
            continue
        yield "\n".join(items)
        text = _contained(value)
        yield f"**{label}:**{' ' if _is_prose(text) else NEW_BLOCK}{text}"
        items = []
    yield "\n".join(items)


def _tidy(text: str) -> str:
    return NEWLINE.sub("\n", text.replace("\0", "")).strip()


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())


def _contained(markdown: str) -> str:
    """Keep Markdown from affecting what follows, and remove its headings."""
    text = _without_headings(_tidy(markdown))
    if _leaks(text):
        text = OPENING.sub(r"\1\\", text)
    return text


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _is_prose(text: str) -> bool:
    blocks = _parser().parse(text)
    return bool(blocks) and blocks[0].type == "paragraph_open"


def _without_headings(text: str) -> str:
    """Turn headings into bold paragraphs: the four of the course are the only ones."""
    lines = text.split("\n")
    tokens = _parser().parse(text)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            start, end = opening.map
            words = _one_line(inline.content)
            lines[start:end] = [f"\n**{words}**\n" if words else "", *[""] * (end - start - 1)]
    return "\n".join(lines).strip()


def _leaks(text: str) -> bool:
    """Return whether what follows would be read as part of the text, or a heading is left in it."""
    outer = [token for token in _parser().parse(f"{text}\n\n## End") if token.level == 0]
    return [token.type for token in outer if token.type == "heading_open"] != ["heading_open"]

"""Makes records of courses out of the modules that a document describes; reads no database."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from urllib.parse import quote

from django.utils.translation import gettext as _

from knowledge.courses.codes import code_key
from knowledge.courses.handbook import Module, Part, find_modules
from knowledge.courses.labels import LEFT
from knowledge.courses.reader import LONGEST, CourseRecord

TEXTS = ("prerequisites", "assessment", "contents", "objectives", "programme")
NOTHING = frozenset({"", "-", "–", "—", "/", "n/a", "k. a.", "k.A."})
#: A code that a heading names, as in “INF-101 Algebra” or “Algebra (INF-101)”.
CODE = r"[A-ZÄÖÜ][A-Za-zÄÖÜäöü]{0,9}(?:[-._ ]?[A-ZÄÖÜ]{1,9}){0,2}[-._ ]?\d[\w.-]*"
IN_HEADING = (
    re.compile(rf"^(?:Module?\s+)?(?P<code>{CODE})\s*[:–—-]?\s+(?P<name>\S.*)$"),
    re.compile(rf"^(?P<name>\S.*?)\s*[(\[](?P<code>{CODE})[)\]]$"),
)
OUTLINE = re.compile(r"^(?:\d{1,2}\.)+\d{0,2}\s+|^Module?(?:\s+\d{1,3})?\s*:\s+", re.IGNORECASE)
#: What begins a list or a table.
BLOCK = re.compile(r"[-*+|]\s|\d{1,2}[.)]\s")
NUMBER = re.compile(r"\d{1,3}(?:[.,]\d+)?")
TICKED = re.compile(r"\[\s*[xX✓✔]\s*\]\s*([^\[\]]+)")
UNTICKED = re.compile(r"\[\s*\]\s*[^\[\]]*")
#: How the words for mandatory and for elective begin.
BEGINS = {True: ("pflicht", "mandatory", "compulsory", "ja"), False: ("wahl", "elective", "optional", "nein")}
#: A higher number is none of a semester or a year of study.
MOST_SEMESTERS = 12


@dataclass(frozen=True, slots=True)
class ReadModule:
    """A module as a document has it; `record` is missing if `problems` says why no course can be made of it.

    `remarks` say what of it was not read, `left` are labels without a field.
    """

    name: str
    code: str
    page: int | None
    record: CourseRecord | None
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def read_modules(text: str, *, url: str, language: str) -> list[ReadModule]:
    """Return the modules of a handbook, in order; none if the text is no handbook."""
    read: list[ReadModule] = []
    seen: dict[str, ReadModule] = {}
    for module in find_modules(text):
        found = _read(module, url=url, language=language)
        first = seen.setdefault(code_key(found.code), found) if found.code else found
        if first is not found:
            said = _("it has the same code as “%(name)s”, which stands before it") % {"name": first.name}
            found = replace(found, record=None, problems=(*found.problems, said))
        read.append(found)
    return read


def _read(module: Module, *, url: str, language: str) -> ReadModule:
    code, name = _name(module, language)
    problems = [
        _("no code is given, so that it cannot be told from others") if not code else "",
        _("no name is given") if not name else "",
        *(
            _("its %(field)s is longer than %(most)d characters") % {"field": said, "most": LONGEST[key]}
            for key, said, value in (("code", _("code"), code), ("name", _("name"), name))
            if len(value) > LONGEST[key]
        ),
    ]
    problems = [problem for problem in problems if problem]
    if problems:
        return ReadModule(name, code, module.page, None, tuple(problems))
    ects, is_mandatory = _ects(_first(module, "ects")), _mandatory(_first(module, "is_mandatory"))
    year = _year(_first(module, "year"))
    kept_out = module.find(LEFT) if year is not None else [*module.find(LEFT), *module.find("year")]
    left = tuple(dict.fromkeys(part.label.words for part in kept_out if part.value not in NOTHING))
    remarks = tuple(
        _("“%(label)s” was not read: %(value)s") % {"label": part.label.words, "value": _line(part.value)[:80]}
        for key, value in (("ects", ects), ("is_mandatory", is_mandatory))
        if value is None and (part := _first(module, key)) and _line(part.value) not in NOTHING
    )
    texts = {key: _text(module.find(key)) for key in TEXTS}
    record = CourseRecord(
        code=code,
        name=name,
        url=_address(url, code=code, page=module.page),
        language=language,
        year=year,
        is_mandatory=is_mandatory,
        ects=ects,
        field=_line(part.value)[: LONGEST["field"]] if (part := _first(module, "field")) else "",
        prerequisites=texts["prerequisites"],
        assessment=texts["assessment"],
        contents=texts["contents"],
        objectives=texts["objectives"],
        programme=texts["programme"],
    )
    return ReadModule(name, code, module.page, record, remarks=remarks, left=left)


def _name(module: Module, language: str) -> tuple[str, str]:
    """Return the module's code and its name in the document's language."""
    code = _line(part.value) if (part := _first(module, "code")) else ""
    heading = OUTLINE.sub("", _line(module.heading))
    for form in IN_HEADING:
        found = form.match(heading)
        if found and (not code or code_key(found["code"]) == code_key(code)):
            code, heading = code or found["code"], found["name"]
    titles = {part.label.kind: _line(part.value) for part in reversed(module.find("name"))}
    by_rank = (titles.get(language[:2], ""), titles.get("plain", ""), heading, *titles.values())
    return ("" if code in NOTHING else code), next((name for name in by_rank if name not in NOTHING), "")


def _address(url: str, *, code: str, page: int | None) -> str:
    """Return an address of the module's own that opens the document, at its page if it has one."""
    at = f"page={page}&" if page else ""
    return f"{url.partition('#')[0]}#{at}module={quote(code_key(code))}"


# --- values ---


def _first(module: Module, field_name: str) -> Part | None:
    return next((part for part in module.find(field_name) if _line(part.value) not in NOTHING), None)


def _line(value: str) -> str:
    return " ".join(re.sub(r"[*_`]{2,}", "", value).split()).strip(" ;").removeprefix("- ")


def _text(parts: Sequence[Part]) -> str:
    """Return the parts' words; where there are several, or their label says more, below their labels."""
    told = [part for part in parts if part.value not in NOTHING]
    says_all = len(told) == 1 and told[0].label.kind == "plain"
    return "\n\n".join(part.value if says_all else _labelled(part) for part in told)


def _labelled(part: Part) -> str:
    between = "\n\n" if BLOCK.match(part.value) else " "
    return f"{part.label.words}:{between}{part.value}"


def _ects(part: Part | None) -> Decimal | None:
    numbers = set(NUMBER.findall(re.sub(r"\([^()]*\)", "", part.value))) if part else set()
    number = Decimal(numbers.pop().replace(",", ".")) if len(numbers) == 1 else None
    return number if number is not None and number == round(number, 1) else None


def _mandatory(part: Part | None) -> bool | None:
    """Return what is ticked, or the only thing that is said."""
    if part is None:
        return None
    ticked = TICKED.findall(part.value)
    said = ticked[0] if len(ticked) == 1 else "" if ticked else UNTICKED.sub("", part.value)
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", said)]
    known = {answer for word in words for answer, begins in BEGINS.items() if word.startswith(begins)}
    return known.pop() if len(known) == 1 else None


def _year(part: Part | None) -> int | None:
    """Return the year of study; of semesters only if they are all of one year."""
    numbers = [int(number) for number in re.findall(r"\d+", part.value)] if part else []
    is_year = part is not None and ("jahr" in part.label.words.casefold() or "year" in part.label.words.casefold())
    years = {number if is_year else (number + 1) // 2 for number in numbers}
    return years.pop() if len(years) == 1 and max(numbers) <= MOST_SEMESTERS else None

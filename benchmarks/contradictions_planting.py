"""Contradictions planted into real text: a sentence of one page, with one thing changed, on a new page; no Django.

The patterns here are of this module alone; the search knows none of them.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SEED = 36
#: How many of each kind.
WANTED = {"figure": 60, "date": 60, "yes/no": 40, "other": 40}
WORDS = range(8, 46)
ENGLISH_FRAMES = (
    "{text}",
    "{text}",
    "{text}",
    "Please note: {text}",
    "As of this year, {lower}",
    "Students often ask about this: {lower}",
    "{text} The office answers further questions.",
    "We would like to remind everybody that {lower}",
    "In short, {lower}",
    "According to the student service, {lower}",
)
GERMAN_FRAMES = (
    "{text}",
    "{text}",
    "Bitte beachten Sie: {text}",
    "Oft gefragt wird Folgendes: {text}",
    "{text} Weitere Fragen beantwortet das Sekretariat.",
)
#: Words that a writer may as well have chosen.
SYNONYMS = (
    ("students", "those who study here"), ("must", "have to"), ("approximately", "about"), ("however", "still"),
    ("also", "as well"), ("receive", "get"), ("begin", "start"), ("provide", "offer"), ("additional", "further"),
    ("required to", "obliged to"), ("courses", "classes"), ("obtain", "get"), ("assist", "help"), ("purchase", "buy"),
    ("müssen", "haben zu beachten: sie müssen"), ("außerdem", "zudem"), ("jedoch", "allerdings"),
    ("erhalten", "bekommen"),
)  # fmt: skip
FILLERS = {
    "en": ("This page was put together by the communications team.", "Ask at the front desk if anything is unclear."),
    "de": ("Diese Seite hat das Redaktionsteam zusammengestellt.", "Bei Unklarheiten hilft der Empfang gerne weiter."),
}
TITLES = {"en": ("News for everybody", "Good to know", "What we are asked"), "de": ("Neues", "Gut zu wissen")}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
MONTHS_DE = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip
MEASURED = re.compile(
    r"(?<![\d.,/:$-])(\d{1,3}(?:,\d{3})*|\d+)(?=(?:\s|-)(?:percent|%|euros?|EUR|€|dollars|units?|credits?|ECTS|hours?|days?|weeks?|months?"
    r"|years?|students?|courses?|semesters?|minutes?|points?|pages?|people|members|words|Tage|Wochen|Monate|Jahre|Stunden|Euro"
    r"|Semester|Seiten|Plätze|million|times|miles|percentage)\b)|(?<=\$)(\d{1,3}(?:,\d{3})*|\d+)(?![\d.])",
)
DAY = re.compile(rf"\b(?:({'|'.join(MONTHS)}) (\d{{1,2}})|(\d{{1,2}})\.? ({'|'.join((*MONTHS, *MONTHS_DE))}))\b")
TIME = re.compile(r"\b(\d{1,2}):(\d\d)\b")
YEAR = re.compile(r"\b(1[89]\d\d|20[0-4]\d)\b(?![/–-])")
DENIALS: tuple[tuple[str, str], ...] = (
    (r"\bis not\b", "is"), (r"\bare not\b", "are"), (r"\bcannot\b", "can"), (r"\bdoes not have\b", "has"),
    (r"\bdo not\b", ""), (r"\bmay not\b", "may"), (r"\bist nicht\b", "ist"), (r"\bist kein\b", "ist ein"),
    (r"\bis (?!not\b)", "is not "), (r"\bare (?!not\b)", "are not "), (r"\bcan (?!not\b)", "cannot "),
    (r"\bwas (?!not\b)", "was not "), (r"\bwill (?!not\b)", "will not "), (r"\bhas been\b", "has never been"),
    (r"\bist (?!nicht\b)", "ist nicht "), (r"\bsind (?!nicht\b)", "sind nicht "), (r"\bkönnen\b", "können nicht"),
)  # fmt: skip
OTHERS: tuple[tuple[str, str], ...] = (
    (r"\bat least\b", "at most"), (r"\bat most\b", "at least"), (r"\bup to\b", "at least"),
    (r"\bmore than\b", "less than"), (r"\bless than\b", "more than"),
    (r"\bno more than\b", "no less than"), (r"\ba minimum of\b", "a maximum of"),
    (r"\ba maximum of\b", "a minimum of"), (r"\bmindestens\b", "höchstens"), (r"\bhöchstens\b", "mindestens"),
    (r"\bbis zu\b", "mindestens"), (r"\bmust\b(?! not)", "need not"), (r"\b(are|is) required to\b", r"\1 free to"),
    (r"\bshould\b(?! not)", "must"), (r"\bmay\b(?! not)", "must"),
    (r"\bmüssen\b", "dürfen"), (r"\bmandatory\b", "voluntary"),
    (r"\brequired\b", "optional"), (r"\boptional\b", "required"), (r"\bbefore\b", "after"), (r"\bafter\b", "before"),
    (r"\ball students\b", "some students"), (r"\bAll\b", "Some"), (r"\balways\b", "never"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Original:
    """A sentence of the page at `page`."""

    page: int
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Planted:
    """A changed sentence with the new page that holds it; `framed` says that it was also worded anew."""

    original: Original
    kind: str
    text: str
    title: str
    body: str
    framed: bool


def plant(originals: Sequence[Original], seed: int = SEED) -> list[Planted]:
    """Return changed copies of the sentences, `WANTED` of each kind, each with a page of its own."""
    chance = random.Random(seed)
    order = list(originals)
    chance.shuffle(order)
    ways: dict[str, Callable[[str, random.Random], str]] = {
        "date": _other_date,
        "figure": _other_figure,
        "other": lambda text, chance: _replaced(text, OTHERS, chance),
        "yes/no": lambda text, chance: _replaced(text, DENIALS, chance),
    }
    found: list[Planted] = []
    counts = dict.fromkeys(WANTED, 0)
    for original in order:
        if len(original.text.split()) not in WORDS or not original.text.rstrip().endswith("."):
            continue
        for kind, change in ways.items():
            if counts[kind] < WANTED[kind] and (changed := change(original.text, chance)) not in ("", original.text):
                counts[kind] += 1
                found.append(_page(original, kind, changed, chance))
                break
    return found


def _page(original: Original, kind: str, changed: str, chance: random.Random) -> Planted:
    language = "de" if original.language.startswith("de") else "en"
    frame = chance.choice(GERMAN_FRAMES if language == "de" else ENGLISH_FRAMES)
    if frame != "{text}":
        for one, other in SYNONYMS:
            changed = re.sub(rf"\b{one}\b", other, changed)
    text = frame.format(text=changed, lower=changed[0].lower() + changed[1:])
    before, behind = FILLERS[language]
    title = chance.choice(TITLES[language])
    return Planted(original, kind, text, title, f"{before} {text} {behind}", frame != "{text}")


def _other_figure(text: str, chance: random.Random) -> str:
    match = MEASURED.search(text)
    if not match:
        return ""
    value = int(match[0].replace(",", ""))
    other = value + max(1, round(value * chance.choice((0.2, 0.5, 1)))) * (chance.choice((1, -1)) if value > 3 else 1)
    return text[: match.start()] + (f"{other:,}" if "," in match[0] else str(other)) + text[match.end() :]


def _other_date(text: str, chance: random.Random) -> str:
    if match := DAY.search(text):
        day, month = match[2] or match[3], match[1] or match[4]
        months = MONTHS if month in MONTHS else MONTHS_DE
        if chance.random() < 0.5:
            new = match[0].replace(day, str(int(day) % 27 + 1))
        else:
            new = match[0].replace(month, months[(months.index(month) + chance.choice((1, 2, 3))) % 12])
        return text[: match.start()] + new + text[match.end() :]
    if match := TIME.search(text):
        return text[: match.start()] + f"{int(match[1]) % 12 + 1}:{match[2]}" + text[match.end() :]
    if len(YEAR.findall(text)) == 1 and (match := YEAR.search(text)):
        return text[: match.start()] + str(int(match[0]) - chance.choice((1, 2, 5))) + text[match.end() :]
    return ""


def _replaced(text: str, ways: Sequence[tuple[str, str]], chance: random.Random) -> str:
    fitting = [(pattern, new) for pattern, new in ways if re.search(pattern, text)]
    if not fitting:
        return ""
    pattern, new = chance.choice(fitting)
    return re.sub(r"\s{2,}", " ", re.sub(pattern, new, text, count=1))

"""Made-up pages of one matter for several terms, years and regulations, and pages that only look like editions."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge.editions.terms import Term, name_term, term_at
from knowledge.models import TermKind

SEED = 23
#: By language: a matter, its sentence with a figure, and the question to it; sentences to fill a page with.
DATA = json.loads((Path(__file__).parent / "data" / "editions.json").read_text("utf-8"))
MATTERS, REGULATIONS, FILLER, FACULTIES = (DATA[name] for name in ("matters", "regulations", "filler", "faculties"))


@dataclass(frozen=True, slots=True)
class Page:
    """A page; those of one `matter` are editions of one another, and `answer` is the figure that no other one has."""

    matter: str
    url: str
    title: str
    text: str
    language: str
    term: Term
    answer: str


@dataclass(frozen=True, slots=True)
class Matter:
    """Editions in order of their terms, and the question to all of them, without its question mark."""

    name: str
    language: str
    question: str
    pages: tuple[Page, ...]
    is_regulations: bool = False


def make_matters(now: int) -> list[Matter]:
    """Make the matters with three editions each: the term before the month `now`, the present one, the one to come."""
    draw = random.Random(SEED)
    found = []
    for language, given in MATTERS.items():
        for number, (title, sentence, question) in enumerate(given):
            now_term = term_at(now)
            if number % 4 == 3:  # by academic years
                begin = (now - 9) // 12 * 12 + 9
                terms = [Term(TermKind.ACADEMIC, begin + 12 * step, begin + 12 * (step + 1)) for step in (-1, 0, 1)]
            else:
                terms = [term_at(now_term.begin + 6 * step) for step in (-1, 0, 1)]
            found.append(_matter(draw, title, sentence, question, language, terms, number))
    for language, title, sentence, question in REGULATIONS:
        year = now // 12
        terms = [Term(TermKind.REGULATIONS, (year - back) * 12, (year - back + 1) * 12) for back in (9, 6, 2)]
        found.append(_matter(draw, title, sentence, question, language, terms, 0))
    return found


def make_decoys(now: int) -> list[Page]:
    """Make pages that look like editions and are none: of two programmes or faculties, two courses, two news."""
    draw = random.Random(SEED + 1)
    found: list[Page] = []
    first, second = term_at(now), term_at(term_at(now).begin - 6)
    for language, (one, other, third) in FACULTIES.items():
        fees, notes = ("Fees", "Notes") if language == "en" else ("Gebühren", "Hinweise")
        for number in range(3):
            for term in (first, second):
                label = _written(term, language)
                same = {"language": language, "term": term}
                subject = (one, other, third)[number]
                following = (other, third, one)[number]
                word = "Faculty of" if language == "en" else "Fakultät für"
                whose = subject if term is first else following
                # Two programmes, a term each.
                found.append(
                    _decoy(
                        draw,
                        f"p-{whose}",
                        f"{fees} {whose} {label}",
                        f"programme/{number}-{_slug(term)}",
                        "",
                        **same,
                    )
                )
                # Two faculties whose addresses and titles are alike but for a number.
                found.append(
                    _decoy(
                        draw,
                        f"f-{whose}",
                        f"{notes} {label}",
                        f"node/{draw.randrange(1000, 9999)}",
                        f"{word} {whose}. ",
                        **same,
                    )
                )
                # Two faculties in folders of their own.
                found.append(
                    _decoy(
                        draw,
                        f"o-{whose}",
                        f"{fees} {label}",
                        f"{whose.lower()}{number}/{_slug(term)}",
                        f"{word} {whose}. ",
                        **same,
                    )
                )
                # Two courses.
                course = number + (1 if term is first else 4)
                found.append(
                    _decoy(draw, f"c{course}", f"Mathematics {course} {label}", f"m/{number}/{_slug(term)}", "", **same)
                )
    return found  # fmt: skip


def ways_to_ask(matter: Matter, number: int, missing: Term) -> Iterator[tuple[str, str, Page | None]]:
    """Yield (kind, question, the page that answers) for a matter."""
    before, present, after = matter.pages
    wanted = {
        "en": " under {}?" if matter.is_regulations else " in {}?",
        "de": " nach {}?" if matter.is_regulations else " im {}?",
    }
    asked = wanted[matter.language]
    yield "no term", f"{matter.question}?", present
    yield "term before", matter.question + asked.format(_short(before.term, number, matter.language)), before
    yield "term to come", matter.question + asked.format(_short(after.term, number + 1, matter.language)), after
    if not matter.is_regulations:
        next_one = {"en": " next semester?", "de": " im nächsten Semester?"}
        if after.term.end - after.term.begin == 6:
            yield "next semester", matter.question + next_one[matter.language], after
        yield "missing term", matter.question + asked.format(_short(missing, number, matter.language)), None


def _matter(
    draw: random.Random,
    title: str,
    sentence: str,
    question: str,
    language: str,
    terms: Sequence[Term],
    number: int,
) -> Matter:
    kept = draw.sample(FILLER[language], 6)
    figures = draw.sample(range(101, 999) if "{figure}" in sentence else range(2, 28), 3)
    pages = []
    for place, (term, figure) in enumerate(zip(terms, figures, strict=True)):
        edited = [each for each in kept if draw.random() > 0.15] or kept[:1]
        if place == 2 and draw.random() > 0.5:
            edited.append(next(each for each in FILLER[language] if each not in kept))
        fact = sentence.format(figure=figure, day=figure)
        name = name_term(term, language) if number % 3 else _written(term, language)
        # The term stands in the title, in the address, or on the cover alone.
        where = number % 5
        heading = f"{title} {name}" if where < 3 else title
        path = f"{_path(title)}-{_slug(term)}" if where != 4 else f"{_path(title)}/{place}"
        cover = "" if where != 4 else (f"Valid: {name}.\n\n" if language == "en" else f"Gültig: {name}.\n\n")
        text = f"# {title}\n\n{cover}{edited[0]} {fact} {' '.join(edited[1:])}"
        answer = fact.split("{")[0].rstrip(".").split(" ")
        pages.append(
            Page(title, f"https://www.uni.example/{language}/{path}", heading, text, language, term, _figure(answer))
        )
    return Matter(title, language, question, tuple(pages), terms[0].is_regulations)  # fmt: skip


def _figure(words: Sequence[str]) -> str:
    place = next(place for place, word in enumerate(words) if word.rstrip(".").isdigit())
    return " ".join(words[place : place + 2])


def _decoy(draw: random.Random, matter: str, title: str, path: str, opening: str, *, language: str, term: Term) -> Page:
    body = " ".join(FILLER[language][:6])
    text = f"# {title}\n\n{opening}{body} ({draw.randrange(1000, 9999)})"
    return Page(f"{language}-{matter}", f"https://www.uni.example/{language}/{path}", title, text, language, term, "")


def _written(term: Term, language: str) -> str:
    return _short(term, 0, language)


def _short(term: Term, number: int, language: str) -> str:
    year = term.begin // 12
    pair = f"{year}/{(year + 1) % 100:02}"
    match str(term.kind):
        case "winter":
            return (f"WS {pair}", f"WiSe {pair}", name_term(term, language))[number % 3]
        case "summer":
            return (f"SS {year}", f"SoSe {year % 100}", name_term(term, language))[number % 3]
        case "academic":
            return pair
    return f"PO {year}"


def _slug(term: Term) -> str:
    return _short(term, 0, "en").lower().replace(" ", "-").replace("/", "-")


def _path(title: str) -> str:
    return title.lower().replace(" ", "-")

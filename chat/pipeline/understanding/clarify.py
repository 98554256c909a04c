"""Asking back: where what was found differs by who asks and the question does not say who does, where several things
have the name that it says, and where a single word stands for several pages."""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.tuning import COMPARED_PASSAGES
from chat.pipeline.verification.units import Unit, split_units
from chat.protocol.answer_events import Choice, Clarify
from chat.protocol.event import Event
from core.terms import distinct_words, figures, stem, stems, topic_words
from knowledge.retrieval.scope import read_kind

MOST_CHOICES = 6
#: The kinds of choices that name a page, and a thing; others are kinds of readers.
TOPIC, NAME = "topic", "name"
#: A single word is asked back if so many pages have a heading about it.
LEAST_TOPICS = 2
#: A name may have so many words that the question does not say, such as the two of "B.Sc.".
MOST_UNSAID = 2
#: The same in another language, or an abbreviation.
IN_BRACKETS = re.compile(r"\([^()]*\)")


def clarifying_facet(context: Context) -> str:
    """Return the kind of tag that decides between the best passages and is not known yet, NAME or TOPIC; else empty."""
    best = context.candidates[:COMPARED_PASSAGES]
    known = {read_kind(tag) for tag in (*context.ask.audience, *context.named)} | set(context.ask.asked_kinds)
    if not best:
        return ""
    # Where the best passage is for everybody, those for some add to it and do not contradict it.
    for kind in dict.fromkeys(read_kind(tag) for tag in best[0].audience):
        if kind not in known and len(_values(best, kind)) > 1 and _differ(best, kind):
            return kind
    if NAME not in known and _names(context):
        return NAME
    return TOPIC if TOPIC not in known and len(_topics(context)) >= LEAST_TOPICS else ""


def mentioned_tags(question: str, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the passages' tags whose value the question names: "in the master's" needs no asking back."""
    asked = distinct_words(question)
    tags = dict.fromkeys(tag for candidate in candidates for tag in candidate.audience)
    named = [tag for tag in tags if distinct_words(write_label(tag)) <= asked]
    kinds = [read_kind(tag) for tag in named]
    return tuple(tag for tag in named if kinds.count(read_kind(tag)) == 1)


def matches_audience(candidate: Candidate, audience: Sequence[str]) -> bool:
    """Return whether a passage concerns who asks, as retrieval's scope has it."""
    known = {read_kind(tag) for tag in audience}
    of_kinds = {read_kind(tag) for tag in candidate.audience} & known
    return all(any(tag in audience for tag in candidate.audience if read_kind(tag) == kind) for kind in of_kinds)


def find_namesakes(question: str, candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of table rows that the question may mean alike, each from another table; empty if at most one.

    Rows of one table are shown together, rows with the same figures say the same, and tables with other columns say
    other things. Only pages in the best one's language are compared, since another language has the names again.
    """
    asked = distinct_words(question)
    tables = [each for each in candidates if each.language == candidates[0].language]
    rows = [(place, row) for place, each in enumerate(tables) for row in _named(asked, each)]
    if not rows:
        return []
    # "Bachelor's programmes" above a table tells its rows from those of another one.
    closeness = [len(asked & distinct_words(f"{row.context} {row.label}")) for _place, row in rows]
    said = [asked & distinct_words(row.label) for _place, row in rows]
    best = max(zip(closeness, map(len, said), strict=True))
    chosen = [row for row, near, words in zip(rows, closeness, said, strict=True) if (near, len(words)) == best]
    names: dict[str, tuple[set[int], set[str]]] = {}
    for place, row in chosen:
        places, numbers = names.setdefault(row.label, (set(), set()))
        places.add(place)
        numbers.update(figures(row.shown))
    found = list(names.values())
    is_apart = all(not one[0] & other[0] for number, one in enumerate(found) for other in found[:number])
    tells_apart = len({frozenset(numbers) for _places, numbers in found}) > 1
    is_one_name = len({frozenset(asked & distinct_words(name)) for name in names}) == 1
    is_one_matter = len({tuple(name for name, _cell in row.cells) for _place, row in chosen}) == 1
    return list(names) if is_apart and tells_apart and is_one_name and is_one_matter else []


def _named(asked: set[str], candidate: Candidate) -> list[Unit]:
    """Return the rows of which the question says the name but for a word or two."""
    units = split_units(candidate.text, candidate.full_title, candidate.heading)
    found = []
    for unit in units:
        words = distinct_words(IN_BRACKETS.sub("", unit.label))
        if len(unit.cells) > 1 and asked & words and len(words - asked) <= MOST_UNSAID:
            found.append(unit)
    return found


async def clarify(context: Context, kind: str) -> AsyncGenerator[Event]:
    values = _choices(context, kind)
    with translation.override(context.ask.language):
        choices = [Choice(write_label(tag), tag) for tag in values[:MOST_CHOICES]]
        choices.append(Choice(_("None of these, or I do not know"), ""))
        text = _question_about(kind)
    yield Clarify(text, tuple(choices), kind, context.turn.question)
    yield context.end(Message.Status.CLARIFYING, Message.Strategy.FIXED)


def stored(event: Clarify) -> dict[str, Any]:
    """Keep the choices with the message, so that the next one can be understood as one of them."""
    return {"kind": event.kind, "question": event.question, "options": [asdict(choice) for choice in event.choices]}


def chosen(text: str, choices: dict[str, Any]) -> Choice | None:
    """Return the choice that a reply to `stored` choices names by label or number, or as the only one it mentions."""
    options = [Choice(**option) for option in choices["options"]]
    said = text.strip().strip(".!").casefold()
    for number, option in enumerate(options, start=1):
        if said in (option.label.casefold(), str(number)):
            return option
    mentioned = [option for option in options if option.tag and distinct_words(option.label) <= distinct_words(text)]
    return mentioned[0] if len(mentioned) == 1 else None


def looked_up(choices: dict[str, Any], choice: Choice) -> str:
    """Return the question that is asked again after a choice of `stored` choices, with the page or name chosen."""
    question = str(choices["question"])
    return f"{question}: {choice.label}" if read_kind(choice.tag) in (TOPIC, NAME) else question


def audience_of(choice: Choice) -> tuple[str, ...]:
    """Return what a choice tells about who asks."""
    return (choice.tag,) if choice.tag and read_kind(choice.tag) not in (TOPIC, NAME) else ()


def write_label(tag: str) -> str:
    """Write a tag's value as people read it."""
    return tag.partition(":")[2].replace("_", " ").strip()


def _choices(context: Context, kind: str) -> list[str]:
    """Return the tags to choose from."""
    if kind == TOPIC:
        return _topics(context)
    if kind == NAME:
        return _names(context)
    return _values(context.candidates, kind)


def _names(context: Context) -> list[str]:
    """Return the names, as tags, that the best passages, and others of their pages, have alike for what is asked."""
    best = context.candidates[:COMPARED_PASSAGES]
    pages, read = {each.document_id for each in best}, {each.passage_id for each in best}
    beside = [each for each in context.found if each.document_id in pages and each.passage_id not in read]
    return [f"{NAME}:{name}" for name in find_namesakes(context.turn.question, [*best, *beside])]


def _topics(context: Context) -> list[str]:
    """Return the titles, as tags, of the pages with a heading about the one word that a question consists of."""
    words = topic_words(context.turn.question)
    if len(words) != 1 or context.turn.question != context.ask.text:
        return []
    word = stem(words[0].lower())
    about = [each for each in context.found if word in stems(each.heading)]
    pages = dict.fromkeys(each.title for each in about)
    return [f"{TOPIC}:{title}" for title in pages]


def _values(candidates: Sequence[Candidate], kind: str) -> list[str]:
    return list(dict.fromkeys(tag for each in candidates for tag in each.audience if read_kind(tag) == kind))


def _differ(candidates: Sequence[Candidate], kind: str) -> bool:
    """Return whether the passages for different readers say different things: other figures, or other words."""
    said: dict[str, set[str]] = {}
    for candidate in candidates:
        for tag in candidate.audience:
            if read_kind(tag) == kind:
                said.setdefault(tag, set()).update(figures(candidate.text) or distinct_words(candidate.text))
    first, *others = said.values()
    return any(first != other for other in others)


def _question_about(kind: str) -> str:
    asked = {
        TOPIC: _("Several pages are about that. Which one do you mean?"),
        NAME: _("There are several of that name. Which one do you mean?"),
        "programme": _("That depends on the programme. Which one is it about?"),
        "degree": _("That depends on the degree. Which one is it about?"),
        "regulation": _("That depends on the version of the regulations. Which one applies to you?"),
        "term": _("That depends on the semester. Which one is it about?"),
        "faculty": _("That depends on the faculty. Which one is it about?"),
        "campus": _("That depends on the place. Which one is it about?"),
    }
    return asked.get(kind) or _("That depends on who asks. Which of these is it about?")

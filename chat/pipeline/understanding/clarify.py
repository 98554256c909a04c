"""Asking back: where what was found differs by who asks and the question does not say who does, where several things
have the name that it says, and where a single word stands for several pages."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.tuning import COMPARED_PASSAGES
from chat.pipeline.understanding.namesakes import find_namesakes
from chat.protocol.events import Choice, Clarify, Event
from core.terms import distinct_words, figures, stem, stems, topic_words
from knowledge.retrieval.scope import read_kind

MOST_CHOICES = 6
#: The kinds of choices that name a page, and a thing; others are kinds of readers.
TOPIC, NAME = "topic", "name"
#: A single word is asked back if so many pages have a heading about it.
LEAST_TOPICS = 2


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

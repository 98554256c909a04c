"""The columns that a report may have: what they are read from, and what their values are."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, FloatField, OuterRef, Subquery
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, JSONObject
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.counts.outcomes import OUTCOMES, with_outcome
from analytics.models import Review
from chat.admin.conversations import REASONS
from chat.models import Citation, Conversation, Feedback, Message
from chat.models.assistants import Language
from core.tables.cells import neutralise
from faqs.importexport.files import printable

Words = Mapping[str, str | Promise]


class Kind(Enum):
    TEXT = auto()
    CODE = auto()  # a word of the program's own, which files for people translate
    CODES = auto()  # a list of them
    NUMBER = auto()
    WHOLE_NUMBER = auto()
    FLAG = auto()
    TIME = auto()
    SOURCES = auto()  # a list of {"n", "title", "heading", "page", "url"}


@dataclass(frozen=True, slots=True)
class Column:
    """`read` makes the expression of a row of answers; `width` is in characters of a sheet. `is_identity` says that it
    tells people apart: only who may see personal text gets it."""

    label: str | Promise
    kind: Kind
    read: Callable[[], Combinable]
    width: int = 14
    words: Words | None = None
    is_identity: bool = False


def _field(name: str) -> Callable[[], Combinable]:
    return lambda: F(name)


def _milliseconds(name: str) -> Callable[[], Combinable]:
    return lambda: Cast(KeyTextTransform(name, "timings_ms"), FloatField())


def _sources() -> Combinable:
    cited = Citation.objects.filter(message=OuterRef("pk")).order_by("n")
    return ArraySubquery(cited.values(said=JSONObject(n="n", title="title", heading="heading", page="page", url="url")))


def _outcome() -> Combinable:
    begun = with_outcome(Conversation.objects.filter(pk=OuterRef("conversation")))
    return Subquery(begun.values("outcome")[:1])


#: Programs rely on keys, types and codes: it goes up when one of them goes or means something else. New ones may come
#: at any time.
SCHEMA_VERSION = 1
#: By key, in the order in which they are offered.
COLUMNS: Mapping[str, Column] = {
    "asked_at": Column(_("asked"), Kind.TIME, _field("question__created_at"), 18),
    "assistant": Column(_("assistant"), Kind.TEXT, _field("conversation__assistant__name"), 18),
    "site": Column(_("page with the chat"), Kind.TEXT, _field("conversation__site__name"), 18),
    "language": Column(_("language"), Kind.CODE, _field("question__language"), 12, dict(Language.choices)),
    "question": Column(_("question"), Kind.TEXT, _field("question__text"), 50),
    "rewritten": Column(_("looked up as"), Kind.TEXT, _field("rewritten"), 50),
    "answer": Column(_("answer"), Kind.TEXT, _field("text"), 70),
    "sources": Column(_("sources"), Kind.SOURCES, _sources, 50),
    "faq": Column(_("FAQ"), Kind.TEXT, _field("faq__question"), 40),
    "status": Column(_("what became of the answer"), Kind.CODE, _field("status"), 24, dict(Message.Status.choices)),
    "abstained": Column(_("no answer given"), Kind.FLAG, _field("status"), 12),
    "reason": Column(_("why there is no answer"), Kind.CODE, _field("reason"), 40, REASONS),
    "thumbs": Column(_("thumbs (1 up, −1 down)"), Kind.WHOLE_NUMBER, _field("feedback__value"), 12),
    "reasons": Column(
        _("reasons of the rating"), Kind.CODES, _field("feedback__reasons"), 24, dict(Feedback.Reason.choices)
    ),
    "comment": Column(_("student’s comment"), Kind.TEXT, _field("feedback__comment"), 40),
    "stars": Column(_("stars of the conversation"), Kind.WHOLE_NUMBER, _field("conversation__stars"), 12),
    "outcome": Column(_("what became of the conversation"), Kind.CODE, _outcome, 28, OUTCOMES),
    "contacts": Column(_("contacts used"), Kind.CODES, _field("contacts_used"), 24, dict(Message.Contact.choices)),
    "verdict": Column(
        _("verdict of the review"), Kind.CODE, _field("review__verdict"), 24, dict(Review.Verdict.choices)
    ),
    "profile": Column(_("retrieval profile"), Kind.TEXT, _field("profile"), 16),
    "prompt": Column(_("version of the instructions"), Kind.TEXT, _field("prompt"), 12),
    "model": Column(_("model"), Kind.TEXT, _field("model"), 24),
    "first_token_ms": Column(_("first word after (ms)"), Kind.NUMBER, _milliseconds("first_token"), 14),
    "total_ms": Column(_("whole answer after (ms)"), Kind.NUMBER, _milliseconds("total"), 14),
    "retrieval_ms": Column(_("searching (ms)"), Kind.NUMBER, _milliseconds("retrieval"), 14),
    "conversation": Column(_("conversation"), Kind.TEXT, _field("conversation_id"), 38, is_identity=True),
    "visitor": Column(_("visitor"), Kind.TEXT, _field("conversation__visitor_id"), 38, is_identity=True),
}
#: Ticked in a new report.
USUAL = ("asked_at", "assistant", "language", "question", "answer", "sources", "status", "thumbs", "comment", "verdict")


def typed(key: str) -> Callable[[Any], Any]:
    """Return the function that makes a typed value of what was read.

    JSON can hold the value, except for times; None if there is nothing.
    """
    if key == "abstained":
        return lambda read: read == Message.Status.ABSTAINED
    if COLUMNS[key].is_identity:
        return str
    match COLUMNS[key].kind:
        case Kind.SOURCES:
            return lambda read: [json.loads(source) for source in read] or None
        case Kind.NUMBER | Kind.WHOLE_NUMBER | Kind.TIME:
            return lambda read: read
    return lambda read: read or None


Cell = str | int | float | bool | datetime | None
#: What a cell of Excel holds at most.
LONGEST = 32_767
#: Besides control characters: XML holds none of these either.
NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def cell_formatter(key: str) -> Callable[[Any], Cell]:
    """Return the function that makes cells of a sheet of a value, in the active language.

    Times are local and without their zone, which Excel does not know.
    """
    column, zone = COLUMNS[key], timezone.get_default_timezone()
    make: Callable[[Any], Cell]
    match column.kind:
        case Kind.TIME:
            make = lambda value: value.astimezone(zone).replace(tzinfo=None)  # noqa: E731
        case Kind.NUMBER | Kind.WHOLE_NUMBER | Kind.FLAG:
            return lambda value: value
        case Kind.SOURCES:
            page = gettext("page %(page)s")
            make = lambda value: _text("\n".join(_source(source, page) for source in value))  # noqa: E731
        case Kind.CODES:
            words = _words(column)
            make = lambda value: _text(", ".join(words.get(code, code) for code in value))  # noqa: E731
        case Kind.CODE:
            words = _words(column)
            make = lambda value: _text(words.get(value, value))  # noqa: E731
        case Kind.TEXT:
            make = _text
    return lambda value: None if value is None else make(value)


def csv_cell_formatter(key: str) -> Callable[[Any], str | int | float]:
    """Return the same as `cell_formatter` for a file that knows texts and numbers alone."""
    cell_of = cell_formatter(key)
    match COLUMNS[key].kind:
        case Kind.FLAG:
            said = {True: gettext("yes"), False: gettext("no")}
            return lambda value: said[value]
        case Kind.TIME:
            return lambda value: cell_of(value).isoformat(" ", "seconds")  # type: ignore[union-attr]
    return lambda value: "" if value is None else cell_of(value)  # type: ignore[return-value]


def json_value(value: Any) -> Any:
    """Convert a value for JSON: a time keeps its zone."""
    return timezone.localtime(value).isoformat() if isinstance(value, datetime) else value


def heading(key: str) -> str:
    return str(COLUMNS[key].label)


def _words(column: Column) -> dict[str, str]:
    return {code: str(said) for code, said in (column.words or {}).items()}


def _source(source: dict[str, Any], page: str) -> str:
    place = " – ".join(part for part in (source["title"], source["heading"]) if part)
    if source["page"]:
        place += ", " + page % {"page": source["page"]}
    return f"[{source['n']}] {place} {source['url']}"


def _text(text: str) -> str:
    if not text.isprintable():  # which most are
        text = NO_CHARACTERS.sub("", printable(text))
    text = neutralise(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

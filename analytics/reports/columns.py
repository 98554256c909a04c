"""The columns that a report may have: what they are read from, and what their values are."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, FloatField, OuterRef
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, JSONObject
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.models import Review
from chat.admin.labels import REASONS
from chat.models import Citation, Feedback, Message
from chat.models.assistants import Language

Words = Mapping[str, str | Promise]


class Kind(Enum):
    TEXT = auto()
    CODE = auto()  # a word of the program's own, which files for people translate
    CODES = auto()  # a list of them
    NUMBER = auto()
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


#: By key, in the order in which they are offered.
COLUMNS: Mapping[str, Column] = {
    "asked_at": Column(_("asked"), Kind.TIME, _field("question__created_at"), 18),
    "assistant": Column(_("assistant"), Kind.TEXT, _field("conversation__assistant__name"), 18),
    "site": Column(_("site"), Kind.TEXT, _field("conversation__site__name"), 18),
    "language": Column(_("language"), Kind.CODE, _field("question__language"), 12, dict(Language.choices)),
    "question": Column(_("question"), Kind.TEXT, _field("question__text"), 50),
    "rewritten": Column(_("looked up as"), Kind.TEXT, _field("rewritten"), 50),
    "answer": Column(_("answer"), Kind.TEXT, _field("text"), 70),
    "sources": Column(_("sources"), Kind.SOURCES, _sources, 50),
    "faq": Column(_("FAQ"), Kind.TEXT, _field("faq__question"), 40),
    "status": Column(_("outcome"), Kind.CODE, _field("status"), 14, dict(Message.Status.choices)),
    "abstained": Column(_("abstained"), Kind.FLAG, _field("status"), 12),
    "reason": Column(_("why there is no answer"), Kind.CODE, _field("reason"), 40, REASONS),
    "thumbs": Column(_("thumbs (1 up, −1 down)"), Kind.NUMBER, _field("feedback__value"), 12),
    "reasons": Column(
        _("reasons of the rating"), Kind.CODES, _field("feedback__reasons"), 24, dict(Feedback.Reason.choices)
    ),
    "comment": Column(_("student’s comment"), Kind.TEXT, _field("feedback__comment"), 40),
    "stars": Column(_("stars of the conversation"), Kind.NUMBER, _field("conversation__stars"), 12),
    "verdict": Column(
        _("verdict of the review"), Kind.CODE, _field("review__verdict"), 24, dict(Review.Verdict.choices)
    ),
    "profile": Column(_("retrieval profile"), Kind.TEXT, _field("profile"), 16),
    "prompt": Column(_("prompt version"), Kind.TEXT, _field("prompt"), 12),
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
    """Makes of what is read the column's value, typed: as JSON can hold it, but for times; None where there is
    nothing."""
    if key == "abstained":
        return lambda read: read == Message.Status.ABSTAINED
    if COLUMNS[key].is_identity:
        return str
    match COLUMNS[key].kind:
        case Kind.SOURCES:
            return lambda read: [json.loads(source) for source in read] or None
        case Kind.NUMBER | Kind.TIME:
            return lambda read: read
    return lambda read: read or None

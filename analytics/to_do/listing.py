"""Rows of the one list: cases that wait longest, topics by how often they are asked, single answers, newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import Left
from django.http import QueryDict
from django.utils import timezone

from analytics.inbox.items import CLOSED, TO_DO, Item, listed_alone
from analytics.inbox.preferences import assigned_to
from analytics.models import Gap, Review
from chat.models import Case, Message

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: States of the one list, and which cases, topics and answers have them.
STATES: dict[str, tuple[str, Sequence[str], str]] = {
    "to_do": (Case.State.OPEN, TO_DO, Review.State.OPEN),
    "answered": (Case.State.REPLIED, (Gap.State.ANSWERED,), Review.State.ANSWERED),
    "done": (Case.State.CLOSED, CLOSED, Review.State.DONE),
}
KINDS = ("cases", "topics", "answers")
#: Late cases first, then those that wait longest; what is over, newest first.
CASE_ORDER = {
    "to_do": (F("raised_at").asc(nulls_last=True), "state_at", "pk"),
    "answered": ("-state_at", "-pk"),
    "done": ("-state_at", "-pk"),
}
NOTHING: Mapping[str, int] = {"rows": 0, "overdue": 0}
#: Rows of each kind that a search lists, and the list of what is done: counting all that have a common word would read
#: every question, and all that is done grows with the years.
FOUND = 1_000
ME, NOBODY = "me", "nobody"
#: Characters of an answer's question that the list shows and a search text may have.
OPENING, SEARCHED = 120, 200


@dataclass(frozen=True, slots=True)
class Chosen:
    """Filters of the list; an unknown value filters nothing."""

    state: str = "to_do"
    kind: str = ""
    who: str = ""
    assistant: int | None = None
    reason: str = ""
    is_overdue: bool = False
    is_late: bool = False
    text: str = ""


def _number(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) < 19 else None


def read_choice(given: QueryDict) -> Chosen:
    """Read the list's address."""
    state, kind, who, reason = (given.get(name, "") for name in ("state", "kind", "who", "reason"))
    return Chosen(
        state=state if state in STATES else "to_do",
        kind=kind if kind in KINDS else "",
        who=who if who in {ME, NOBODY} or _number(who) is not None else "",
        assistant=_number(given.get("assistant", "")),
        reason=reason if reason in Review.Reason.values else "",
        is_overdue=given.get("due") == "overdue",
        is_late=given.get("due") == "late",
        text=given.get("q", "").strip().replace("\0", "")[:SEARCHED],
    )


@dataclass(slots=True)
class Rows(Sequence[Item]):
    """The cases, the topics and the answers: counted and sliced as one list, each part by its own query.

    Of each part `most` rows are listed, if that is set.
    """

    cases: QuerySet[Case]
    topics: QuerySet[Gap]
    answers: QuerySet[Review]
    most: int | None = None
    _counts: Sequence[Mapping[str, int]] = field(default=(), init=False)

    def __len__(self) -> int:
        return sum(self._listed(part) for part in self._counted())

    def _listed(self, counted: Mapping[str, int]) -> int:
        return counted["rows"] if self.most is None else min(counted["rows"], self.most)

    @property
    def is_cut(self) -> bool:
        """Return whether there are more rows than are listed."""
        return any(part["rows"] > self._listed(part) for part in self._counted())

    @property
    def overdue(self) -> int:
        """Return how many of them were due before today."""
        return sum(part["overdue"] for part in self._counted())

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            raise TypeError("Ask for a page, not for one row.")
        first, last, _step = place.indices(len(self))
        page: list[Item] = []
        for rows, counted in zip(self._parts, self._counted(), strict=True):
            listed = self._listed(counted)
            if first < listed and last > 0:
                page += rows[max(first, 0) : min(last, listed)]
            first, last = first - listed, last - listed
        return page

    @property
    def _parts(self) -> tuple[QuerySet[Any], ...]:
        return self.cases, self.topics, self.answers

    def _counted(self) -> Sequence[Mapping[str, int]]:
        if not self._counts:
            late = Q(due_on__lt=timezone.localdate())
            counted = [
                self._up_to_most(part)
                .order_by()
                .annotate(part=Value(place))
                .values("part")
                .annotate(rows=Count("pk"), overdue=Count("pk", filter=late))
                for place, part in enumerate(self._parts)
            ]
            found = {each["part"]: each for each in counted[0].union(*counted[1:], all=True)}
            self._counts = [found.get(place, NOTHING) for place in range(len(counted))]
        return self._counts

    def _up_to_most(self, part: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that are counted: one more than is listed tells that there are more."""
        if self.most is None:
            return part
        rows: QuerySet[Any] = part.model._default_manager.filter(pk__in=part.values("pk")[: self.most + 1])
        return rows


def find_rows(chosen: Chosen, user: "User") -> Rows:
    """Return the rows that the member may see, narrowed to what is chosen.

    An answer whose topic has the same state stands under its topic alone, unless somebody is to look after the answer
    itself, or the list of both kinds is narrowed to a reason, which topics do not have.
    """
    case_state, gap_states, review_state = STATES[chosen.state]
    cases = Case.objects.visible_to(user).filter(state=case_state, merged_into=None)
    topics = Gap.objects.visible_to(user).filter(merged_into=None, state__in=gap_states)
    answers = Review.objects.visible_to(user).filter(state=review_state)
    if chosen.state != "done" and (chosen.kind == "answers" or not chosen.reason):
        answers = listed_alone(answers, gap_states)
    if chosen.text:
        cases = cases.filter(question__icontains=chosen.text)
        topics = topics.filter(name__icontains=chosen.text)
        answers = answers.filter(message__question__text__icontains=chosen.text)
    if chosen.reason:
        cases, topics, answers = cases.none(), topics.none(), answers.filter(reasons__contains=[chosen.reason])
    if chosen.is_late:
        cases, topics, answers = cases.exclude(raised_at=None), topics.none(), answers.none()
    if chosen.kind not in {"", "cases"} or not may_see(user, "chat.case"):
        cases = cases.none()
    if chosen.kind not in {"", "topics"} or not may_see(user, "analytics.gap"):
        topics = topics.none()
    if chosen.kind not in {"", "answers"} or not may_see(user, "analytics.review"):
        answers = answers.none()
    condition = _condition(chosen, user)
    return Rows(
        _in_order(_with_offices(cases.filter(condition)), chosen, *CASE_ORDER[chosen.state]),
        _in_order(_with_names(topics.filter(condition)), chosen, "-weight", "pk"),
        _in_order(_with_openings(answers.filter(condition)), chosen, "-asked_at", "-pk"),
        most=FOUND if chosen.text or chosen.state == "done" else None,
    )


def may_see(user: "User", model: str) -> bool:
    """Return whether the member may view rows of this model, as "analytics.gap"."""
    app, name = model.split(".")
    return user.has_perm(f"{app}.view_{name}") or user.has_perm(f"{app}.change_{name}")


def _condition(chosen: Chosen, user: "User") -> Q:
    condition = Q()
    if chosen.who == ME:
        condition &= assigned_to(user)
    elif chosen.who == NOBODY:
        condition &= Q(assigned_to=None)
    elif chosen.who:
        condition &= Q(assigned_to=int(chosen.who))
    if chosen.assistant is not None:
        condition &= Q(assistant=chosen.assistant)
    if chosen.is_overdue:
        condition &= Q(due_on__lt=timezone.localdate())
    return condition


def _in_order(rows: QuerySet[Any], chosen: Chosen, *order: str | OrderBy) -> QuerySet[Any]:
    """Put what is due soonest first where one's own or overdue items are listed, which are few."""
    return rows.order_by(*(["due_on"] if chosen.who or chosen.is_overdue else []), *order)


def _with_offices(cases: QuerySet[Case]) -> QuerySet[Case]:
    return cases.select_related("assistant", "office", "assigned_to")


def _with_names(topics: QuerySet[Gap]) -> QuerySet[Gap]:
    rows = topics.select_related("assistant", "assigned_to", "faq", "answered_by_faq", "answered_by_document")
    return rows.defer("centroid", "answered_by_document__text")


def _with_openings(answers: QuerySet[Review]) -> QuerySet[Review]:
    # Not joined: who only counts the rows would read 100,000 messages.
    asked = Message.objects.filter(answer=OuterRef("message")).values(begins=Left("text", OPENING))
    rows = answers.select_related("assistant", "assigned_to", "done_by")
    return rows.annotate(question_begins=Subquery(asked))

"""The answers that a report is about, and one row each."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import EmptyResultSet
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable

from analytics.counts.daily import find_day_bounds
from analytics.models import Topic
from analytics.periods import Period
from analytics.reports.columns import COLUMNS
from analytics.reports.definition import NO_VERDICT, Definition, Thumbs
from analytics.reports.permissions import Rights
from chat.models import Message

#: Rows that are held at once.
BATCH = 1_000
#: A group of answers: by whom, where, and in what language it was asked.
GROUP = ("conversation__assistant", "conversation__site", "question__language")
THUMBS = {
    Thumbs.UP: Q(feedback__value=1),
    Thumbs.DOWN: Q(feedback__value=-1),
    Thumbs.NONE: Q(feedback=None),
}
#: What became of the rows' conversations. Only read where a report has it.
OUTCOME = "outcome"
#: What masking reads besides the columns: all that the student has said by then, and how the answer was made.
SAID, MADE_BY = "said", "made_by"
#: The columns of a student's own words.
OWN_WORDS = ("question", "rewritten", "comment")
Row = dict[str, Any]
Group = tuple[int | None, int | None, str]


@dataclass(frozen=True, slots=True)
class Extent:
    """Holds what may be published (`analytics.reports.groups`): `rows` of groups with at least `smallest` visitors.

    Of others nothing is known, not even whether there are any: narrowed again and again, their number would tell of
    single people.

    `suppressed` are, by such a group, the columns of opinions that are empty in its rows: fewer visitors gave them, or
    they would tell of a group in which fewer did.
    """

    rows: int
    smallest: int
    suppressed: Mapping[Group, frozenset[str]]


@contextmanager
def snapshot(alias: str) -> Iterator[BaseDatabaseWrapper]:
    """Open a connection to a database of the settings, on which everything stays as it was at its first statement.

    A group cannot shrink between counting and writing. A server-side cursor needs the open transaction, also behind
    PgBouncer.
    """
    own = connections[alias].copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield own
    finally:
        if own.connection is not None:
            own.rollback()
        own.close()


def answers_in(period: Period, rights: Rights, *, with_outcome: bool = False) -> QuerySet[Message]:
    """Return the finished answers of a period that somebody with these rights may see, whatever their number.

    `with_outcome` they have `became`: what became of their conversation.
    """
    begins, ends = find_day_bounds(period.first)[0], find_day_bounds(period.last)[1]
    found = Message.objects.filter(role=Message.Role.ASSISTANT, question__isnull=False).without_help()
    found = found.filter(created_at__gte=begins, created_at__lt=ends).exclude(status=Message.Status.GENERATING)
    if not rights.is_whole:
        found = found.filter(conversation__assistant__in=rights.assistants)
    return found.annotate(became=COLUMNS[OUTCOME].read()) if with_outcome else found


def narrowings(definition: Definition) -> dict[str, Q]:
    """Return what the answers are narrowed by besides assistant, site and language, by the field of the definition."""
    found: dict[str, Q] = {}
    if definition.statuses:
        found["statuses"] = Q(status__in=definition.statuses)
    if definition.thumbs:
        found["thumbs"] = THUMBS[Thumbs(definition.thumbs)]
    if definition.verdict == NO_VERDICT:
        found["verdict"] = Q(review=None) | Q(review__verdict="")
    elif definition.verdict:
        found["verdict"] = Q(review__verdict=definition.verdict)
    if definition.topics:
        found["topics"] = Q(question__topic_question__topic__in=_topics(definition.topics))
    if definition.outcomes:
        found["outcomes"] = Q(became__in=definition.outcomes)
    return found


def _topics(ids: Collection[int]) -> QuerySet[Topic, Any]:
    """Return the ids of topics: one that was joined to another one stands for that one."""
    return Topic.objects.filter(Q(pk__in=ids) | Q(merged__in=ids)).values("pk")


def chosen(definition: Definition, period: Period, rights: Rights) -> QuerySet[Message]:
    """Return the answers that the definition chooses, whatever their number."""
    found = answers_in(period, rights, with_outcome=bool(definition.outcomes))
    if definition.assistants:
        found = found.filter(conversation__assistant__in=definition.assistants)
    if definition.site is not None:
        found = found.filter(conversation__site=definition.site)
    if definition.language:
        found = found.filter(question__language=definition.language)
    return found.filter(*narrowings(definition).values())


def iterate_rows(
    answers: QuerySet[Message],
    columns: Sequence[str],
    extent: Extent,
    rights: Rights,
    *,
    using: BaseDatabaseWrapper = connection,
    most: int | None = None,
) -> Iterator[list[Row]]:
    """Yield the rows of the extent's groups, oldest first, in batches.

    `using` a `snapshot` they are read as they are needed. A row has, by key, what its columns and masking need.
    """
    if not extent.suppressed:
        return
    if rights.smallest > 1:
        answers = answers.filter(reduce(or_, map(_is_group, extent.suppressed)))
    reads = {key: COLUMNS[key].read() for key in columns} | ({} if rights.sees_personal_text else _for_masking(columns))
    reads |= {lookup: F(lookup) for lookup in GROUP} if any(extent.suppressed.values()) else {}
    named = {f"report_{name}": expression for name, expression in reads.items()}
    found = answers.order_by("created_at", "pk").annotate(**named).values_list(*named)

    def to_row(values: Sequence[Any]) -> Row:
        row = dict(zip(reads, values, strict=True))
        return _without_opinions(row, extent) if GROUP[0] in row else row

    if most is not None:
        yield [to_row(values) for values in fetch(found[:most], using)]
        return
    sql, parameters = _compiled(found, using)
    with using.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while batch := cursor.fetchmany(BATCH):
            yield [to_row(values) for values in batch]


def _without_opinions(row: Row, extent: Extent) -> Row:
    """Empty the opinions that few visitors of the row's group gave."""
    assistant, site, language = (row[lookup] for lookup in GROUP)
    for column in extent.suppressed[assistant, site, language]:
        if column in row:
            row[column] = None
    return row


def _for_masking(columns: Sequence[str]) -> dict[str, Combinable]:
    """Return what the masking needs: a student may repeat personal data later."""
    if not {"answer", *OWN_WORDS}.intersection(columns):
        return {}
    said = Message.objects.filter(
        conversation=OuterRef("conversation"), role=Message.Role.USER, pk__lte=OuterRef("question")
    )
    return {SAID: ArraySubquery(said.order_by("pk").values("text")), MADE_BY: F("strategy")}


def _is_group(group: Group) -> Q:
    """Filter for one group; a deleted assistant or site is None."""
    is_it = Q()
    for lookup, value in zip(GROUP, group, strict=True):
        is_it &= Q(**{f"{lookup}__isnull": True}) if value is None else Q(**{lookup: value})
    return is_it


def _compiled(found: QuerySet[Any, Any], using: BaseDatabaseWrapper) -> tuple[str, Any]:
    sql, parameters = found.query.get_compiler(connection=using).as_sql()
    return sql, parameters


def fetch(found: QuerySet[Any, Any], using: BaseDatabaseWrapper) -> list[Any]:
    """Read all rows on a connection."""
    try:
        sql, parameters = _compiled(found, using)
    except EmptyResultSet:  # as for somebody without a team
        return []
    with using.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())

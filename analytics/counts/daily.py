"""One local day, counted from the rows of its conversations; a handful of queries however many they are."""

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, FloatField, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, ExtractHour
from django.utils import timezone

from analytics.counts.bins import bin_of
from analytics.counts.cases import count_cases
from analytics.counts.outcomes import with_outcome
from analytics.models import CaseCount, DocumentCount, FAQCount, UsageCount
from analytics.models.counts import Counted
from chat.models import Citation, Conversation, Feedback, HeldBackSentence, Message

#: Whose counts they are: assistant, site, language.
Group = tuple[int | None, int | None, str]
WHOSE = ("conversation__assistant", "conversation__site", "language")
#: As `WHOSE`, from a citation or a held-back sentence.
WHOSE_OF_PART = tuple(f"message__{name}" for name in WHOSE)
VISITOR = "conversation__visitor_id"
REASONS = tuple(Feedback.Reason.values)
#: What an answer's row holds a number of.
SUMMED = ("prompt_tokens", "answer_tokens", "sentences_shown", "sentences_quoted", "sentences_left_out")
CONTACTS = {f"contact_{kind}": kind for kind in Message.Contact.values}
STATUSES = {
    "answered": Message.Status.COMPLETE,
    "abstained": Message.Status.ABSTAINED,
    "failed": Message.Status.FAILED,
    "stopped": Message.Status.STOPPED,
    "asked_back": Message.Status.CLARIFYING,
}


@dataclass(frozen=True, slots=True)
class Day:
    """The counts of a day, not saved yet."""

    usage: list[UsageCount]
    documents: list[DocumentCount]
    faqs: list[FAQCount]
    cases: list[CaseCount]


def of_others(lookup: str, without: Collection[int | None]) -> Q:
    """Return whose assistant, at `lookup`, is none of these; a deleted assistant's is None."""
    is_one = Q(**{f"{lookup}__in": [assistant for assistant in without if assistant is not None]})
    if None in without:
        return ~is_one & Q(**{f"{lookup}__isnull": False})
    return ~is_one | Q(**{f"{lookup}__isnull": True})


def find_day_bounds(day: datetime.date) -> tuple[datetime.datetime, datetime.datetime]:
    """Return when the local day and the next one begin: 23 or 25 hours apart if clocks are changed."""
    zone = timezone.get_default_timezone()
    begins = (datetime.datetime.combine(each, datetime.time(), zone) for each in (day, day + datetime.timedelta(1)))
    start, end = begins
    return start, end


def count_day(day: datetime.date, *, without: Collection[int | None] = ()) -> Day:
    """Count a day again; `without` are the assistants that are left out."""
    start, end = find_day_bounds(day)
    made = Q(created_at__gte=start, created_at__lt=end)
    conversations = Conversation.objects.filter(made & of_others("assistant", without))
    messages = Message.objects.filter(made & of_others("conversation__assistant", without))
    of_newcomers = messages.filter(
        conversation__visitor__consented_at__gte=start, conversation__visitor__consented_at__lt=end
    )
    usage: dict[Group, UsageCount] = {}

    def row(group: Group) -> UsageCount:
        if group not in usage:
            usage[group] = UsageCount(**_whose(day, group))
        return usage[group]

    _count_messages(messages, row)
    _count_newcomers(of_newcomers, row)
    _count_times(messages, row)
    _count_reasons(messages, row)
    _count_newcomers_reasons(of_newcomers, row)
    _count_judgements(messages, row)
    _count_conversations(conversations, row)
    return Day(
        list(usage.values()),
        _documents(messages, of_newcomers, day),
        _faqs(messages, of_newcomers, day),
        count_cases(start, end, day, of_others("assistant", without)),
    )


def _whose(day: datetime.date, group: Group) -> dict[str, Any]:
    assistant, site, language = group
    return {
        "span": Counted.Span.DAY,
        "day": day,
        "assistant_id": assistant,
        "site_id": site,
        "language": language,
    }


def _count_messages(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    answers = Q(role=Message.Role.ASSISTANT)
    counts = {
        "visitors": Count("conversation__visitor", distinct=True),
        "messages": Count("pk"),
        "questions": Count("pk", filter=Q(role=Message.Role.USER)),
        **{name: Count("pk", filter=answers & Q(status=status)) for name, status in STATUSES.items()},
        "thumbs_up": Count("pk", filter=Q(feedback__value=1)),
        "thumbs_down": Count("pk", filter=Q(feedback__value=-1)),
        **{name: Count("pk", filter=Q(contacts_used__contains=[kind])) for name, kind in CONTACTS.items()},
        **{name: Coalesce(Sum(name), 0) for name in SUMMED},
    }
    for assistant, site, language, *found in _grouped(messages, WHOSE, counts):
        counted = row((assistant, site, language))
        for name, count in zip(counts, found, strict=True):
            setattr(counted, name, count)
        counted.busiest = counted.visitors
    for *group, at, count in _grouped(_asked(messages), (*WHOSE, "hour"), {"asked": Count("pk")}):
        row(_group(group)).hours[at] = count


def _count_newcomers(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    """Count newcomers, each in the row of the first question; `messages` are theirs."""
    first = _asked(_firsts(messages.filter(role=Message.Role.USER)))
    for *group, at, count in _grouped(first, (*WHOSE, "hour"), {"who": Count("pk")}):
        counted = row(_group(group))
        counted.newcomers += count
        counted.newcomers_by_hour[at] = count


def _asked(messages: QuerySet[Message]) -> QuerySet[Message]:
    hour = ExtractHour("created_at", tzinfo=timezone.get_default_timezone())
    return messages.filter(role=Message.Role.USER).annotate(hour=hour)


def _count_times(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    for name in ("first_token", "total"):
        time = Cast(KeyTextTransform(name, "timings_ms"), FloatField())
        timed = messages.filter(**{f"timings_ms__{name}__isnull": False}).annotate(time=time, held=bin_of("time"))
        for *group, place_held, count in _grouped(timed, (*WHOSE, "held"), {"timed": Count("pk")}):
            getattr(row(_group(group)), name)[place_held] = count


def _count_reasons(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    counts = {
        f"why_{number}": Count("pk", filter=Q(feedback__reasons__contains=[reason]))
        for number, reason in enumerate(REASONS)
    }
    rated = messages.filter(feedback__value=-1).exclude(feedback__reasons=[])
    for assistant, site, language, *found in _grouped(rated, WHOSE, counts):
        row((assistant, site, language)).reasons = found


def _count_newcomers_reasons(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    """Count everybody once for each reason."""
    rated = messages.filter(feedback__value=-1).exclude(feedback__reasons=[]).order_by("created_at", "pk")
    seen = set()
    for *group, visitor, given in rated.values_list(*WHOSE, VISITOR, "feedback__reasons"):
        for place, reason in enumerate(REASONS):
            if reason in given and (visitor, reason) not in seen:
                seen.add((visitor, reason))
                row(_group(group)).newcomers_by_reason[place] += 1


def _count_judgements(messages: QuerySet[Message], row: Callable[[Group], UsageCount]) -> None:
    """Count what staff found of the sentences that were held back from these messages."""
    judged = HeldBackSentence.objects.filter(message__in=messages.values("pk")).exclude(verdict="")
    counts = {verdict: Count("pk", filter=Q(verdict=verdict)) for verdict in HeldBackSentence.Verdict.values}
    for *group, rightly, wrongly in _grouped(judged, WHOSE_OF_PART, counts):
        counted = row(_group(group))
        counted.held_back_rightly, counted.held_back_wrongly = rightly, wrongly


def _count_conversations(conversations: QuerySet[Conversation], row: Callable[[Group], UsageCount]) -> None:
    """Count conversations and what became of them, each in the language of its first message."""
    first = Message.objects.filter(conversation=OuterRef("pk")).order_by("pk").values("language")[:1]
    begun = conversations.annotate(spoken=Coalesce(Subquery(first), Value("")))
    whose = ("assistant", "site", "spoken")
    counts = {"begun": Count("pk"), "rated": Count("stars"), "given": Coalesce(Sum("stars"), 0)}
    for *group, count, ratings, stars in _grouped(begun, whose, counts):
        counted = row(_group(group))
        counted.conversations, counted.ratings, counted.stars = count, ratings, stars
    for *group, outcome, count in _grouped(with_outcome(begun), (*whose, "outcome"), {"ended": Count("pk")}):
        if outcome:
            setattr(row(_group(group)), outcome, count)


def _documents(messages: QuerySet[Message], of_newcomers: QuerySet[Message], day: datetime.date) -> list[DocumentCount]:
    cited = Citation.objects.filter(message__in=messages.values("pk"), document__isnull=False)
    whose = (*WHOSE_OF_PART, "document_id")
    counts = {
        "answers": Count("message", distinct=True),
        "who": Count("message__conversation__visitor", distinct=True),
    }
    first = _firsts(cited.filter(message__in=of_newcomers.values("pk")), "document_id", by="message__")
    new = _numbers(first, whose)
    return [
        DocumentCount(
            **_whose(day, _group(group)),
            document_id=document,
            answers=answers,
            visitors=visitors,
            busiest=visitors,
            newcomers=new.get((*group, document), 0),
        )
        for *group, document, answers, visitors in _grouped(cited, whose, counts)
    ]


def _faqs(messages: QuerySet[Message], of_newcomers: QuerySet[Message], day: datetime.date) -> list[FAQCount]:
    steered, whose = Q(faq__isnull=False), (*WHOSE, "faq_id")
    up, down = Q(feedback__value=1), Q(feedback__value=-1)
    counts = {
        "answers": Count("pk"),
        "up": Count("pk", filter=up),
        "down": Count("pk", filter=down),
        "who": Count("conversation__visitor", distinct=True),
    }
    new, new_up, new_down = (
        _numbers(_firsts(of_newcomers.filter(steered & rated), "faq_id"), whose) for rated in (Q(), up, down)
    )
    return [
        FAQCount(
            **_whose(day, _group(group)),
            faq_id=faq,
            answers=answers,
            thumbs_up=thumbs_up,
            thumbs_down=thumbs_down,
            visitors=visitors,
            busiest=visitors,
            newcomers=new.get((*group, faq), 0),
            newcomers_up=new_up.get((*group, faq), 0),
            newcomers_down=new_down.get((*group, faq), 0),
        )
        for *group, faq, answers, thumbs_up, thumbs_down, visitors in _grouped(messages.filter(steered), whose, counts)
    ]


def _firsts(rows: QuerySet[Any], *of: str, by: str = "") -> QuerySet[Any]:
    """Return the first row of each visitor, of each of `of`; `by` leads from a row to its message."""
    people = (*of, f"{by}{VISITOR}")
    first = rows.order_by(*people, f"{by}created_at", "pk").distinct(*people)
    found: QuerySet[Any] = rows.model._default_manager.filter(pk__in=first.values("pk"))
    return found


def _numbers(rows: QuerySet[Any], whose: Sequence[str]) -> dict[tuple[Any, ...], int]:
    return {tuple(group): count for *group, count in _grouped(rows, whose, {"rows": Count("pk")})}


def _grouped(rows: QuerySet[Any], whose: Sequence[str], counts: Mapping[str, Any]) -> Iterable[tuple[Any, ...]]:
    """Return the groups' values, then their counts."""
    found = rows.order_by().values(*whose).annotate(**{f"n_{name}": count for name, count in counts.items()})
    listed: Iterable[tuple[Any, ...]] = found.values_list(*whose, *(f"n_{name}" for name in counts))
    return listed


def _group(values: Sequence[Any]) -> Group:
    assistant, site, language = values
    return assistant, site, language

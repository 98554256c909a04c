"""What the counts promise: they equal what counting the rows themselves gives, whatever happened to those."""

import datetime
import importlib
import math
from collections import defaultdict
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analytics.counts.refresh import count_changed, freeze, local_days
from analytics.histograms import ACCURACY, BINS, FIRST_MS, GROWTH, quantile
from analytics.models import ChangedDay, DocumentCount, FAQCount, UsageCount
from chat.conversations.feedback import use_contact
from chat.models import Citation, Conversation, Feedback, Message, Visitor
from chat.services.held_back import judge_held_back
from tests.chat.admin.test_held_back import held_back
from tests.factories import (
    AssistantFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    SiteFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
ZONE = ZoneInfo("Europe/Berlin")
#: Around both changes of clocks, a year's end, and midnight.
MOMENTS = [
    datetime.datetime(2026, 3, 28, 23, 30, tzinfo=datetime.UTC),
    datetime.datetime(2026, 3, 29, 0, 59, tzinfo=datetime.UTC),
    datetime.datetime(2026, 3, 29, 22, 30, tzinfo=datetime.UTC),
    datetime.datetime(2025, 10, 25, 22, 10, tzinfo=datetime.UTC),
    datetime.datetime(2025, 10, 26, 0, 30, tzinfo=datetime.UTC),
    datetime.datetime(2025, 10, 26, 1, 30, tzinfo=datetime.UTC),
    datetime.datetime(2025, 10, 26, 23, 30, tzinfo=datetime.UTC),
    datetime.datetime(2025, 12, 31, 22, 59, tzinfo=datetime.UTC),
    datetime.datetime(2025, 12, 31, 23, 1, tzinfo=datetime.UTC),
]
STATUSES = ["complete", "abstained", "failed", "stopped", "clarifying"]
NUMBERS = (
    *("visitors", "newcomers", "conversations", "messages"),
    *("questions", "answered", "abstained", "failed", "stopped", "asked_back"),
    *("thumbs_up", "thumbs_down", "ratings", "stars", "prompt_tokens", "answer_tokens"),
)


def find_bin(milliseconds: float) -> int:
    """Return the number of the bin that holds this time."""
    if milliseconds <= FIRST_MS:
        return 0
    return min(math.ceil(math.log(milliseconds / FIRST_MS, GROWTH)), BINS - 1)


def asks(conversation, moment, *, status="complete", language="en", first_token=120.0, document=None, faq=None):
    """Make a question and its answer, as if they had been written at that moment."""
    question = Message.objects.create(conversation=conversation, role="user", text="?", language=language)
    answer = Message.objects.create(
        conversation=conversation,
        role="assistant",
        question=question,
        status=status,
        language=language,
        prompt_tokens=100,
        answer_tokens=7,
        timings_ms={"first_token": first_token, "total": first_token * 3},
        faq=faq,
    )
    Message.objects.filter(pk__in=[question.pk, answer.pk]).update(created_at=moment)
    if document:
        Citation.objects.create(message=answer, n=1, document=document, title="t", url="u")
    return answer


def begins(moment, **fields):
    """Of somebody who agreed right then, unless the visitor is given."""
    conversation = ConversationFactory(**fields)
    Conversation.objects.filter(pk=conversation.pk).update(created_at=moment)
    if "visitor" not in fields:
        Visitor.objects.filter(pk=conversation.visitor_id).update(consented_at=moment)
    conversation.refresh_from_db()
    return conversation


def rows_counted_by_hand():
    """Count the same figures, one message after the other."""
    counts = defaultdict(lambda: defaultdict(int))
    visitors = defaultdict(set)
    seen = set()
    for message in messages_in_order():
        day = message.created_at.astimezone(ZONE).date()
        said = message.conversation
        group = (day, said.assistant_id, said.site_id, message.language)
        here = counts[group]
        visitors[group].add(said.visitor_id)
        hour = f"hour {message.created_at.astimezone(ZONE).hour}"
        for what in read_things(message) if is_new(said.visitor, day) else ():
            if (said.visitor_id, what) not in seen:
                seen.add((said.visitor_id, what))
                here["newcomers" if what == "question" else f"newcomers {what}"] += 1
                if what == "question":
                    here[f"newcomers {hour}"] += 1
        here["messages"] += 1
        here["prompt_tokens"] += message.prompt_tokens or 0
        here["answer_tokens"] += message.answer_tokens or 0
        if message.role == "user":
            here["questions"] += 1
            here[hour] += 1
        else:
            names = {"complete": "answered", "clarifying": "asked_back"}
            here[names.get(message.status, message.status)] += 1
        for name in ("first_token", "total"):
            if name in message.timings_ms:
                here[f"{name} {find_bin(message.timings_ms[name])}"] += 1
        if hasattr(message, "feedback"):
            here["thumbs_up" if message.feedback.value > 0 else "thumbs_down"] += 1
            for reason in message.feedback.reasons:
                here[reason] += 1
    for said in Conversation.objects.all():
        first = said.messages.order_by("pk").first()
        day = said.created_at.astimezone(ZONE).date()
        here = counts[day, said.assistant_id, said.site_id, first.language if first else ""]
        here["conversations"] += 1
        if said.stars:
            here["ratings"] += 1
            here["stars"] += said.stars
    for group, who in visitors.items():
        counts[group]["visitors"] = counts[group]["busiest"] = len(who)
    return {group: dict(here) for group, here in counts.items()}


def messages_in_order():
    return Message.objects.select_related("conversation__visitor", "feedback").order_by("created_at", "pk")


def is_new(visitor, day):
    return visitor.consented_at.astimezone(ZONE).date() == day


def read_things(message):
    """Return what its visitor does with it."""
    if message.role == "user":
        return ["question"]
    return message.feedback.reasons if hasattr(message, "feedback") else []


def parts_counted_by_hand():
    """By document and by FAQ."""
    counts = defaultdict(lambda: defaultdict(int))
    visitors, seen = defaultdict(set), set()
    for message in messages_in_order().prefetch_related("citations"):
        day, said = message.created_at.astimezone(ZONE).date(), message.conversation
        whose = (day, said.assistant_id, said.site_id, message.language)
        value = message.feedback.value if hasattr(message, "feedback") else 0
        of = [("document", cited.document_id) for cited in message.citations.all() if cited.document_id]
        for kind, key in of + ([("faq", message.faq_id)] if message.faq_id else []):
            here = counts[kind, *whose, key]
            here["answers"] += 1
            visitors[kind, *whose, key].add(said.visitor_id)
            acts = ["newcomers"]
            if kind == "faq" and value:
                here["thumbs_up" if value > 0 else "thumbs_down"] += 1
                acts.append("newcomers_up" if value > 0 else "newcomers_down")
            for act in acts if is_new(said.visitor, day) else ():
                if (said.visitor_id, kind, key, act) not in seen:
                    seen.add((said.visitor_id, kind, key, act))
                    here[act] += 1
    for group, who in visitors.items():
        counts[group]["visitors"] = counts[group]["busiest"] = len(who)
    return {group: dict(here) for group, here in counts.items()}


def parts_kept():
    names = ("answers", "visitors", "busiest", "newcomers")
    of_faqs = (*names, "thumbs_up", "thumbs_down", "newcomers_up", "newcomers_down")
    kept = {}
    for kind, table, counted in (("document", DocumentCount, names), ("faq", FAQCount, of_faqs)):
        for row in table.objects.filter(span="day"):
            whose = (row.day, row.assistant_id, row.site_id, row.language, getattr(row, f"{kind}_id"))
            kept[kind, *whose] = {name: n for name in counted if (n := getattr(row, name))}
    return kept


def rows_kept():
    kept = {}
    for row in UsageCount.objects.filter(span="day"):
        here = {name: getattr(row, name) for name in (*NUMBERS, "busiest")}
        here |= {f"hour {hour}": count for hour, count in enumerate(row.hours)}
        here |= {f"newcomers hour {hour}": count for hour, count in enumerate(row.newcomers_by_hour)}
        here |= dict(zip(Feedback.Reason.values, row.reasons, strict=True))
        new = zip(Feedback.Reason.values, row.newcomers_by_reason, strict=True)
        here |= {f"newcomers {reason}": count for reason, count in new}
        for name in ("first_token", "total"):
            here |= {f"{name} {number}": count for number, count in enumerate(getattr(row, name))}
        kept[row.day, row.assistant_id, row.site_id, row.language] = {name: n for name, n in here.items() if n}
    return kept


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "begin", "return", "rate", "star", "edit", "forget", "delete", "count"]),
        st.integers(0, 8),
        st.integers(0, 4),
        st.sampled_from(["en", "de"]),
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.slow
@given(steps=STEPS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_equal_the_rows_whatever_happened_to_them(steps):
    Visitor.objects.all().delete()
    assistants = [AssistantFactory(), AssistantFactory()]
    sites = [None, SiteFactory(assistant=assistants[0])]
    documents, faqs = [None, DocumentFactory()], [None, FAQFactory()]
    for what, number, choice, language in steps:
        moment = MOMENTS[number % len(MOMENTS)]
        said = Conversation.objects.order_by("pk")
        answers = Message.objects.filter(role="assistant").order_by("pk")
        one = said[number % said.count()] if said.exists() else None
        answer = answers[number % answers.count()] if answers.exists() else None
        about = {"document": documents[choice % 2], "faq": faqs[number % 2]}
        if what in {"begin", "return"} or one is None:
            who = {"visitor": one.visitor} if what == "return" and one else {}
            one = begins(moment, assistant=assistants[choice % 2], site=sites[choice % 2], **who)
            asks(one, moment, status=STATUSES[choice], language=language, **about)
        elif what == "ask":
            asks(one, moment, status=STATUSES[choice], language=language, first_token=10.0 * 3**number, **about)
        elif what == "rate" and answer:
            reasons = Feedback.Reason.values[: choice + 1]
            value, given = (1, []) if number % 2 else (-1, reasons)
            Feedback.objects.update_or_create(message=answer, defaults={"value": value, "reasons": given})
        elif what == "star":
            Conversation.objects.filter(pk=one.pk).update(stars=choice + 1)
        elif what == "edit" and answer:
            Message.objects.filter(pk=answer.pk).update(status=STATUSES[choice])
        elif what == "forget":
            one.visitor.delete()
        elif what == "delete":
            one.delete()
        elif what == "count":
            count_changed()
    count_changed()
    assert rows_kept() == rows_counted_by_hand()
    assert parts_kept() == parts_counted_by_hand()
    for row in UsageCount.objects.all():
        assert row.newcomers == sum(row.newcomers_by_hour) <= row.visitors
        assert all(map(int.__le__, row.newcomers_by_reason, row.reasons))
    summed = UsageCount.objects.filter(span="day").aggregate(newcomers=Sum("newcomers", default=0))
    assert summed["newcomers"] <= Visitor.objects.count()
    assert not ChangedDay.objects.exists()


def test_a_month_is_the_sum_of_its_days():
    assistant = AssistantFactory()
    for day in (1, 2, 2, 28):
        moment = datetime.datetime(2026, 2, day, 12, tzinfo=datetime.UTC)
        asks(begins(moment, assistant=assistant), moment, first_token=day * 100)
    count_changed()
    month = UsageCount.objects.get(span="month")
    days = UsageCount.objects.filter(span="day")
    assert month.day == datetime.date(2026, 2, 1)
    assert all(getattr(month, name) == sum(getattr(row, name) for row in days) for name in NUMBERS)
    assert month.busiest == 2
    for name in ("hours", "newcomers_by_hour", "reasons", "newcomers_by_reason", "first_token", "total"):
        assert getattr(month, name) == [
            sum(column) for column in zip(*(getattr(row, name) for row in days), strict=True)
        ]


def test_citations_and_faqs_are_counted_too():
    moment = MOMENTS[0]
    document, faq = DocumentFactory(), FAQFactory()
    said = begins(moment)
    rated = asks(said, moment, document=document, faq=faq)
    asks(said, moment, document=document)
    Feedback.objects.create(message=rated, value=-1)
    count_changed()
    cited = DocumentCount.objects.get(span="day")
    assert (cited.document, cited.answers, cited.visitors) == (document, 2, 1)
    steered = FAQCount.objects.get(span="day")
    assert (steered.faq, steered.answers, steered.thumbs_down, steered.thumbs_up) == (faq, 1, 1, 0)


def test_counts_outlive_the_conversations_that_retention_deletes():
    moment = timezone.now() - datetime.timedelta(days=100)
    said = begins(moment)
    asks(said, moment)
    count_changed()
    freeze({said.assistant_id: timezone.now() - datetime.timedelta(days=90)})
    said.delete()
    count_changed()
    assert UsageCount.objects.get(span="day").questions == 1
    assert UsageCount.objects.get(span="month").questions == 1


def test_nobody_is_new_twice_when_an_assistant_they_asked_first_keeps_conversations_for_less_time():
    moment = timezone.now() - datetime.timedelta(days=100)
    document, faq = DocumentFactory(), FAQFactory()
    first = begins(moment)
    second = begins(moment, visitor=first.visitor)
    for said in (first, second):
        answer = asks(said, moment, document=document, faq=faq)
        Feedback.objects.create(message=answer, value=-1, reasons=["wrong"])
    count_changed()
    freeze({first.assistant_id: timezone.now() - datetime.timedelta(days=90)})
    first.delete()
    count_changed()
    for span in ("day", "month"):
        rows = UsageCount.objects.filter(span=span).order_by("assistant")
        assert [(row.newcomers, row.visitors) for row in rows] == [(1, 1), (0, 1)]
        assert [(sum(row.newcomers_by_hour), sum(row.newcomers_by_reason)) for row in rows] == [(1, 1), (0, 0)]
        for table in (DocumentCount, FAQCount):
            assert [row.newcomers for row in table.objects.filter(span=span).order_by("assistant")] == [1, 0]
    second.delete()
    count_changed()
    assert [row.assistant for row in UsageCount.objects.filter(span="day")] == [first.assistant]


def test_what_is_not_frozen_follows_an_erasure():
    moment = timezone.now() - datetime.timedelta(days=10)
    said = begins(moment)
    asks(said, moment)
    count_changed()
    freeze({said.assistant_id: timezone.now() - datetime.timedelta(days=90)})
    said.visitor.delete()
    count_changed()
    assert not UsageCount.objects.exists()


def test_a_late_thumb_is_counted_on_its_answers_day():
    moment = timezone.now() - datetime.timedelta(days=5)
    answer = asks(begins(moment), moment)
    count_changed()
    Feedback.objects.create(message=answer, value=1)
    count_changed()
    assert UsageCount.objects.get(span="day").thumbs_up == 1


def test_contacts_used_are_counted_on_the_answers_day_once_each_and_outlive_the_conversation():
    moment = timezone.now() - datetime.timedelta(days=100)
    said = begins(moment)
    answers = [asks(said, moment), asks(said, moment, status="abstained")]
    count_changed()
    for answer, kind in ((0, "email"), (0, "email"), (0, "page"), (1, "email")):
        use_contact(visitor=said.visitor_id, message_id=answers[answer].pk, kind=kind)
    count_changed()
    freeze({said.assistant_id: timezone.now() - datetime.timedelta(days=90)})
    said.delete()
    count_changed()
    for span in ("day", "month"):
        row = UsageCount.objects.get(span=span)
        assert (row.contact_email, row.contact_phone, row.contact_page) == (2, 0, 1)


def test_sentences_of_the_model_are_counted_and_what_staff_found_of_them_on_the_answers_day():
    moment = timezone.now() - datetime.timedelta(days=5)
    answer = asks(begins(moment), moment)
    Message.objects.filter(pk=answer.pk).update(sentences_shown=3, sentences_quoted=2, sentences_left_out=1)
    rows = [held_back(answer=answer) for _ in range(3)]
    count_changed()
    day = UsageCount.objects.get(span="day")
    assert (day.sentences_shown, day.sentences_quoted, day.sentences_left_out) == (3, 2, 1)
    assert (day.held_back_rightly, day.held_back_wrongly) == (0, 0)
    for row, verdict in zip(rows, ("rightly", "rightly", "wrongly"), strict=True):
        judge_held_back(sentence_id=row.pk, version=0, by=UserFactory(), verdict=verdict)
    count_changed()
    for row in UsageCount.objects.filter(sentences_shown=3):
        assert (row.held_back_rightly, row.held_back_wrongly) == (2, 1)
    assert UsageCount.objects.filter(span="month", sentences_shown=3).count() == 1


def test_only_days_that_changed_are_counted_again(django_assert_max_num_queries):
    for number, moment in enumerate(MOMENTS):
        asks(begins(moment), moment, first_token=number + 1)
    count_changed()
    asks(begins(MOMENTS[0]), MOMENTS[0])
    with django_assert_max_num_queries(122):
        count_changed()
    assert count_changed() == 0


def test_a_count_that_fails_forgets_no_change(monkeypatch):
    asks(begins(MOMENTS[0]), MOMENTS[0])

    def fails(_month):
        raise RuntimeError

    monkeypatch.setattr("analytics.counts.refresh.sum_month", fails)
    with pytest.raises(RuntimeError):
        count_changed()
    monkeypatch.undo()
    assert count_changed() > 0
    assert rows_kept() == rows_counted_by_hand()


def test_saying_that_nothing_changed_costs_no_rows():
    """An answer's question only touches its conversation's last change."""
    said = begins(MOMENTS[0])
    asks(said, MOMENTS[0])
    count_changed()
    said.save(update_fields=["updated_at"])
    assert not ChangedDay.objects.exists()


def test_what_was_counted_before_there_were_newcomers_is_filled_in_and_counted_again():
    document, faq = DocumentFactory(), FAQFactory()
    assistant, frozen = AssistantFactory(), AssistantFactory()
    for visitors, day in ((2, 3), (3, 4)):
        moment = datetime.datetime(2026, 2, day, 12, tzinfo=datetime.UTC)
        for _ in range(visitors):
            asks(begins(moment, assistant=assistant), moment, document=document, faq=faq)
    old = datetime.datetime(2026, 1, 5, 12, tzinfo=datetime.UTC)
    asks(begins(old, assistant=frozen), old, document=document, faq=faq)
    count_changed()
    freeze({frozen.pk: datetime.datetime(2026, 1, 20, tzinfo=datetime.UTC)})
    tables = (UsageCount, DocumentCount, FAQCount)
    for table in tables:
        table.objects.update(newcomers=0, busiest=0)
    with connection.cursor() as cursor:
        cursor.execute(importlib.import_module("analytics.migrations.0010_newcomers").FILL_IN)

    def kept(table):
        rows = table.objects.order_by("span", "day").values_list("span", "day__day", "newcomers", "busiest")
        return list(rows)

    months = [("month", 1, 0, 1), ("month", 1, 0, 3)]
    assert [kept(table) for table in tables] == [[("day", 5, 0, 1), ("day", 3, 0, 2), ("day", 4, 0, 3), *months]] * 3
    assert set(ChangedDay.objects.values_list("day__day", flat=True)) == {3, 4}
    count_changed()
    months = [("month", 1, 0, 1), ("month", 1, 5, 3)]
    assert [kept(table) for table in tables] == [[("day", 5, 0, 1), ("day", 3, 2, 2), ("day", 4, 3, 3), *months]] * 3


@given(st.dates(datetime.date(2024, 1, 1), datetime.date(2030, 12, 31)))
def test_every_moment_of_a_day_is_in_its_local_days(day):
    moments = [datetime.datetime.combine(day, datetime.time(hour, 59), datetime.UTC) for hour in range(24)]
    assert {moment.astimezone(ZONE).date() for moment in moments} <= set(local_days(day))


@given(st.lists(st.floats(6, 150_000), min_size=1, max_size=200), st.floats(0.01, 1))
def test_a_quantile_of_the_bins_is_near_the_one_of_the_times(times, share):
    counts = [0] * 200
    for time in times:
        counts[find_bin(time)] += 1
    rank = max(1, -(-int(share * len(times) * 10**9) // 10**9))
    exact = sorted(times)[min(rank, len(times)) - 1]
    neighbours = sorted(times)[max(0, rank - 2) : rank + 1]
    found = quantile(counts, share)
    assert any(abs(found - near) <= near * (ACCURACY + 1e-6) for near in [exact, *neighbours])


def test_the_database_sorts_times_into_the_same_bins():
    said = begins(MOMENTS[0])
    times = [0.4, 5, 5.01, 9.3, 77, 1234.5, 60_000, 170_000, 10_000_000]
    for time in times:
        asks(said, MOMENTS[0], first_token=time)
    count_changed()
    expected = [0] * len(UsageCount.objects.get(span="day").first_token)
    for time in times:
        expected[find_bin(time)] += 1
    assert UsageCount.objects.get(span="day").first_token == expected


@pytest.mark.slow
def test_the_triggers_note_a_thousand_rows_in_one(django_assert_num_queries):
    said = begins(MOMENTS[0])
    count_changed()
    ChangedDay.objects.all().delete()
    Message.objects.bulk_create([Message(conversation=said, role="user", text="?") for _ in range(1000)])
    # That of the messages, and that on which their conversation began.
    assert ChangedDay.objects.count() == 2
    assert connection.vendor == "postgresql"

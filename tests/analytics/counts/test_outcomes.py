"""What became of a conversation: the definition, by conversations whose outcome is known."""

import datetime
import uuid

import pytest
from django.utils import timezone

from analytics.counts.outcomes import OUTCOMES, with_outcome
from analytics.counts.refresh import count_changed, freeze
from analytics.counts.rephrasing import mark_rephrasings
from analytics.dashboard import types
from analytics.dashboard.types import Totals
from analytics.models import ChangedDay, Rephrasing, UsageCount
from analytics.shadow.questions import embed_asked
from chat.models import Case, Conversation, Feedback, Message
from core.inference.embeddings import get_embedder
from tests.analytics.counts.test_daily import asks, begins

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 3, 10, 12, tzinfo=datetime.UTC)


def outcome_of(said):
    return with_outcome(Conversation.objects.filter(pk=said.pk)).values_list("outcome", flat=True).get()


def talk(*statuses, **answer):
    """Make a conversation whose answers ended like this."""
    said = begins(NOON)
    for number, status in enumerate(statuses):
        asks(said, NOON + datetime.timedelta(minutes=number), status=status, **answer)
    return said


def last_answer(said):
    return said.messages.filter(role="assistant").order_by("pk").last()


def rate(said, value):
    Feedback.objects.create(message=last_answer(said), value=value)


def repeat(said):
    """Note that the second question asks the first one again."""
    first, second = said.messages.filter(role="user").order_by("pk")[:2]
    Rephrasing.objects.create(message=second, of=first)


def leave_with_office(said, state="open"):
    return Case.objects.create(
        conversation=said,
        assistant=said.assistant,
        question="?",
        language="en",
        reason="abstained",
        state=state,
        client_id=uuid.uuid4(),
    )


def test_an_answer_after_which_nothing_is_said_is_silent():
    assert outcome_of(talk("complete")) == "silent"


@pytest.mark.parametrize(("stars", "outcome"), [(5, "confirmed"), (4, "confirmed"), (3, "silent"), (2, "disliked")])
def test_stars_count_as_thumbs_do(stars, outcome):
    said = talk("complete")
    Conversation.objects.filter(pk=said.pk).update(stars=stars)
    assert outcome_of(said) == outcome


@pytest.mark.parametrize(("status", "outcome"), [("complete", "silent"), ("abstained", "unanswered")])
def test_a_contact_that_was_used_neither_resolves_a_conversation_nor_speaks_against_it(status, outcome):
    said = talk(status)
    Message.objects.filter(pk=last_answer(said).pk).update(contacts_used=["email", "page"])
    assert outcome_of(said) == outcome


def test_a_thumb_up_confirms_and_one_down_anywhere_takes_it_back():
    said = talk("complete", "complete")
    rate(said, 1)
    assert outcome_of(said) == "confirmed"
    Feedback.objects.create(message=said.messages.filter(role="assistant").first(), value=-1)
    assert outcome_of(said) == "disliked"


@pytest.mark.parametrize("status", ["abstained", "failed"])
def test_one_question_without_an_answer_is_enough_even_between_good_ones(status):
    said = talk("complete", status, "complete")
    rate(said, 1)
    assert outcome_of(said) == "unanswered"


def test_a_question_asked_again_is_no_resolution_however_well_it_ends():
    said = talk("complete", "complete")
    repeat(said)
    rate(said, 1)
    assert outcome_of(said) == "rephrased"


def test_a_question_that_was_answered_when_asked_in_other_words_took_two_tries():
    said = talk("abstained", "complete")
    assert outcome_of(said) == "unanswered"
    repeat(said)
    assert outcome_of(said) == "rephrased"


def test_a_failure_that_is_asked_once_more_is_judged_by_the_later_answer():
    said = talk("failed", "complete")
    repeat(said)
    assert outcome_of(said) == "silent"


def test_choosing_what_was_meant_is_no_rephrasing():
    said = talk("clarifying", "complete")
    repeat(said)
    assert outcome_of(said) == "silent"


@pytest.mark.parametrize("status", ["stopped", "clarifying"])
def test_who_leaves_before_an_answer_was_not_helped(status):
    assert outcome_of(talk("complete", status)) == "abandoned"


def test_a_question_left_with_an_office_is_handed_over_and_a_wish_to_be_told_is_not():
    said = talk("abstained")
    case = leave_with_office(said, state="watching")
    assert outcome_of(said) == "unanswered"
    Case.objects.filter(pk=case.pk).update(state="closed")
    assert outcome_of(said) == "handed_over"


@pytest.mark.parametrize("route", ["chit-chat", "meta", "abuse", "crisis"])
def test_small_talk_and_people_in_need_are_no_figures(route):
    said = talk("complete")
    said.messages.update(route=route)
    assert outcome_of(said) == ""


def test_an_answer_that_is_being_written_has_no_outcome_yet():
    assert outcome_of(talk("generating")) == ""


def counted():
    count_changed()
    rows = UsageCount.objects.filter(span="day")
    return {name: n for name in OUTCOMES if (n := sum(getattr(row, name) for row in rows))}


def test_what_is_said_on_a_later_day_changes_the_day_on_which_the_conversation_began():
    said = talk("complete")
    assert counted() == {"silent": 1}
    assert UsageCount.objects.get(span="month").silent == 1
    asks(said, NOON + datetime.timedelta(days=3), status="abstained")
    assert counted() == {"unanswered": 1}
    case = leave_with_office(said)
    assert counted() == {"handed_over": 1}
    case.delete()
    assert counted() == {"unanswered": 1}
    last_answer(said).question.delete()
    assert counted() == {"silent": 1}
    rate(said, 1)
    assert counted() == {"confirmed": 1}
    said.delete()
    assert counted() == {}
    assert not ChangedDay.objects.exists()


def test_outcomes_outlive_conversations():
    moment = timezone.now() - datetime.timedelta(days=100)
    said = begins(moment)
    asks(said, moment)
    count_changed()
    freeze({said.assistant_id: timezone.now() - datetime.timedelta(days=90)})
    said.delete()
    assert counted() == {"silent": 1}


def test_outcomes_have_the_same_names_everywhere():
    assert tuple(OUTCOMES) == types.OUTCOMES


# --- questions that are asked again ---


def ask(said, text, minutes=0):
    answer = asks(said, NOON + datetime.timedelta(minutes=minutes))
    Message.objects.filter(pk=answer.question_id).update(
        text=text, created_at=NOON + datetime.timedelta(minutes=minutes)
    )
    return answer.question_id


@pytest.fixture
def _lately(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOON + datetime.timedelta(days=2))


@pytest.mark.usefixtures("_lately")
def test_the_same_question_in_other_words_is_found_and_another_one_is_not():
    said = begins(NOON)
    first = ask(said, "How do I reset my password?")
    second = ask(said, "Please tell me how I can reset my password.", minutes=1)
    ask(said, "Is there a swimming pool?", minutes=2)
    other = begins(NOON)
    ask(other, "How do I reset my password?")
    embed_asked(get_embedder(), most=10)
    assert list(Rephrasing.objects.values_list("message", "of")) == [(second, first)]
    assert mark_rephrasings(get_embedder(), [first]) == 1
    Message.objects.get(pk=second).delete()
    assert not Rephrasing.objects.exists()


@pytest.mark.usefixtures("_lately")
def test_who_asks_the_same_on_another_day_does_not_complain():
    said = begins(NOON)
    ask(said, "How do I reset my password?")
    ask(said, "How do I reset my password?", minutes=25 * 60)
    embed_asked(get_embedder(), most=10)
    assert not Rephrasing.objects.exists()


# --- the rate ---


def test_silence_counts_as_the_rated_conversations_do():
    totals = Totals(confirmed=15, disliked=5, silent=60, unanswered=20)
    assert totals.resolution_rate == pytest.approx((15 + 60 * 0.75) / 100)
    assert totals.resolved_bounds == (0.15, 0.75)


def test_silence_alone_is_no_resolution():
    assert Totals(silent=1000).resolution_rate is None
    assert Totals(silent=1000, confirmed=9).resolution_rate is None
    assert Totals(silent=1000, disliked=10).resolution_rate == 0


def test_more_silence_never_raises_the_rate_above_what_students_say():
    for silent in (0, 10, 1000, 100_000):
        totals = Totals(confirmed=10, disliked=10, silent=silent, unanswered=5)
        assert totals.resolution_rate <= 0.5


def test_what_was_never_answered_is_never_resolved():
    for name in ("unanswered", "handed_over", "abandoned", "rephrased"):
        assert Totals(**{name: 7}).resolution_rate == 0

"""A look for gaps: what is collected, how gaps stay themselves from night to night, and when they are answered."""

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analytics.gaps import run as gaps_run
from analytics.gaps.labels import name_by_model
from analytics.gaps.run import work_on
from analytics.gaps.services import draft_faq, look_for_gaps, rename_gap
from analytics.gaps.suggestions import collect_phrasings
from analytics.inbox.services import set_topic_state
from analytics.models import Gap, GapQuestion, GapRun
from analytics.tasks import find_gaps
from chat.models import Message
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from tests.analytics.gaps.rows import PARKING, POOL, ask_in_vain, look, new_gap
from tests.factories import AssistantFactory, FeedbackFactory, UserFactory, VisitorFactory
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db


def find_gap(question: Message) -> Gap:
    found = GapQuestion.objects.get(message=question).gap
    assert found
    return found


# --- what is collected ---


def test_questions_of_one_meaning_are_one_gap_and_others_are_others() -> None:
    parking = [ask_in_vain(text) for text in PARKING]
    pool = [ask_in_vain(text) for text in POOL]
    run = look()
    assert run.found == 2
    assert len({find_gap(question).pk for question in parking}) == 1
    gap = find_gap(parking[0])
    assert (gap.question_count, gap.visitors, gap.this_week, gap.week_before) == (3, 3, 3, 0)
    assert gap.name in PARKING
    assert gap.weight > find_gap(pool[0]).weight


def test_a_question_and_its_translation_are_one_gap() -> None:
    english = ask_in_vain("Can I bring my dog to campus?")
    german = ask_in_vain("Darf ich meinen Hund mit auf den Campus bringen?")
    ask_in_vain("How do I appeal a grade?")
    ask_in_vain("Verleiht die Uni Laptops?")
    look()
    assert find_gap(english) == find_gap(german)
    assert Gap.objects.count() == 3


def test_only_what_was_asked_in_vain_counts() -> None:
    rated = ask_in_vain(PARKING[0], status="complete", reason="")
    FeedbackFactory(message=rated.answer, value=-1)
    failed = ask_in_vain(PARKING[1], status="failed", reason="interrupted")
    ask_in_vain(PARKING[2], status="complete", reason="")
    praised = ask_in_vain(POOL[0], status="complete", reason="")
    FeedbackFactory(message=praised.answer, value=1)
    ask_in_vain(POOL[1], reason="abuse")
    look()
    assert set(GapQuestion.objects.values_list("message", flat=True)) == {rated.pk, failed.pk}


def test_a_follow_up_counts_as_it_was_looked_up() -> None:
    ask_in_vain("And where?", rewritten=PARKING[0])
    look()
    assert Gap.objects.get().name == PARKING[0]


def test_each_assistant_has_gaps_of_its_own() -> None:
    first, second = AssistantFactory(), AssistantFactory()
    ask_in_vain(PARKING[0], assistant=first)
    ask_in_vain(PARKING[1], assistant=second)
    look()
    assert {gap.assistant for gap in Gap.objects.all()} == {first, second}


def test_one_visitor_who_asks_often_weighs_as_one() -> None:
    visitor = VisitorFactory()
    for text in PARKING:
        ask_in_vain(text, visitor=visitor)
    look()
    assert Gap.objects.get().visitors == 1


def test_a_question_is_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ask_in_vain(PARKING[0])
    look()
    known = GapQuestion.objects.get()
    ask_in_vain(PARKING[1])
    embedded: list[str] = []
    embedder = get_embedder()
    embed = embedder.embed_questions

    def noted(texts: Any) -> Any:
        embedded.extend(texts)
        return embed(texts)

    monkeypatch.setattr(embedder, "embed_questions", noted)
    look()
    assert PARKING[1] in embedded
    assert PARKING[0] not in embedded
    assert GapQuestion.objects.get(pk=known.pk).gap == known.gap


def test_vectors_of_another_model_are_made_anew() -> None:
    ask_in_vain(PARKING[0])
    look()
    GapQuestion.objects.update(recipe="another", embedding=b"")
    before = Gap.objects.get()
    look()
    assert GapQuestion.objects.get().recipe == get_embedder().recipe
    assert Gap.objects.get().pk == before.pk


# --- from night to night ---


def test_a_gap_stays_itself_when_more_is_asked() -> None:
    first = ask_in_vain(PARKING[0])
    look()
    gap = find_gap(first)
    rename_gap(gap=gap, version=gap.version, name="Parking permits", by=UserFactory())
    second = ask_in_vain(PARKING[1])
    assert look().found == 0
    assert find_gap(second) == gap
    assert find_gap(second).name == "Parking permits"


def test_a_solved_gap_is_open_again_when_somebody_asks_once_more() -> None:
    first = ask_in_vain(PARKING[0])
    look()
    set_topic_state(gaps=[find_gap(first)], state="solved")
    look()
    assert find_gap(first).state == "solved"
    ask_in_vain(PARKING[1], days_ago=-0.01)
    look()
    assert find_gap(first).state == "open"


def test_a_dismissed_gap_is_open_again_when_three_visitors_asked_since() -> None:
    first = ask_in_vain(PARKING[0])
    look()
    set_topic_state(gaps=[find_gap(first)], state="dismissed")
    for count, text in enumerate(PARKING, start=1):
        ask_in_vain(text, days_ago=-0.01)
        look()
        assert find_gap(first).state == ("dismissed" if count < 3 else "open")


def test_of_two_gaps_that_became_one_the_other_says_where_it_went() -> None:
    questions = [ask_in_vain(text) for text in PARKING]
    look()
    gap = find_gap(questions[0])
    other = new_gap(texts=())
    other.recipe, other.centroid, other.name = gap.recipe, gap.centroid, PARKING[2]
    other.save()
    GapQuestion.objects.filter(message=questions[2]).update(gap=other)
    look()
    other.refresh_from_db()
    assert other.merged_into == gap
    assert other.question_count == 0
    assert other.name == ""  # nobody would notice that its question was deleted


def test_an_open_gap_goes_when_its_questions_are_deleted_and_a_dismissed_one_is_known_again() -> None:
    parking, pool = ask_in_vain(PARKING[0]), ask_in_vain(POOL[0])
    look()
    dismissed = find_gap(pool)
    set_topic_state(gaps=[dismissed], state="dismissed")
    parking.conversation.delete()
    pool.conversation.delete()
    look()
    assert Gap.objects.get().title == "Questions that were deleted"
    again = ask_in_vain(POOL[1], days_ago=-0.01)
    assert look().found == 0
    assert find_gap(again) == dismissed
    assert find_gap(again).state == "dismissed"


def test_a_gap_is_not_named_after_a_question_that_was_deleted() -> None:
    for text in PARKING:
        ask_in_vain(text)
    look()
    before = Gap.objects.get()
    Message.objects.get(text=before.name).conversation.delete()
    look()
    after = Gap.objects.get()
    assert after == before
    assert after.name != before.name


def test_the_audit_log_which_is_kept_names_a_gap_without_its_question(client: Client) -> None:
    asked = ask_in_vain("May Frieda of Hinterpommern bring her dachshund?")
    look()
    client.force_login(UserFactory(is_superuser=True))
    client.post(reverse("admin:analytics_gap_state", args=[find_gap(asked).pk]), {"state": "dismissed", "version": 0})
    assert [entry.object_repr for entry in LogEntry.objects.all()] == [f"#{find_gap(asked).pk}"]


# --- names ---


def test_a_language_model_names_new_gaps_once(llm: FakeLLM) -> None:
    llm.completes(lambda _asked: '{"topic": "Parking permits on campus."}')
    ask_in_vain("My name is Anna Müller, how do I get a parking permit?")
    ask_in_vain(PARKING[1])
    look()
    gap = Gap.objects.get()
    assert (gap.name, gap.named_by) == ("Parking permits on campus", "model")
    assert "Anna" not in str(llm.requests)
    look()
    assert len(llm.requests) == 1


@pytest.mark.parametrize("said", ["nonsense", '{"topic": 5}', '{"topic": ""}', '{"topic": "%s"}' % ("x" * 300)])
def test_a_name_of_no_use_is_not_taken(llm: FakeLLM, said: str) -> None:
    llm.completes(lambda _asked: said)
    assert name_by_model(PARKING, "en") is None


def test_a_model_that_is_away_holds_nothing_up(llm: FakeLLM) -> None:
    llm.fails(503)
    ask_in_vain(PARKING[0])
    look()
    assert Gap.objects.get().name == PARKING[0]


# --- one at a time, to the end ---


def test_one_look_waits_or_goes_on_at_a_time(django_capture_on_commit_callbacks: Any, monkeypatch: Any) -> None:
    delay = Mock()
    monkeypatch.setattr(find_gaps, "delay", delay)
    with django_capture_on_commit_callbacks(execute=True):
        run = look_for_gaps()
    assert run
    delay.assert_called_once_with(run.pk)
    assert look_for_gaps() is None


def test_a_look_waits_while_another_process_looks() -> None:
    run = GapRun.objects.enqueue()
    assert run
    with advisory_lock(Lock.GAPS):
        work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "queued"


def test_the_look_of_the_night_begins_by_itself() -> None:
    ask_in_vain(PARKING[0])
    find_gaps()
    assert GapRun.objects.get().state == "finished"
    assert Gap.objects.count() == 1


def test_a_look_that_lost_its_worker_is_begun_again() -> None:
    run = GapRun.objects.create(state="running", heartbeat_at=timezone.now())
    work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "finished"


@pytest.mark.parametrize(
    ("error", "said"), [(EmbeddingUnavailable("no model"), "no model"), (RuntimeError("x"), "error of ours")]
)
def test_a_look_that_breaks_says_so(monkeypatch: pytest.MonkeyPatch, error: Exception, said: str) -> None:
    monkeypatch.setattr(gaps_run, "collect", Mock(side_effect=error))
    run = GapRun.objects.enqueue()
    assert run
    if isinstance(error, RuntimeError):
        with pytest.raises(RuntimeError):
            work_on(run.pk)
    else:
        work_on(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert said in run.message
    assert GapRun.objects.enqueue()


def test_no_word_of_a_student_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    ask_in_vain("How do I get a parking permit for my zebra?")
    with caplog.at_level(logging.DEBUG):
        look()
    assert "zebra" not in "".join(
        record.getMessage() for record in caplog.records if not record.name.startswith("django.db")
    )


def test_a_draft_has_the_questions_words_without_the_person() -> None:
    gap = new_gap(texts=("Where do I park?", "My name is Anna Müller, where may I park?"))
    chosen = list(gap.questions.order_by("-centrality").values_list("pk", flat=True))
    faq = draft_faq(by=UserFactory(), gap=gap, question="Where do I park?", phrasings=chosen, documents=[])
    assert faq.status == "draft"
    assert [phrasing.text for phrasing in faq.phrasings.all()] == ["My name is [name], where may I park?"]
    gap.refresh_from_db()
    assert (gap.faq, gap.state) == (faq, "in_work")


def test_a_draft_does_not_have_the_name_that_a_student_gave_in_another_question() -> None:
    first = ask_in_vain("My name is Anna Müller.")
    follow_up = ask_in_vain("Where may I park?", rewritten="Where may Anna Müller park?")
    Message.objects.filter(pk=first.pk).update(conversation=follow_up.conversation)
    look()
    assert [each.text for each in collect_phrasings([GapQuestion.objects.get(message=follow_up)])] == [
        "Where may [name] park?"
    ]

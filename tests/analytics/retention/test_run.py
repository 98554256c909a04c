import datetime
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ValidationError
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from analytics.counts.refresh import count_changed
from analytics.models import AnonymisedQuestion, RetentionRun, UsageCount
from analytics.retention.run import anonymise, apply_retention
from chat.models import Conversation, HeldBackSentence, Message, Visitor
from core.db.locks import Lock, advisory_lock
from tests.analytics.counts.test_daily import asks, begins
from tests.chat.admin.test_held_back import held_back
from tests.factories import AssistantFactory, FAQFactory, UserFactory

pytestmark = pytest.mark.django_db


def days_ago(days):
    return timezone.now() - datetime.timedelta(days=days)


def said_long_ago(days, *, text="What are the fees?", assistant=None, **fields):
    said = begins(days_ago(days), assistant=assistant or AssistantFactory())
    answer = asks(said, days_ago(days), **fields)
    Message.objects.filter(pk=answer.question_id).update(text=text)
    Conversation.objects.filter(pk=said.pk).update(updated_at=days_ago(days))
    Visitor.objects.filter(pk=said.visitor_id).update(consented_at=days_ago(days))
    return said


def in_thread(work):
    try:
        return work()
    finally:
        connections.close_all()


def test_conversations_go_after_the_servers_days_and_their_visitors_with_them():
    old, young = said_long_ago(91), said_long_ago(89)
    run = apply_retention()
    assert list(Conversation.objects.all()) == [young]
    assert not Visitor.objects.filter(pk=old.visitor_id).exists()
    assert Visitor.objects.filter(pk=young.visitor_id).exists()
    assert run.gone[0]["conversations"] == 1
    assert run.visitors == 1
    assert run.finished_at


def test_an_assistant_may_keep_them_for_less_long():
    short = AssistantFactory(keep_conversations_days=7)
    said_long_ago(8, assistant=short)
    kept = said_long_ago(8)
    apply_retention()
    assert list(Conversation.objects.all()) == [kept]


def test_an_assistant_keeps_nothing_longer_than_the_server_promises():
    with pytest.raises(ValidationError, match="90 days at most"):
        AssistantFactory.build(keep_conversations_days=91).full_clean()


def test_conversations_of_a_deleted_assistant_go_too():
    said = said_long_ago(91)
    said.assistant.delete()
    apply_retention()
    assert not Conversation.objects.exists()


def test_the_figures_stay_when_the_conversations_go():
    said_long_ago(91)
    apply_retention()
    count_changed()
    assert UsageCount.objects.get(span="day").questions == 1


def test_what_changed_just_before_is_counted_before_it_goes():
    said_long_ago(91)
    assert not UsageCount.objects.exists()
    apply_retention()
    assert UsageCount.objects.get(span="day").answered == 1


@pytest.mark.django_db(transaction=True)
def test_nothing_goes_before_another_process_has_counted_it():
    said_long_ago(91)
    with ThreadPoolExecutor(1) as night, advisory_lock(Lock.USAGE_COUNTS):
        applied = night.submit(in_thread, apply_retention)
        with pytest.raises(TimeoutError):
            applied.result(timeout=0.5)
        assert Conversation.objects.exists()
    assert applied.result().gone[0]["conversations"] == 1
    count_changed()
    assert UsageCount.objects.get(span="day").questions == 1


def test_the_figures_of_a_deleted_assistant_stay_when_its_conversations_had_gone():
    short = AssistantFactory(keep_conversations_days=30)
    said_long_ago(40, assistant=short)
    other = said_long_ago(40)
    apply_retention()
    short.delete()
    other.visitor.delete()  # the day is counted again
    count_changed()
    assert UsageCount.objects.get(span="day").questions == 1


def test_figures_go_by_whole_months_where_an_assistant_says_so():
    few = AssistantFactory(keep_counts_months=1)
    said_long_ago(80, assistant=few)
    said_long_ago(1, assistant=few)
    said_long_ago(80)
    apply_retention()
    assert UsageCount.objects.filter(span="day", assistant=few).count() == 1
    assert UsageCount.objects.filter(span="day").count() == 2


def test_questions_are_kept_without_what_tells_who_asked_where_that_is_wanted():
    keeping, faq = AssistantFactory(keep_questions_days=365), FAQFactory()
    text = "My name is Anna Schmidt, matriculation number 1234567. What are the fees?"
    said_long_ago(100, assistant=keeping, text=text, faq=faq, status="abstained", language="en")
    said_long_ago(100, text=text)
    apply_retention()
    (kept,) = AnonymisedQuestion.objects.all()
    assert "Anna" not in kept.text
    assert "1234567" not in kept.text
    assert "fees" in kept.text
    assert (kept.assistant, kept.faq, kept.status, kept.language) == (keeping, faq, "abstained", "en")


def test_a_name_given_in_one_question_is_kept_in_none():
    said = said_long_ago(100, assistant=AssistantFactory(keep_questions_days=365), text="Ich heiße Anna Schmidt.")
    follow_up = asks(said, days_ago(100))
    rewritten = "Kann Anna Schmidt sich wegen Krankheit beurlauben lassen?"
    Message.objects.filter(pk=follow_up.pk).update(rewritten=rewritten)
    Conversation.objects.filter(pk=said.pk).update(updated_at=days_ago(100))
    apply_retention()
    assert set(AnonymisedQuestion.objects.values_list("text", flat=True)) == {
        "Ich heiße [name].",
        "Kann [name] sich wegen Krankheit beurlauben lassen?",
    }


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("name", "again"), [("Jürgen Weiß", "JÜRGEN WEISS"), ("Ümit İnan", "Ümit İnan"), ("Jörg Groß", "Jörg Groß")]
)
def test_a_name_is_kept_in_none_whatever_its_letters_and_their_spelling(form, name, again):
    def typed(text):
        return unicodedata.normalize(form, text)

    said = said_long_ago(100, assistant=AssistantFactory(keep_questions_days=365), text=typed(f"Ich heiße {name}."))
    follow_up = asks(said, days_ago(100))
    Message.objects.filter(pk=follow_up.pk).update(rewritten=typed(f"Kann {again} sich beurlauben lassen?"))
    Conversation.objects.filter(pk=said.pk).update(updated_at=days_ago(100))
    apply_retention()
    assert set(AnonymisedQuestion.objects.values_list("text", flat=True)) == {
        "Ich heiße [name].",
        "Kann [name] sich beurlauben lassen?",
    }


def test_questions_with_signs_of_an_attack_are_not_kept():
    keeping = AssistantFactory(keep_questions_days=365)
    said = said_long_ago(100, assistant=keeping)
    said.messages.filter(role="user").update(flags=["instructs"])
    apply_retention()
    assert not AnonymisedQuestion.objects.exists()


def test_anonymised_questions_go_after_their_days():
    keeping = AssistantFactory(keep_questions_days=200)
    said_long_ago(300, assistant=keeping)
    said_long_ago(100, assistant=keeping)
    apply_retention()
    assert AnonymisedQuestion.objects.count() == 1


def test_many_go_in_batches_and_a_killed_night_goes_on_the_next(monkeypatch):
    assistant = AssistantFactory(keep_questions_days=365)
    for _ in range(5):
        said_long_ago(100, assistant=assistant)
    monkeypatch.setattr("analytics.retention.run.BATCH", 2)
    anonymised = []

    def killed_in_the_second(assistant, batch):
        anonymised.append(batch)
        if len(anonymised) == 2:
            raise RuntimeError
        return anonymise(assistant, batch)

    monkeypatch.setattr("analytics.retention.run.anonymise", killed_in_the_second)
    with pytest.raises(RuntimeError):
        apply_retention()
    assert (Conversation.objects.count(), AnonymisedQuestion.objects.count()) == (3, 2)
    apply_retention()
    assert (Conversation.objects.count(), AnonymisedQuestion.objects.count()) == (0, 5)


def test_staff_read_what_each_night_deleted(client):
    said_long_ago(91, assistant=AssistantFactory(name="Lindi"))
    apply_retention()
    client.force_login(UserFactory(permissions=["analytics.view_retentionrun", "analytics.view_anonymisedquestion"]))
    page = client.get(reverse("admin:analytics_retentionrun_changelist")).content.decode()
    assert "Lindi: 1 conversation" in page
    assert client.get(reverse("admin:analytics_retentionrun_add")).status_code == 403
    assert client.get(reverse("admin:analytics_anonymisedquestion_changelist")).status_code == 200
    assert RetentionRun.objects.count() == 1


def test_what_was_held_back_goes_with_its_answer_and_stays_counted():
    said = said_long_ago(91)
    answer = Message.objects.get(conversation=said, role="assistant")
    Message.objects.filter(pk=answer.pk).update(sentences_shown=1, sentences_quoted=2, sentences_left_out=0)
    held_back(answer=answer, verdict="rightly")
    apply_retention()
    assert not HeldBackSentence.objects.exists()
    count_changed()
    day = UsageCount.objects.get(span="day")
    assert (day.sentences_shown, day.sentences_quoted, day.held_back_rightly) == (1, 2, 1)

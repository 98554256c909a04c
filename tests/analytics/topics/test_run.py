"""The nightly run: topics keep their identity, follow erasure, and are counted as the dashboard counts."""

import datetime
import uuid

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Sum
from django.utils import timezone

from analytics.counts.refresh import count_changed, freeze
from analytics.gaps.clustering import to_cosine
from analytics.models import Topic, TopicCount, TopicQuestion
from analytics.shadow.questions import embed_asked
from analytics.topics.run import SIMILARITY, update_topics
from analytics.topics.services import OutOfDate, merge_topic, pin_topic, rename_topic, split_topic
from chat.models import Case, Feedback, Message
from core.inference.embeddings import get_embedder
from tests.analytics.gaps.rows import PARKING, POOL, ask_in_vain, the_assistant
from tests.factories import AssistantFactory

pytestmark = pytest.mark.django_db


def ask(*texts, days_ago=1, **answer):
    return [ask_in_vain(text, days_ago=days_ago, **{"status": "complete", "reason": ""} | answer) for text in texts]


def night():
    embed_asked(get_embedder(), most=1000)
    return update_topics()


def topic_of(question):
    return TopicQuestion.objects.get(message=question).topic


def counted(name="answers"):
    rows = TopicCount.objects.filter(span="month").values_list("topic").annotate(sum=Sum(name))
    return dict(rows.order_by("topic"))


def test_questions_of_one_meaning_are_a_topic_and_fewer_than_three_wait():
    parking = ask(*PARKING)
    pool = ask(*POOL)
    assert night() == 1
    assert {topic_of(each) for each in parking} == {Topic.objects.get()}
    assert Topic.objects.get().name in PARKING
    ask("Is there a pool for swimming?")
    assert night() == 1
    assert topic_of(pool[0]) != topic_of(parking[0])
    assert to_cosine(get_embedder().scale.questions, SIMILARITY) < 1


def test_a_topic_keeps_its_row_and_its_name_from_night_to_night():
    ask(*PARKING)
    night()
    before = Topic.objects.get()
    new = ask("How can I get a parking permit, please?")[0]
    assert night() == 0
    after = Topic.objects.get()
    assert (after.pk, after.name) == (before.pk, before.name)
    assert topic_of(new) == before
    assert counted() == {before.pk: 4}


def test_the_newest_questions_are_clustered_and_older_ones_stay_in_their_topics(monkeypatch):
    old = ask(*PARKING)
    night()
    topic = Topic.objects.get()
    monkeypatch.setattr("analytics.topics.collect.MOST", 3)
    new = ask(*POOL, "Is there a pool for swimming?")
    assert night() == 1
    assert {topic_of(each) for each in old} == {topic}
    assert topic_of(new[0]) != topic
    again = ask("How do I get a parking permit?")[0]
    night()
    assert topic_of(again) == topic


def test_what_was_joined_wrongly_is_taken_apart_unless_staff_keep_it():
    parking, pool = ask(*PARKING), ask(*POOL, "Is there a pool for swimming?", "Is there a swimming pool here?")
    night()
    wrong = topic_of(pool[0])
    TopicQuestion.objects.filter(message__in=parking).update(topic=wrong)
    pin_topic(topic=wrong, version=0, is_pinned=True)
    night()
    assert {topic_of(each) for each in parking} == {wrong}
    pin_topic(topic=wrong, version=1, is_pinned=False)
    assert night() == 1
    assert {topic_of(each) for each in pool} == {wrong}
    assert {topic_of(each) for each in parking} == {Topic.objects.latest("pk")}
    assert counted() == {wrong.pk: 4, Topic.objects.latest("pk").pk: 3}


def test_a_topic_that_became_a_part_of_another_one_leads_to_it():
    parking = ask(*PARKING, "How can I get a parking permit, please?")
    night()
    topic = topic_of(parking[0])
    other = Topic.objects.create(name="Cars", assistant=topic.assistant, centroid=topic.centroid, recipe=topic.recipe)
    TopicQuestion.objects.filter(message=parking[0]).update(topic=other)
    assert night() == 0
    other.refresh_from_db()
    assert other.merged_into == topic
    assert not other.is_joined_by_staff
    assert counted() == {topic.pk: 4}


def test_topics_are_those_of_one_assistant():
    ask(*PARKING)
    ask(*PARKING, assistant=AssistantFactory())
    assert night() == 2
    assert set(counted().values()) == {3}


def test_what_became_of_questions_is_counted():
    asked = ask(*PARKING)
    Feedback.objects.create(message=asked[0].answer, value=1)
    Feedback.objects.create(message=asked[1].answer, value=-1)
    Case.objects.create(
        conversation=asked[2].conversation,
        assistant=the_assistant(),
        about=asked[2].answer,
        question="?",
        language="en",
        reason="person",
        client_id=uuid.uuid4(),
    )
    Message.objects.filter(pk=asked[2].answer.pk).update(status="abstained")
    night()
    row = TopicCount.objects.get(span="day")
    assert (row.answers, row.answered, row.handed_over, row.thumbs_up, row.thumbs_down) == (3, 2, 1, 1, 1)
    assert row.visitors == row.busiest == 3


def test_an_erased_question_is_counted_no_longer_and_names_nothing():
    asked = ask(*PARKING, "How do I get a permit to park?")
    night()
    topic = Topic.objects.get()
    named_after = next(each for each in asked if each.text == topic.name)
    named_after.conversation.visitor.delete()
    night()
    topic.refresh_from_db()
    assert topic.name != named_after.text
    assert topic.name in {each.text for each in asked}
    assert counted() == {topic.pk: 3}
    for each in asked:
        Message.objects.filter(pk=each.pk).delete()
    night()
    assert not Topic.objects.exists()
    assert not TopicCount.objects.exists()


def test_counts_outlive_the_questions_that_retention_deletes():
    asked = ask(*PARKING, days_ago=80)
    count_changed()
    night()
    topic = Topic.objects.get()
    freeze({topic.assistant_id: timezone.now() - datetime.timedelta(days=70)})
    for each in asked:
        each.conversation.delete()
    night()
    topic.refresh_from_db()
    assert counted() == {topic.pk: 3}
    assert topic.name == ""
    ask("How do I get a parking permit?")
    night()
    assert counted() == {topic.pk: 4}
    topic.refresh_from_db()
    assert topic.name == "How do I get a parking permit?"


def test_what_staff_name_pin_and_join_stays():
    parking, pool = ask(*PARKING), ask(*POOL, "Is there a pool for swimming?")
    night()
    one, other = topic_of(parking[0]), topic_of(pool[0])
    rename_topic(topic=one, version=0, name="  Parking  ")
    pin_topic(topic=other, version=0, is_pinned=True)
    with pytest.raises(OutOfDate):
        rename_topic(topic=one, version=0, name="Cars")
    merge_topic(topic=other, version=1, into=one)
    assert counted() == {one.pk: 6}
    ask("Is there a swimming pool?")
    night()
    one.refresh_from_db()
    assert one.name == "Parking"
    assert counted() == {one.pk: 7}
    other.refresh_from_db()
    assert other.merged_into == one
    assert other.name == ""


def test_a_cry_for_help_is_in_no_topic():
    for each in ask(*PARKING):
        Message.objects.filter(pk__in=[each.pk, each.answer.pk]).update(route="crisis")
    assert night() == 0
    assert not TopicQuestion.objects.exists()


def test_a_joined_topic_is_split_off_again_with_its_questions_and_figures():
    parking, pool = ask(*PARKING), ask(*POOL, "Is there a pool for swimming?")
    night()
    one, other = topic_of(parking[0]), topic_of(pool[0])
    before, name = counted(), other.name
    merge_topic(topic=other, version=0, into=one)
    night()
    assert counted() == {one.pk: sum(before.values())}
    split = split_topic(topic=one, version=0, joined=other)
    assert counted() == before
    assert (split.pk, split.merged_into, split.name) == (other.pk, None, name)
    assert {topic_of(each) for each in pool} == {other}
    night()
    assert counted() == before
    with pytest.raises(ValidationError, match="not joined to it any more"):
        split_topic(topic=one, version=1, joined=other)
    with pytest.raises(OutOfDate):
        split_topic(topic=one, version=0, joined=other)


def test_a_split_topic_gets_figures_back_whose_questions_retention_deleted_before_the_join():
    pool = ask(*POOL, "Is there a pool for swimming?", days_ago=40)
    parking = ask(*PARKING)
    night()
    one, other = topic_of(parking[0]), topic_of(pool[0])
    count_changed()
    freeze({None: timezone.now(), one.assistant_id: timezone.now() - datetime.timedelta(days=30)})
    Message.objects.filter(pk__in=[each.pk for each in pool]).delete()
    night()
    before = counted()
    assert before[other.pk] == 3
    merge_topic(topic=other, version=0, into=one)
    night()
    assert counted() == {one.pk: 6}
    split_topic(topic=one, version=0, joined=other)
    assert counted() == before
    night()
    assert counted() == before


def test_what_came_to_the_joined_topic_stays_there_and_each_join_is_split_off_on_its_own():
    parking, pool = ask(*PARKING), ask(*POOL, "Is there a pool for swimming?")
    night()
    one, other = topic_of(parking[0]), topic_of(pool[0])
    merge_topic(topic=other, version=0, into=one)
    late = ask("Is there a swimming pool?")[0]
    night()
    assert topic_of(late) == one
    third = Topic.objects.create(name="Third", named_by="staff", assistant=one.assistant, recipe="none", centroid=b"")
    one.refresh_from_db()
    merge_topic(topic=one, version=one.version, into=third)
    split_topic(topic=third, version=0, joined=one)
    assert {topic_of(each) for each in parking} == {one}
    assert {topic_of(each) for each in pool} == {third}
    split_topic(topic=third, version=1, joined=other)
    assert {topic_of(each) for each in pool} == {other}

"""The pages of topics: who sees what, what staff change, and what few people asked stays hidden."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from analytics.counts.refresh import count_changed
from analytics.models import Topic, TopicCount, TopicQuestion
from analytics.topics.counting import count_topics
from analytics.topics.services import pin_topic
from chat.models import Message, Visitor
from tests.analytics.gaps.rows import PARKING
from tests.analytics.topics.test_run import ask, night
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
SMALL, READS = "analytics.see_small_groups", "chat.view_conversation"


def staff(client, *permissions, **user):
    member = UserFactory(permissions=["analytics.view_topic", *permissions], **user)
    client.force_login(member)
    return member


def page(client, name="topics", *arguments):
    return client.get(reverse(name, args=arguments))


def text(response):
    return response.content.decode()


@pytest.fixture
def topic():
    ask(*PARKING)
    night()
    return Topic.objects.get()


@pytest.mark.usefixtures("topic")
def test_topics_are_listed_with_their_figures(client):
    staff(client, SMALL)
    shown = text(page(client))
    assert "parking" in shown
    assert "100" in shown


def test_a_topic_of_few_people_is_hidden_from_who_may_not_see_small_groups(client, topic):
    staff(client)
    assert "parking permit" not in text(page(client))
    assert page(client, "topic", topic.pk).status_code == 404
    ask(*PARKING)
    night()
    assert "parking permit" in text(page(client))
    assert page(client, "topic", topic.pk).status_code == 200


def test_questions_are_read_by_those_who_may_read_conversations(client, topic):
    staff(client, SMALL)
    shown = text(page(client, "topic", topic.pk))
    assert sum(question in shown for question in PARKING) == 1  # its name
    staff(client, SMALL, READS)
    shown = text(page(client, "topic", topic.pk))
    assert all(question in shown for question in PARKING)


def test_another_teams_topic_is_not_there(client, topic):
    member = staff(client, SMALL, teams=[])
    assert page(client, "topic", topic.pk).status_code == 404
    assert not Topic.objects.visible_to(member).exists()


def change(client, topic, **values):
    topic.refresh_from_db()
    return client.post(reverse("topic-change", args=[topic.pk]), {"version": topic.version, **values}, follow=True)


def test_staff_rename_pin_and_join_topics_and_the_audit_log_has_it(client, topic):
    member = staff(client, SMALL, "analytics.change_topic")
    assert "Parking cars" in text(change(client, topic, do="rename", name="Parking cars"))
    assert "The topic is pinned." in text(change(client, topic, do="pin"))
    assert "Give it a name." in text(change(client, topic, do="rename", name=" "))
    other = Topic.objects.create(name="Cars", assistant=topic.assistant, centroid=bytes(8), recipe="none")
    foreign = Topic.objects.create(name="Cars", assistant=AssistantFactory(), centroid=bytes(8), recipe="none")
    assert "Choose another topic" in text(change(client, topic, do="merge", into=foreign.pk))
    assert "The topics are one now." in text(change(client, other, do="merge", into=topic.pk))
    assert page(client, "topic", other.pk).url == reverse("topic", args=[topic.pk])
    assert LogEntry.objects.filter(user=member).count() == 3
    assert f"“#{other.pk}” was joined to this topic." in text(page(client, "topic", topic.pk))
    assert "The topic is one of its own again" in text(change(client, topic, do="split", joined=other.pk))
    assert page(client, "topic", other.pk).status_code == 200
    assert "not joined to it any more" in text(change(client, topic, do="split", joined=other.pk))
    assert LogEntry.objects.filter(user=member).count() == 4
    late = client.post(reverse("topic-change", args=[topic.pk]), {"version": 0, "do": "unpin"}, follow=True)
    assert "Somebody changed this topic meanwhile" in text(late)


def test_an_analyst_who_may_read_no_conversation_gets_the_questions_masked_as_a_report(client, topic):
    asked = Message.objects.filter(topic_question__topic=topic).first()
    Message.objects.filter(pk=asked.pk).update(text="My name is Anna Schmidt, where do I park?")
    Visitor.objects.update(consented_at=asked.created_at)
    staff(client, SMALL, "analytics.export_reports")
    shown = text(page(client, "topic", topic.pk))
    assert "Schmidt" not in shown
    link = re.search(r'href="([^"]*/report/add/[^"]*)"', shown)[1].replace("&amp;", "&")
    report = text(client.get(link))
    assert "where do I park?" in report
    assert "Schmidt" not in report
    staff(client, SMALL)
    assert "/report/add/" not in text(page(client, "topic", topic.pk))


def test_the_questions_of_the_year_are_drawn_by_week_with_a_table(client, topic):
    ask(*PARKING, days_ago=10)
    count_changed()
    night()
    staff(client, SMALL)
    shown = text(page(client, "topic", topic.pk))
    assert "Questions by week" in shown
    table = re.search(r'data-chart="chart-trend-data".*?</figure>', shown, re.S)[0]
    assert table.count('<th scope="row">') == 52
    assert "The busiest of these 52 weeks" in table
    assert table.count("<td>3</td>") == 2


def test_a_topic_that_nobody_asked_about_says_so_in_place_of_a_chart(client, topic):
    pin_topic(topic=topic, version=topic.version, is_pinned=True)
    TopicCount.objects.all().delete()
    staff(client, SMALL)
    shown = text(page(client, "topic", topic.pk))
    assert "Questions by week" in shown
    assert "Nothing yet: in these 52 weeks nobody asked about it." in shown
    assert "<canvas" not in shown
    assert 'data-chart="' not in shown


def test_a_topic_whose_weeks_are_all_small_groups_says_why_there_is_no_chart(client, topic):
    ask(*PARKING, days_ago=10)
    for asked in Message.objects.filter(role="user"):
        Visitor.objects.filter(conversations=asked.conversation_id).update(consented_at=asked.created_at)
    count_changed()
    night()
    staff(client)
    shown = text(page(client, "topic", topic.pk))
    assert "Hidden for privacy: each week’s figures are from fewer than 5 visitors" in shown
    assert "nobody asked about it" not in shown
    assert "Choose" not in shown[shown.index("Hidden for privacy") :].split("</p>")[0]  # the page has no other steps
    assert 'data-chart="' not in shown


def test_weeks_of_few_people_are_hidden_and_the_next_smallest_with_them(client, topic):
    for _each in range(3):
        ask(*PARKING, days_ago=10)
    for _each in range(2):
        ask(*PARKING, days_ago=20)
    night()
    staff(client)
    table = re.search(r'data-chart="chart-trend-data".*?</figure>', text(page(client, "topic", topic.pk)), re.S)[0]
    assert "<td>9</td>" in table  # the largest week
    assert "<td>3</td>" not in table  # of three people
    assert "<td>6</td>" not in table  # which the sum of all would tell the three by


def test_who_may_only_look_changes_nothing(client, topic):
    staff(client, SMALL)
    assert change(client, topic, do="pin").status_code == 403
    assert "Rename" not in text(page(client, "topic", topic.pk))


@pytest.mark.usefixtures("topic")
def test_the_list_costs_as_many_queries_however_many_topics(client, django_assert_max_num_queries):
    staff(client, SMALL, READS, "analytics.change_topic")
    page(client)
    with django_assert_max_num_queries(11):
        page(client)


def test_the_page_costs_as_many_queries_however_many_questions(client, topic, django_assert_max_num_queries):
    staff(client, SMALL, READS, "analytics.change_topic")
    page(client, "topic", topic.pk)
    with django_assert_max_num_queries(18):
        page(client, "topic", topic.pk)


def test_topics_are_compared_with_another_language_and_never_with_another_assistant(client, topic):
    staff(client, SMALL)
    AssistantFactory(name="Lexi")
    german = ask("Wie bekomme ich einen Parkausweis?", "Wo bekomme ich einen Ausweis zum Parken?")
    Message.objects.update(language="en")
    Message.objects.filter(pk__in=[each.pk for each in german]).update(language="de")
    TopicQuestion.objects.bulk_create([TopicQuestion(message=each, topic=topic) for each in german])
    count_topics()
    address = {"language": "en", "compare": "language:de"}
    for name, of in (("topics", []), ("topic", [topic.pk])):
        shown = text(client.get(reverse(name, args=of), address))
        assert "German: 2" in shown
        assert "German: 100" in shown
    offered = text(page(client))
    assert "language:de" in offered
    assert "assistant:" not in offered


def test_other_dates_that_are_missing_are_asked_for(client, topic):
    staff(client, SMALL)
    assert "Please choose a day." in text(client.get(reverse("topics"), {"compare": "dates"}))
    assert client.get(reverse("topic", args=[topic.pk]), {"compare": "dates"}).status_code == 302

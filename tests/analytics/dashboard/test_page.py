"""The dashboard as staff meet it: what the address says is what is shown, to those who may see it."""

import datetime
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.urls import reverse
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from analytics.counts.refresh import count_changed
from analytics.dashboard.formatting import Tone, change, duration, highest, long_name, period_name, short_name
from analytics.dashboard.suppression import suppressed_cells
from analytics.dashboard.types import People
from analytics.models import Assumptions, FrozenCounts, Topic, TopicQuestion
from analytics.periods import Period, Range, Step, period_for, semester_around, step_for
from analytics.topics.counting import count_topics
from chat.models import Conversation, Feedback, Message
from tests.analytics.counts.test_daily import asks, begins
from tests.analytics.gaps.rows import new_gap
from tests.chat.admin.test_held_back import held_back
from tests.emptying import free_space
from tests.factories import (
    AssistantFactory,
    DocumentFactory,
    FAQFactory,
    SiteFactory,
    UserFactory,
    VisitorFactory,
)

TODAY = datetime.date(2026, 7, 15)
READS = "analytics.view_dashboard"
SMALL = "analytics.see_small_groups"
CONVERSATIONS = "chat.view_conversation"
DAYS = st.dates(datetime.date(2001, 1, 1), datetime.date(2040, 12, 31))


@pytest.fixture(autouse=True)
def _today(monkeypatch):
    monkeypatch.setattr(timezone, "localdate", lambda *_: TODAY)


def day(month, number, hour=12):
    return datetime.datetime(2026, month, number, hour, tzinfo=datetime.UTC)


def visit(client, *permissions, teams=None, **address):
    staff = UserFactory(permissions=list(permissions or (READS, SMALL)), **({"teams": teams} if teams else {}))
    client.force_login(staff)
    return client.get(reverse("dashboard"), address)


def words(response):
    """Return the text of the page in one line."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", response.content.decode(), flags=re.S)
    return re.sub(r"\s+", " ", text.replace("&nbsp;", " ").replace("\xa0", " "))


def card(response, label):
    found = re.search(rf">{label}</dt>\s*(.*?)</div>", response.content.decode(), re.S)
    assert found, label
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[1])).replace("\xa0", " ").strip()


def card_link(response, label):
    """Return the path and choices of the link on a card's value."""
    found = re.search(rf">{label}</dt>.*?</div>", response.content.decode(), re.S)
    href = re.search(r'href="([^"]+)"', found[0])
    return href and href[1].replace("&amp;", "&")


def ask_by(count, moment, **answer):
    """Ask one question by each of so many visitors."""
    conversation = {key: answer.pop(key) for key in ("assistant", "site") if key in answer}
    return [asks(begins(moment, **conversation), moment, **answer) for _ in range(count)]


# --- pure ---


@pytest.mark.parametrize(
    ("today", "first", "last"),
    [
        ((2026, 7, 15), (2026, 4, 1), (2026, 9, 30)),
        ((2026, 10, 1), (2026, 10, 1), (2027, 3, 31)),
        ((2026, 3, 31), (2025, 10, 1), (2026, 3, 31)),
        ((2026, 4, 1), (2026, 4, 1), (2026, 9, 30)),
    ],
)
def test_semesters_begin_in_april_and_october(today, first, last):
    assert semester_around(datetime.date(*today)) == Period(datetime.date(*first), datetime.date(*last))


@given(DAYS, st.sampled_from(Range), st.none() | DAYS)
def test_a_named_period_is_never_to_come_and_never_too_long(today, name, first_day):
    period = period_for(name, today=today, first_day=first_day)
    assert period.last <= today
    assert period.days <= 3_653
    assert len(list(period.steps(step_for(period)))) <= 122


@given(st.lists(st.frozensets(st.integers(0, 9), min_size=1), max_size=12), st.integers(1, 8), st.data())
def test_what_is_shown_and_what_is_hidden_is_no_small_group_whoever_is_in_several(days, least, data):
    """Of each day the people who asked; each is new on one of theirs, or was known before."""
    asked = {who: [day for day, people in enumerate(days) if who in people] for who in frozenset().union(*days)}
    first = {who: data.draw(st.sampled_from([None, *at])) for who, at in asked.items()}
    groups = {
        day: People(sum(first[who] == day for who in people), busiest=len(people)) for day, people in enumerate(days)
    }
    gone = suppressed_cells({day: {"": people} for day, people in groups.items()}, least=least)
    shown = set(groups) - gone
    assert all(len(days[day]) >= least for day in shown)
    behind = frozenset().union(*(days[day] for day in gone))
    assert not gone or len(behind) >= least or not shown
    assert sum(groups.values(), People()).at_least <= len(asked)


@pytest.mark.parametrize(
    ("now", "before", "wanted", "text", "tone"),
    [
        (381, 340, 1, "+12 %", Tone.BETTER),
        (381, 340, -1, "+12 %", Tone.WORSE),
        (170, 340, 0, "−50 %", Tone.PLAIN),
        (340, 341, 1, "±0 %", Tone.PLAIN),
        (5, 0, 1, "–", Tone.PLAIN),
        (None, 3.0, 1, "–", Tone.PLAIN),
        (7, None, 1, "–", Tone.PLAIN),
    ],
)
def test_changes_are_said_in_words(now, before, wanted, text, tone):
    found = change(now, before, "", wanted=wanted)
    assert (found.text.replace("\xa0", " "), found.tone) == (text, tone)


def test_days_and_times_are_written_as_in_the_language():
    first, last = datetime.date(2026, 3, 2), datetime.date(2026, 3, 8)
    assert duration(None) == "–"
    with translation.override("de"):
        assert period_name(Period(first, last)) == "2. März 2026 – 8. März 2026"
        assert duration(1_240).replace("\xa0", " ") == "1,2 s"
    with translation.override("en"):
        assert short_name(first, Step.DAY) == "2 Mar"
        assert long_name(first, Step.MONTH) == "March 2026"
        assert duration(240.4).replace("\xa0", " ") == "240 ms"


def test_the_highest_of_values_is_found_though_some_are_not_told():
    assert highest([None, 0, 3, 3]) == 2
    assert highest([None, 0]) is None


# --- the page ---

pytestmark = pytest.mark.django_db


def test_only_who_may_see_the_dashboard_does(client):
    assert visit(client, CONVERSATIONS).status_code == 403
    client.logout()
    assert client.get(reverse("dashboard")).status_code == 302
    assert client.post(reverse("dashboard")).status_code in {302, 405}


def test_an_empty_system_says_so(client):
    assert "Nothing was asked in this period." in words(visit(client))


def test_figures_are_shown_beside_those_of_the_period_before(client):
    ask_by(6, day(7, 10))
    ask_by(3, day(7, 10), status="abstained", first_token=900.0)
    ask_by(3, day(7, 2))
    count_changed()
    page = visit(client, **{"from": "2026-07-06", "to": "2026-07-12"})
    assert card(page, "Questions").startswith("9 +200 % , 3 before")
    assert card(page, "New visitors").startswith("9 +200 % , 3 before counted once")
    assert card(page, "No answer given").startswith("3 0 before 33 % of all answers")
    assert card(page, "First words, usually").startswith("117 ms ±0 % , 117 ms before")
    assert "6 Jul 2026 – 12 Jul 2026" in words(page)
    assert "9 questions; most of them: Fri, 10 Jul 2026, 9." in words(page)


def test_each_chart_has_a_table_of_the_numbers_that_it_draws(client):
    for rated in ask_by(6, day(7, 10)):
        Feedback.objects.create(message=rated, value=-1, reasons=["wrong"])
    count_changed()
    html = visit(client, range="30").content.decode()
    names = re.findall(r'data-chart="([^"]+)"', html)
    over_time = ("use", "answers", "outcomes", "opinions", "tokens", "hours", "reasons")
    assert names == [f"chart-{name}-data" for name in (*over_time, "assistant", "site", "language")]
    for name in names:
        figure = re.search(rf'<figure[^>]*data-chart="{name}".*?</figure>', html, re.S)[0]
        drawn = json.loads(re.search(r"<script[^>]*>(.*?)</script>", figure, re.S)[1])
        cells = [int(cell.replace(",", "")) for cell in re.findall(r"<td>([\d,]+)</td>", figure)]
        assert cells == [
            value for row in zip(*(each["values"] for each in drawn["series"]), strict=True) for value in row
        ]
        assert re.search(r"<figcaption.*?<h2>\w+", figure, re.S)
        assert figure.count('scope="row"') == len(drawn["labels"])


def test_no_script_and_no_style_is_written_into_the_page(client):
    ask_by(1, day(7, 10))
    count_changed()
    html = visit(client).content.decode()
    assert not re.search(r"<script(?![^>]*(src=|application/json|data-))", html)
    assert "style=" not in re.sub(r"<head>.*?</head>", "", html, flags=re.S)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"from": "2026-07-10", "to": "2026-07-01"}, "The last day is before the first one."),
        ({"from": "yesterday", "to": "2026-07-01"}, "Enter a valid date."),
        ({"from": "0001-01-01", "to": "2026-07-01"}, "The first year that can be shown is 2000."),
        ({"from": "2026-07-01", "to": "12026-07-01"}, "Enter a valid date."),
        ({"from": "2000-01-01", "to": "9999-12-31"}, "At most ten years are shown."),
        ({"from": "2026-08-01", "to": "2026-08-02"}, "This day is still to come."),
        ({"from": "2026-07-01"}, "Please choose a day."),
        ({"from": "2024-01-01", "to": "2026-07-01", "step": "day"}, "By day at most 366 days are shown."),
        ({"range": "30", "step": "minute"}, "Select a valid choice."),
        ({"assistant": "999999999999999999999"}, "Select a valid choice."),
        ({"assistant": "1 OR 1=1"}, "Select a valid choice."),
        ({"language": "xx"}, "Select a valid choice."),
        ({"range": "<script>"}, "Please choose a day."),
        ({"from": "\x00", "to": "\x00"}, "Enter a valid date."),
    ],
)
def test_what_cannot_be_shown_is_said_beside_its_field(client, address, said):
    page = visit(client, **address)
    assert page.status_code == 200
    assert said in words(page)
    assert "Compared with" not in words(page)


def test_long_periods_are_shown_by_week_and_by_month(client):
    ask_by(1, day(7, 10))
    count_changed()
    for first, step, points in (("2026-04-15", "Day", 92), ("2025-07-15", "Week", 53), ("2017-07-01", "Month", 109)):
        html = visit(client, **{"from": first, "to": "2026-07-15"}).content.decode()
        table = re.search(r"chart__scroll.*?</table>", html, re.S)[0]
        assert f'<th scope="col">{step}</th>' in table
        assert table.count('scope="row"') == points


def test_what_is_still_to_come_is_cut_off_and_said(client):
    ask_by(1, day(7, 10))
    count_changed()
    page = visit(client, **{"from": "2026-07-01", "to": "2026-09-30"})
    assert "1 Jul 2026 – 15 Jul 2026" in words(page)
    assert "Today is included so far." in words(page)


def test_a_team_is_offered_and_shown_its_own_alone(client):
    team = Group.objects.create(name="Law")
    own, others = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    own.teams.add(team)
    SiteFactory(assistant=others, name="Clinic")
    ask_by(2, day(7, 10), assistant=own)
    ask_by(7, day(7, 10), assistant=others)
    count_changed()
    page = visit(client, READS, SMALL, teams=[team])
    assert card(page, "Questions").startswith("2 ")
    assert "Lexi" in words(page)
    assert "Medi" not in words(page)
    assert "Clinic" not in words(page)
    client.logout()
    assert "Select a valid choice." in words(visit(client, READS, SMALL, teams=[team], assistant=str(others.pk)))


def test_a_site_of_another_assistant_is_refused(client):
    site, other = SiteFactory(), AssistantFactory()
    assert "belongs to another assistant" in words(visit(client, site=str(site.pk), assistant=str(other.pk)))


# --- few people ---


def test_fewer_visitors_than_the_smallest_group_are_not_shown(client):
    ask_by(4, day(7, 10), document=DocumentFactory(title="Fees page"))
    count_changed()
    page = visit(client, READS)
    assert "Figures from fewer than 5 visitors are hidden for privacy. Choose a longer period" in words(page)
    assert "Fees page" not in words(page)
    assert "data-chart" not in page.content.decode()
    client.logout()
    assert card(visit(client, READS, SMALL), "Questions").startswith("4 ")


def test_small_groups_within_a_large_one_are_left_out(client):
    known, rare = FAQFactory(question="Known?"), FAQFactory(question="Rare?")
    site = SiteFactory(name="Tiny site")
    ask_by(9, day(7, 10), faq=known, document=DocumentFactory(title="Known page", status="published"))
    for rated in ask_by(
        2,
        day(7, 11),
        faq=rare,
        language="de",
        site=site,
        assistant=site.assistant,
        document=DocumentFactory(title="Rare page", status="published"),
    ):
        Feedback.objects.create(message=rated, value=-1, reasons=["outdated"])
    count_changed()
    said = words(visit(client, READS))
    assert "Known?" in said
    assert "Known page" in said
    assert "Rows with fewer than 5 visitors are hidden for privacy." in said
    before, cited_by_few = said.split("Documents that no or few answers cite")
    assert "Rare page" in cited_by_few
    said = before
    for name in ("Rare?", "Rare page", "Tiny site", "German 2"):
        assert name not in re.sub(r"Filters.*?Compared", "", said), name
    # With one part hidden the other would be the whole less it.
    assert "not shown" in said
    client.logout()
    everything = words(visit(client, READS, SMALL))
    assert "Rare?" in everything
    assert "Rare page" in everything
    assert "Documents that no answer cites None: every published page was cited." in everything


def test_opinions_of_few_are_shown_on_no_card_and_in_no_sentence(client):
    for rated in ask_by(9, day(7, 10))[:6]:
        Feedback.objects.create(message=rated, value=1)
    for rated in ask_by(1, day(7, 10)):
        Feedback.objects.create(message=rated, value=-1)
        Conversation.objects.filter(pk=rated.conversation_id).update(stars=4)
    count_changed()
    page = visit(client, READS, CONVERSATIONS)
    assert card(page, "Thumbs up").startswith("6 ")
    for label in ("Thumbs down", "Stars, 1 to 5"):
        assert card(page, label).startswith("not shown")
        assert card_link(page, label) is None
    assert "rated conversation" not in words(page)
    assert "of all thumbs" not in words(page)
    client.logout()
    page = visit(client, READS, SMALL)
    assert card(page, "Thumbs down").startswith("1 ")
    assert re.search("of 1 rated conversation(?!s)", card(page, "Stars, 1 to 5"))
    assert "86 % of all thumbs went up." in words(page)


def test_a_period_before_with_few_visitors_is_not_compared_with(client):
    ask_by(9, day(7, 10))
    ask_by(2, day(7, 2))
    count_changed()
    page = visit(client, READS, **{"from": "2026-07-06", "to": "2026-07-12"})
    assert card(page, "Questions").startswith("9 –")


def test_gaps_are_named_to_who_may_read_them(client):
    ask_by(6, day(7, 10))
    count_changed()
    new_gap("Parking for bicycles", visitors=6, this_week=4, week_before=2)
    new_gap("Swimming", visitors=2)
    assert "Parking" not in words(visit(client, READS))
    client.logout()
    said = words(visit(client, READS, "analytics.view_gap"))
    assert "Parking for bicycles" in said
    assert "rising" in said
    assert "Swimming" not in said


def new_topic(name, asked):
    """Make a topic of these questions, as a night does."""
    topic = Topic.objects.create(name=name, assistant=asked[0].conversation.assistant, centroid=bytes(8), recipe="none")
    TopicQuestion.objects.bulk_create(TopicQuestion(message=question, topic=topic) for question in asked)
    return topic


def test_what_was_asked_about_most_is_named_to_who_may_see_topics(client):
    assistant = AssistantFactory()
    ask_by(12, day(7, 10), assistant=assistant)
    questions = list(Message.objects.filter(role="user").order_by("pk"))
    parking = new_topic("Parking for bicycles", questions[:8])
    new_topic("Swimming", questions[8:10])
    count_changed()
    count_topics()
    assert "Parking" not in words(visit(client, READS))
    client.logout()
    page = visit(client, READS, "analytics.view_topic")
    assert "What was asked about most" in words(page)
    assert "Parking for bicycles 8 questions" in words(page)
    assert "Swimming" not in words(page)
    address = reverse("topic", args=[parking.pk])
    link = next(each for each in re.findall(r'href="([^"]+)"', page.content.decode()) if each.startswith(address))
    assert client.get(link.replace("&amp;", "&")).status_code == 200
    compared = visit(client, READS, SMALL, "analytics.view_topic", compare="language:de")
    assert "Parking for bicycles 8 questions" in words(compared)


# --- the conversations behind a figure ---


def test_figures_lead_to_the_conversations_behind_them(client):
    assistant, faq, document = AssistantFactory(), FAQFactory(), DocumentFactory()
    visitor = VisitorFactory()
    both = begins(day(7, 10), assistant=assistant, visitor=visitor)
    asks(both, day(7, 10), status="abstained", language="de")
    asks(both, day(6, 1), status="complete", language="en")
    steered = begins(day(7, 11, hour=9), assistant=assistant)
    rated = asks(steered, day(7, 11, hour=9), faq=faq, document=document)
    Feedback.objects.create(message=rated, value=-1, reasons=["wrong"])
    count_changed()
    address = {"from": "2026-07-01", "to": "2026-07-15", "assistant": str(assistant.pk)}
    page = visit(client, READS, SMALL, CONVERSATIONS, "faqs.view_faq", **address)

    def behind(href):
        listed = client.get(href)
        assert listed.status_code == 200, href
        return set(listed.context["cl"].queryset.values_list("pk", flat=True))

    html = page.content.decode().replace("&amp;", "&")
    assert behind(card_link(page, "No answer given")) == {both.pk}
    assert behind(card_link(page, "Answered")) == {steered.pk}  # the other's answer was in June
    assert behind(card_link(page, "Thumbs down")) == {steered.pk}
    assert behind(card_link(page, "Conversations")) == {both.pk, steered.pk}
    assert card_link(page, "New visitors") == card_link(page, "Conversations")
    for parameter in ("reason=wrong", f"faq={faq.pk}", f"document={document.pk}", "hour=11", "language=en"):
        href = next(href for href in re.findall(r'href="([^"]+)"', html) if parameter in href and "asked=" in href)
        assert behind(href) == {steered.pk}, parameter
    assert reverse("admin:faqs_faq_change", args=[faq.pk]) in html
    assert reverse("admin:knowledge_document_change", args=[document.pk]) not in html


def test_who_may_not_read_conversations_gets_no_links_to_them(client):
    ask_by(6, day(7, 10), faq=FAQFactory())
    count_changed()
    html = visit(client, READS).content.decode()
    assert reverse("admin:chat_conversation_changelist") not in html


def test_deleted_conversations_are_not_linked_to(client):
    assistant = AssistantFactory()
    ask_by(6, day(3, 10), assistant=assistant)
    count_changed()
    FrozenCounts.objects.create(assistant=assistant, before=datetime.date(2026, 4, 16))
    page = visit(client, READS, CONVERSATIONS, **{"from": "2026-03-01", "to": "2026-03-31"})
    assert card(page, "Questions").startswith("6 ")
    assert "The conversations of this period are deleted; the figures stay." in words(page)
    assert "asked=" not in page.content.decode()
    page = visit(client, READS, CONVERSATIONS, **{"from": "2026-03-01", "to": "2026-05-31"})
    assert "Conversations without a message since 16 Apr 2026 are deleted" in words(page)
    assert "asked=" in page.content.decode()


@pytest.mark.parametrize(
    "address",
    [
        *(
            "asked=letters",
            "asked=2026-07-10..2026-07-01",
            "begun=0001-01-01..0001-01-02",
            "faq=x",
            "site=9" + "9" * 30,
        ),
        *("answer=splendid", "feedback=both"),
        *("document=-1", "hour=ten", "asked=2026-07-01..9999-12-31", "asked=%00"),
    ],
)
def test_a_list_of_conversations_refuses_what_it_does_not_understand(client, address):
    client.force_login(UserFactory(permissions=[CONVERSATIONS]))
    answer = client.get(f"{reverse('admin:chat_conversation_changelist')}?{address}&language=de")
    assert answer.status_code == 302
    assert parse_qs(urlsplit(answer.url).query) == {"language": ["de"]}
    assert "The list is shown without it." in client.get(answer.url).content.decode()


def test_what_was_not_understood_is_said(client):
    client.force_login(UserFactory(permissions=[CONVERSATIONS]))
    for address, said in {
        "asked=letters": "There is no such choice: letters.",
        "asked=2026-07-10..2026-07-01": "The last day is before the first one.",
        "answer=%3Cb%3E": "There is no such choice: &lt;b&gt;.",
        "feedback=both": "There is no such choice: both.",
    }.items():
        page = client.get(f"{reverse('admin:chat_conversation_changelist')}?{address}", follow=True)
        assert said in page.content.decode()


# --- cost ---


@pytest.mark.slow
@pytest.mark.parametrize("rights", [(), (SMALL,)])
@pytest.mark.parametrize("period", [{"range": "7"}, {"from": "2026-01-03", "to": "2026-07-14"}, {"range": "all"}])
def test_the_whole_page_costs_seventeen_queries(client, django_assert_max_num_queries, period, rights):
    free_space(connection)
    site = SiteFactory()
    for month in range(1, 8):
        ask_by(
            9,
            day(month, 13),
            document=DocumentFactory(status="published"),
            faq=FAQFactory(),
            site=site,
            assistant=site.assistant,
        )
    count_changed()
    new_gap(visitors=9)
    sees = ("analytics.view_gap", "analytics.view_topic")
    permissions = (READS, CONVERSATIONS, *sees, "faqs.view_faq", "knowledge.view_document", *rights)
    client.force_login(UserFactory(permissions=permissions, teams=None))
    for narrowed in ({}, {"assistant": str(site.assistant_id), "site": str(site.pk), "language": "en"}):
        with django_assert_max_num_queries(17) as queries:
            page = client.get(reverse("dashboard"), {**period, **narrowed})
        assert b"cards__item" in page.content
        assert len(queries) > 8


# --- what the language model wrote ---


@pytest.mark.django_db
def test_sentences_of_the_language_model_are_told_with_what_became_of_them(client):
    assistant = AssistantFactory()
    (answer,) = ask_by(1, day(7, 10), assistant=assistant)
    type(answer).objects.filter(pk=answer.pk).update(sentences_shown=6, sentences_quoted=3, sentences_left_out=1)
    for verdict in ("rightly", "rightly", "rightly", "wrongly"):
        held_back(answer=answer, verdict=verdict)
    ask_by(1, day(7, 11))
    count_changed()
    for chosen in ({}, {"assistant": assistant.pk}):
        shown = visit(client, **chosen)
        assert card(shown, "Written").startswith("10 ")
        assert card(shown, "Shown as written").endswith("60 % of the model’s sentences")
        assert card(shown, "Quoted instead").startswith("3 ")
        assert card(shown, "Left out").startswith("1 ")
        assert card(shown, "Right not to show") == "75 % – of 4 judged sentences"
        told = f"{assistant.name} 40 % of 10 Right not to show: 75 % of 4 judged sentences"
        assert f"Sentences not shown, by assistant {told}" in words(shown)


@pytest.mark.django_db
def test_without_a_language_model_no_sentences_are_told(client):
    ask_by(1, day(7, 10))
    count_changed()
    assert "Sentences of the language model" not in words(visit(client))


@pytest.mark.django_db
def test_sentences_of_a_small_group_are_not_told(client):
    for answer in ask_by(4, day(7, 10)):
        type(answer).objects.filter(pk=answer.pk).update(sentences_shown=6, sentences_quoted=3, sentences_left_out=1)
    count_changed()
    assert "Sentences of the language model" not in words(visit(client, READS))


# --- the headline ---


def rated(up, down, silent, moment):
    for value, count in ((1, up), (-1, down), (0, silent)):
        for answer in ask_by(count, moment):
            if value:
                Feedback.objects.create(message=answer, value=value)


def test_the_headline_says_in_one_sentence_what_was_resolved_and_saved(client):
    rated(9, 3, 12, day(7, 10))
    rated(6, 6, 0, day(6, 25))
    count_changed()
    page = visit(client, **{"from": "2026-07-01", "to": "2026-07-15"})
    assert (
        "Of 24 conversations 75 % were resolved, 25 points more than in the period before; that saved staff about 2 h "
        "of work."
    ) in words(page)
    assert card(page, "Resolved") == "75 % +50 % , 50 % before 38 % said so, nothing speaks against 88 %"
    assert "Assumed: 5 minutes of staff’s time" in words(page)


def test_without_enough_ratings_nothing_is_said_to_be_resolved(client):
    rated(5, 0, 40, day(7, 10))
    count_changed()
    page = visit(client)
    assert "Students began 45 conversations." in words(page)
    assert "rated conversations are too few: 10 are needed" in card(page, "Resolved")
    assert card(page, "Work saved").startswith("–")


def test_outcomes_of_few_hide_all_of_them_as_they_add_up(client):
    rated(12, 3, 20, day(7, 10))
    count_changed()
    page = visit(client, READS)
    assert card(page, "Answered, nothing said").startswith("not shown")
    assert card(page, "Resolved").startswith("not shown")
    assert "Students began 35 conversations." in words(page)


def figure_of(response, title):
    """Return the text of the chart with this title, in one line."""
    found = re.search(rf"<figure(?:(?!<figure).)*?<h2>{title}</h2>.*?</figure>", response.content.decode(), re.S)
    assert found, title
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0]))


HIDDEN_DAYS = (
    "Hidden for privacy: each day’s figures are from fewer than 5 visitors, or would reveal those of such a day. "
    "Choose weeks or months instead of days, or a longer period."
)


def test_charts_whose_days_are_all_small_groups_say_why_they_are_empty_and_what_to_choose(client):
    for number in (8, 9, 10):
        rated(4, 0, 0, day(7, number))
    count_changed()
    page = visit(client, READS)
    for title in ("Use over time", "Answers over time", "What became of conversations over time", "Opinions over time"):
        assert HIDDEN_DAYS in figure_of(page, title), title
        assert "canvas" not in figure_of(page, title)
    assert "12 questions." in figure_of(page, "Use over time")
    html = page.content.decode()
    assert 'data-chart="chart-use-data"' not in html
    assert 'data-chart="chart-outcomes-data"' not in html
    by_week = visit(client, READS, step="week")
    assert 'data-chart="chart-outcomes-data"' in by_week.content.decode()
    assert "Hidden for privacy" not in figure_of(by_week, "Use over time")
    allowed = visit(client, READS, SMALL)
    assert 'data-chart="chart-outcomes-data"' in allowed.content.decode()
    assert "Hidden for privacy" not in words(allowed)


def test_a_chart_of_figures_that_are_hidden_each_day_says_so_beside_one_that_is_drawn(client):
    for number in (8, 9, 10):
        rated(2, 0, 5, day(7, number))
    count_changed()
    page = visit(client, READS)
    assert 'data-chart="chart-use-data"' in page.content.decode()
    assert "Hidden for privacy" not in figure_of(page, "Use over time")
    assert HIDDEN_DAYS in figure_of(page, "Opinions over time")


def test_a_period_in_which_nobody_asked_is_told_apart_from_one_that_is_hidden(client):
    for number in (8, 9, 10):
        rated(4, 0, 0, day(7, number))
    count_changed()
    said = words(visit(client, READS, **{"from": "2026-06-01", "to": "2026-06-30"}))
    assert "Nothing was asked in this period." in said
    assert "Hidden for privacy" not in said


def test_hidden_charts_say_so_in_german(client):
    for number in (8, 9, 10):
        rated(4, 0, 0, day(7, number))
    count_changed()
    client.force_login(UserFactory(permissions=[READS]))
    page = client.get(reverse("dashboard"), headers={"accept-language": "de"})
    assert (
        "Zum Schutz der Privatsphäre ausgeblendet: Die Zahlen jedes Tages stammen von weniger als 5 Personen oder "
        "würden die eines solchen Tages verraten. Wählen Sie Wochen oder Monate statt Tagen oder einen längeren "
        "Zeitraum."
    ) in figure_of(page, "Nutzung im Zeitverlauf")


def use(count, kind, moment, **fields):
    for answer in ask_by(count, moment, **fields):
        Message.objects.filter(pk=answer.pk).update(contacts_used=[kind])


def test_contacts_that_students_went_to_stand_beside_the_outcomes_and_change_none(client):
    use(7, "email", day(7, 10), status="abstained")
    use(6, "email", day(6, 25), status="abstained")
    use(2, "phone", day(7, 11))
    count_changed()
    page = visit(client, READS, SMALL, **{"from": "2026-07-01", "to": "2026-07-15"})
    assert card(page, "E-mail addresses").startswith("7 +17 % , 6 before")
    assert card(page, "Telephone numbers").startswith("2 ")
    assert card(page, "Not answered").startswith("7 ")
    assert "Contacts used over time" in words(page)


def test_how_often_few_went_to_a_contact_is_not_shown(client):
    use(5, "email", day(7, 10))
    use(4, "page", day(7, 11))
    ask_by(9, day(7, 11))
    count_changed()
    page = visit(client, READS)
    assert card(page, "E-mail addresses").startswith("5 ")
    assert card(page, "Pages of contacts").startswith("not shown")
    assert card(page, "Telephone numbers").startswith("0 ")


def test_without_a_contact_used_nothing_is_said_of_contacts(client):
    ask_by(9, day(7, 11))
    count_changed()
    assert "Contacts that students went to" not in words(visit(client, READS))


def test_costs_are_shown_once_there_are_prices(client):
    ask_by(2, day(7, 10))
    count_changed()
    assert "at the prices above" not in words(visit(client))
    Assumptions.objects.create(pk=1, read_price=1_000, written_price=10_000)
    page = visit(client)
    assert "0.3400 EUR" in card(page, "Language model")
    assert "0.1700 EUR" in card(page, "A conversation")


def test_administrators_change_what_is_assumed_and_the_dashboard_leads_there(client):
    ask_by(1, day(7, 10))
    count_changed()
    page = visit(client, READS, SMALL, "analytics.change_assumptions", "analytics.view_assumptions")
    assert "Change what is assumed" in words(page)
    form = client.get(reverse("admin:analytics_assumptions_changelist"), follow=True)
    assert "minutes that staff would need for a question" in words(form).lower()
    values = {"minutes": "8", "read_price": "0.5", "written_price": "2", "currency": "EUR"}
    saved = client.post(reverse("admin:analytics_assumptions_change", args=[1]), values)
    assert saved.url == reverse("dashboard")
    assert Assumptions.objects.get().minutes == 8


# --- the answers behind a figure ---


def test_who_may_not_read_conversations_is_led_to_a_masked_report_of_the_answers(client):
    site = SiteFactory()
    for answer in ask_by(6, day(7, 10), status="abstained", site=site, assistant=site.assistant):
        answer.question.text = "What are the fees? anna@uni.example"
        answer.question.save()
    ask_by(7, day(7, 11), site=site, assistant=site.assistant)
    ask_by(9, day(6, 1), status="abstained")
    count_changed()
    address = {"from": "2026-07-01", "to": "2026-07-15", "site": str(site.pk)}
    page = visit(client, READS, "analytics.export_reports", **address)
    report = client.get(card_link(page, "No answer given"))
    assert report.status_code == 200
    form = report.context["form"]
    assert (form["first"].value(), form["statuses"].value()) == (datetime.date(2026, 7, 1), ("abstained",))
    assert report.context["preview"].rows == 6
    assert "fees" in words(report)
    assert "anna@uni.example" not in words(report)
    assert card_link(page, "New visitors") is None
    assert reverse("admin:chat_conversation_changelist") not in page.content.decode()
    drawn = re.findall(r'"links": (\[.*?\])', page.content.decode())[0]
    assert "/admin/analytics/report/add/?span=fixed&first=2026-07-10&last=2026-07-10" in json.loads(drawn)[9]


def test_what_became_of_conversations_leads_to_a_report_of_the_answers_in_these(client):
    rated(12, 5, 3, day(7, 10))
    count_changed()
    address = {"from": "2026-07-10", "to": "2026-07-10"}
    page = visit(client, "analytics.see_small_groups", READS, "analytics.export_reports", **address)
    report = client.get(card_link(page, "Answered, and rated as bad"))
    assert list(report.context["form"]["outcomes"].value()) == ["disliked"]
    assert report.context["preview"].rows == 5
    assert not card_link(page, "Left with an office")  # nobody did
    assert not card_link(visit(client, READS, **address), "Answered, and rated as bad")


def test_a_report_is_not_asked_for_others_answers_by_its_address(client):
    team = Group.objects.create(name="Law")
    own, others = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    own.teams.add(team)
    client.force_login(UserFactory(permissions=["analytics.export_reports"], teams=[team]))
    page = client.get(reverse("admin:analytics_report_add"), {"assistants": others.pk})
    assert "that you do not look after" in words(page)
    assert "Medi" not in words(page)
    assert page.context["preview"] is None

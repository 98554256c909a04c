"""Two periods, sites, assistants or languages side by side on the dashboard, under the rights and limits of each."""

import datetime
import json
import re

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.counts.refresh import count_changed
from analytics.periods import Period
from chat.models import Feedback
from tests.analytics.dashboard.test_page import (
    CONVERSATIONS,
    READS,
    SMALL,
    TODAY,
    ask_by,
    card,
    day,
    figure_of,
    visit,
    words,
)
from tests.factories import AssistantFactory, FAQFactory, SiteFactory, UserFactory
from tests.staff.api import Program

pytestmark = pytest.mark.django_db
JULY = {"from": "2026-07-01", "to": "2026-07-15"}


@pytest.fixture(autouse=True)
def _today(monkeypatch):
    monkeypatch.setattr(timezone, "localdate", lambda *_: TODAY)


def test_a_year_before_29_february_is_the_28th():
    leap = Period(datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
    assert leap.year_before == Period(datetime.date(2023, 2, 1), datetime.date(2023, 2, 28))


def titles(page):
    return re.findall(r"<h2>([^<]+)</h2>", page.content.decode())


def drawn(page, name):
    figure = re.search(rf'<figure[^>]*data-chart="chart-{name}-data".*?</figure>', page.content.decode(), re.S)
    return json.loads(re.search(r"<script[^>]*>(.*?)</script>", figure[0], re.S)[1])


def test_two_assistants_stand_side_by_side(client):
    law, medicine = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    faq = FAQFactory(question="Fees?")
    ask_by(6, day(7, 10), assistant=law, faq=faq)
    ask_by(3, day(7, 11), assistant=medicine, faq=faq)
    ask_by(1, day(7, 11), assistant=medicine, status="abstained")
    count_changed()
    page = visit(client, assistant=str(law.pk), compare=f"assistant:{medicine.pk}", **JULY)
    assert "Compared with Medi." in words(page)
    assert card(page, "Conversations").startswith("6 +50 % , Medi: 4")
    assert card(page, "Without an answer").startswith("0 % −100 % , Medi: 25 %")
    assert titles(page)[:4] == [
        "Use over time: Lexi",
        "Use over time: Medi",
        "Answers over time: Lexi",
        "Answers over time: Medi",
    ]
    mine, other = drawn(page, "use"), drawn(page, "use-other")
    assert sum(mine["series"][0]["values"]) == 6
    assert sum(other["series"][0]["values"]) == 4
    assert mine["top"] == other["top"] == 6
    assert [each["label"] for each in drawn(page, "hours")["series"]] == ["Lexi", "Medi"]
    assert "Assistants" not in titles(page)
    assert "6 answers +100 % , Medi: 3" in words(page)
    assert "Students began 6 conversations. Medi: Students began 4 conversations." in words(page)


def test_a_site_or_a_language_is_compared_with_all(client):
    site = SiteFactory(name="Library")
    ask_by(2, day(7, 10), site=site, assistant=site.assistant, language="de")
    ask_by(6, day(7, 10), language="en")
    SiteFactory(name="Canteen")
    count_changed()
    assert card(visit(client, compare=f"site:{site.pk}", **JULY), "Questions").startswith("8 +300 % , Library (")
    client.logout()
    page = visit(client, compare="language:de", **JULY)
    assert card(page, "Questions").startswith("8 +300 % , German: 2")
    assert [each["label"] for each in drawn(page, "hours")["series"]] == ["All languages", "German"]


def test_the_same_days_of_a_year_before_and_other_dates(client):
    ask_by(3, day(7, 10))
    ask_by(2, day(7, 10).replace(year=2025))
    ask_by(4, day(3, 10))
    count_changed()
    page = visit(client, compare="year", **JULY)
    assert "Compared with 1 Jul 2025 – 15 Jul 2025." in words(page)
    assert card(page, "Questions").startswith("3 +50 % , Year before: 2")
    client.logout()
    page = visit(client, compare="dates", compare_from="2026-03-01", compare_to="2026-03-31", **JULY)
    assert card(page, "Questions").startswith("3 −25 % , Other dates: 4")
    assert "This period has 15 days, the other one 31." in words(page)
    assert len(drawn(page, "use-other")["labels"]) == 31


def test_figures_of_both_sides_lead_to_their_conversations(client):
    ask_by(3, day(7, 10))
    ask_by(2, day(7, 10).replace(year=2025))
    count_changed()
    page = visit(client, READS, SMALL, CONVERSATIONS, compare="year", **JULY)
    mine, other = (next(filter(None, drawn(page, name)["links"])) for name in ("use", "use-other"))
    assert "asked=2026-07-01" in mine
    assert "asked=2025-07-01" in other


def test_a_period_keeps_what_it_is_compared_with(client):
    page = visit(client, compare="year", **JULY)
    assert "compare=year&amp;range=90" in page.content.decode().replace("?", "&amp;")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("compare", "Nothing was asked on the other side (1 Jan 2026 – 2 Jan 2026)."),
        ("shown", "Nothing was asked in this period."),
    ],
)
def test_an_empty_side_says_so_and_the_other_one_is_shown(client, asked, said):
    ask_by(3, day(7, 10))
    count_changed()
    empty = ("2026-01-01", "2026-01-02")
    full = (JULY["from"], JULY["to"])
    mine, other = (full, empty) if asked == "compare" else (empty, full)
    address = {"from": mine[0], "to": mine[1], "compare_from": other[0], "compare_to": other[1]}
    page = visit(client, compare="dates", **address)
    assert said in words(page)
    assert "Nothing to show on this side." in words(page)
    assert "Use over time" in words(page)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"compare": "dates"}, "Please choose a day."),
        ({"compare": "dates", "compare_from": "2026-01-01"}, "Please choose a day."),
        (
            {"compare": "dates", "compare_from": "2026-02-01", "compare_to": "2026-01-01"},
            "The last day is before the first one.",
        ),
        ({"compare": "dates", "compare_from": "2026-08-01", "compare_to": "2026-08-02"}, "This day is still to come."),
        ({"compare": "dates", "compare_from": "2026-02-30", "compare_to": "2026-08-02"}, "Enter a valid date."),
        (
            {"compare": "dates", "compare_from": "2024-01-01", "compare_to": "2026-01-02", "step": "day"},
            "By day at most 366 days are shown.",
        ),
        ({"compare": "language:de", "language": "de"}, "This is what is shown: choose another one"),
        ({"compare": "assistant:77777"}, "Select a valid choice."),
        ({"compare": "<script>"}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_compared_is_said_beside_its_field(client, address, said):
    page = visit(client, **address)
    assert said in words(page)
    assert "Compared with" not in words(page)


# --- rights and few people ---


def test_nothing_of_others_can_be_compared(client):
    team = Group.objects.create(name="Law")
    own, others = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    own.teams.add(team)
    site = SiteFactory(assistant=others, name="Clinic")
    ask_by(7, day(7, 10), assistant=others)
    count_changed()
    for place in (f"assistant:{others.pk}", f"site:{site.pk}"):
        page = visit(client, READS, SMALL, teams=[team], compare=place)
        assert "Select a valid choice." in words(page)
        assert "Medi" not in words(page)
        assert "Clinic" not in words(page)
        client.logout()


def test_a_side_of_few_people_is_hidden(client):
    law, medicine = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    faq = FAQFactory(question="Fees?")
    ask_by(9, day(7, 10), assistant=law, faq=faq)
    for rated in ask_by(3, day(7, 11), assistant=medicine, faq=faq):
        Feedback.objects.create(message=rated, value=1)
    ask_by(9, day(7, 10))
    count_changed()
    page = visit(client, READS, compare=f"assistant:{medicine.pk}", **JULY)
    assert "The other side (Medi) is hidden for privacy" in words(page)
    assert card(page, "Questions") == "21 –"
    assert "Use over time: Medi" not in titles(page)
    assert "Medi: " not in words(page)
    client.logout()
    page = visit(client, READS, assistant=str(medicine.pk), compare=f"assistant:{law.pk}", **JULY)
    assert "Choose a longer period or more assistants." in words(page)
    assert "data-chart" not in page.content.decode()


def test_a_side_shows_no_more_than_alone(client):
    """Each figure that is hidden from a view alone is hidden from it as the other side."""
    law, medicine = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    faq, rare = FAQFactory(question="Fees?"), FAQFactory(question="Rare?")
    ask_by(9, day(7, 10), assistant=law, faq=faq)
    ask_by(9, day(7, 10), assistant=law, faq=rare)
    ask_by(9, day(7, 11), assistant=medicine, faq=faq)
    for rated in ask_by(2, day(7, 12), assistant=medicine, faq=rare):
        Feedback.objects.create(message=rated, value=1)
    ask_by(9, day(7, 13), assistant=medicine)  # otherwise both days are hidden, and no chart is drawn
    count_changed()
    alone = visit(client, READS, assistant=str(medicine.pk), **JULY)
    assert card(alone, "Thumbs up").startswith("not shown")
    client.logout()
    page = visit(client, READS, assistant=str(law.pk), compare=f"assistant:{medicine.pk}", **JULY)
    assert card(page, "Thumbs up") == "0 –"
    assert "9 answers ±0 % , Medi: 9" in words(page)
    assert not re.search(r"Medi: 2(?![\d,])", words(page))
    assert drawn(page, "use-other")["series"] == drawn(alone, "use")["series"]
    assert None in drawn(page, "use-other")["series"][0]["values"]


def test_a_side_whose_days_are_all_small_groups_says_why_its_chart_is_empty(client):
    law, medicine = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    ask_by(9, day(7, 10), assistant=law)
    for number in (12, 13):
        ask_by(4, day(7, number), assistant=medicine)
    count_changed()
    page = visit(client, READS, assistant=str(law.pk), compare=f"assistant:{medicine.pk}", **JULY)
    assert "Hidden for privacy: each day’s figures are from fewer than 5" in figure_of(page, "Use over time: Medi")
    assert "Hidden for privacy" not in figure_of(page, "Use over time: Lexi")


# --- programs and costs ---


def test_programs_compare_too():
    law, medicine = AssistantFactory(name="Lexi"), AssistantFactory(name="Medi")
    ask_by(6, day(7, 10), assistant=law)
    ask_by(3, day(7, 11), assistant=medicine)
    count_changed()
    program = Program(UserFactory(permissions=[READS, SMALL]))
    shown = program.get(
        f"/figures/?from=2026-07-01&to=2026-07-15&assistant={law.pk}&compare=assistant:{medicine.pk}"
    ).json()
    assert shown["before"] == {"first": "2026-07-01", "last": "2026-07-15"}
    assert shown["figures"]["now"]["questions"] == 6
    assert shown["figures"]["before"]["questions"] == 3


def test_comparing_costs_eight_queries_more_and_none_where_nothing_is_compared(client):
    ask_by(6, day(7, 10), faq=FAQFactory())
    count_changed()
    client.force_login(UserFactory(permissions=[READS]))
    client.get(reverse("dashboard"), JULY)
    with CaptureQueriesContext(connection) as alone:
        client.get(reverse("dashboard"), JULY)
    with CaptureQueriesContext(connection) as compared:
        client.get(reverse("dashboard"), {**JULY, "compare": "year"})
    assert len(alone) <= 16
    assert len(compared) <= len(alone) + 8

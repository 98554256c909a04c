"""The search over everything: also work of the inbox, topics, contradictions, reports, screens and settings."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from analytics.models import Contradiction, Report, Topic
from chat.models import Case, CaseMessage
from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR
from tests.analytics.cases.rows import new_case
from tests.analytics.contradictions.test_page import contradiction
from tests.analytics.reviews.rows import new_review
from tests.chat.admin.test_held_back import held_back
from tests.factories import AnswerFactory, CollectionFactory, DocumentFactory, FAQFactory, UserFactory
from tests.staff.test_home import Team, make_member

pytestmark = pytest.mark.django_db
SEARCH = reverse("search-everything")


def found(user: Any, text: str) -> dict[str, list[tuple[str, str]]]:
    client = Client()
    client.force_login(user)
    return {str(part.title): list(part.rows) for part in client.get(SEARCH, {"q": text}).context["found"]}


@pytest.fixture
def everybody() -> Any:
    return UserFactory(is_superuser=True)


def permitted(*permissions: str) -> Any:
    return UserFactory(permissions=[*permissions, "knowledge.whole_university"])


def test_a_case_is_found_by_its_question_and_by_what_was_written(everybody: Any) -> None:
    case = new_case(question="Where can I park my zebra?")
    CaseMessage.objects.create(case=case, by=CaseMessage.By.OFFICE, text="Behind the stables.")
    expected = {"Cases": [("Where can I park my zebra?", reverse("admin:chat_case_change", args=[case.pk]))]}
    assert found(everybody, "zebra") == expected
    assert found(everybody, "stables") == expected
    assert found(permitted("chat.view_case"), "zebra") == expected
    assert found(permitted("faqs.view_faq"), "zebra") == {}


def test_a_case_of_a_person_in_need_is_found_by_who_may_read_it() -> None:
    new_case(question="Nobody would miss my zebra", reason=Case.Reason.HELP)
    assert found(permitted("chat.view_case"), "zebra") == {}
    assert list(found(permitted("chat.view_case", "chat.read_help_message"), "zebra")) == ["Cases"]


def test_an_answer_to_review_is_found_by_its_question() -> None:
    review = new_review("Where do I stable my zebra?")
    expected = [("Where do I stable my zebra?", reverse("admin:analytics_review_change", args=[review.pk]))]
    assert found(permitted("analytics.view_review"), "zebra") == {"Answers to review": expected}
    assert found(permitted("chat.view_case"), "zebra") == {}
    review.message.route = "crisis"
    review.message.save()
    assert found(permitted("analytics.view_review"), "zebra") == {}
    assert found(permitted("analytics.view_review", "chat.read_help_message"), "zebra") != {}


def test_a_held_back_sentence_is_found_unless_it_answers_a_person_in_need() -> None:
    row = held_back("Zebras pay 300 euros.")
    held_back("Zebras are nobody's.", answer=AnswerFactory(route="crisis", sentences_left_out=1))
    address = reverse("admin:chat_heldbacksentence_change", args=[row.pk])
    title = "Sentences not shown to students"
    assert found(permitted("chat.view_heldbacksentence"), "zebras") == {title: [("Zebras pay 300 euros.", address)]}
    assert found(permitted("chat.view_case"), "zebras") == {}


def test_a_contradiction_is_found_and_leads_to_the_list_with_it_alone(everybody: Any) -> None:
    first = contradiction(DocumentFactory(), DocumentFactory(), first_text="A **zebra** costs 5 euros.")
    contradiction(DocumentFactory(), DocumentFactory(), state="gone", first_text="A zebra costs 5 euros.")
    contradiction(DocumentFactory(), DocumentFactory())
    ((title, address),) = found(everybody, "zebra")["Contradictions"]
    assert title.startswith("A zebra costs 5 euros. – ")
    client = Client()
    client.force_login(everybody)
    assert [row.key.pk for row in client.get(address).context["rows"]] == [first.pk]
    assert client.get(reverse("contradictions"), {"row": "x"}).context["page"].paginator.count == 2
    team = Team("Law")
    assert "Contradictions" not in found(make_member(team, CURATOR), "zebra")


def test_a_report_is_found_by_its_owner_and_if_it_is_shared() -> None:
    owner, other = permitted("analytics.export_reports"), permitted("analytics.export_reports")
    report = Report.objects.create(name="Zebras by month", owner=owner, definition={})
    address = reverse("admin:analytics_report_change", args=[report.pk])
    assert found(owner, "zebras") == {"Reports": [("Zebras by month", address)]}
    assert found(other, "zebras") == {}
    Report.objects.update(is_shared=True)
    assert list(found(other, "zebras")) == ["Reports"]


def test_a_topic_is_found_except_by_who_may_not_know_what_few_asked(settings: Settings) -> None:
    settings.SMALLEST_GROUP = 5
    topic = Topic.objects.create(name="Zebras and their stables", centroid=bytes(8), recipe="none")
    expected = {"All topics": [("Zebras and their stables", reverse("topic", args=[topic.pk]))]}
    assert found(permitted("analytics.view_topic", "analytics.see_small_groups"), "stables") == expected
    few = permitted("analytics.view_topic")
    assert found(few, "stables") == {}
    Topic.objects.update(is_pinned=True)
    assert found(few, "stables") == expected
    assert found(permitted("chat.view_case"), "stables") == {}


def test_screens_and_settings_are_found_by_their_names() -> None:
    member = make_member(Team("Law"), ADMINISTRATOR)
    assert found(member, "audit log")["Screens and settings"] == [
        ("Audit log", reverse("admin:admin_logentry_changelist"))
    ]
    rows = found(member, "replies within")["Screens and settings"]
    assert rows == [("Offices: replies within", reverse("admin:chat_office_changelist"))]
    assert ("Duplicates", "") not in found(member, "offices")["Screens and settings"]
    assert found(UserFactory(), "audit log") == {}
    assert "Screens and settings" not in found(make_member(Team("Arts"), CURATOR), "audit log")


def test_the_search_takes_as_many_queries_for_many_rows_as_for_few(everybody: Any) -> None:
    client = Client()
    client.force_login(everybody)
    counts = []
    for more in (1, 4):
        for number in range(more):
            new_case(question=f"Zebra {number}?")
            held_back(f"Zebra {number}.")
            contradiction(DocumentFactory(title="Zebra"), DocumentFactory(), first_text="Zebra.")
            FAQFactory(question=f"Zebra {number}?", collection=CollectionFactory(name="Zebra"))
            Topic.objects.create(name="Zebra", centroid=bytes(8), recipe="none")
        with CaptureQueriesContext(connection) as queries:
            assert len(client.get(SEARCH, {"q": "zebra"}).context["found"]) >= 6
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] < 50
    assert Contradiction.objects.count() == 5

"""What was assigned and is not read, on the first page and at the head of every page."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from lxml import html

from analytics.inbox.services import assign, assign_all, set_topic_state
from analytics.models import Notice
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import away, fresh, new_review, staff
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def give(to: User, by: User, *items: Any, due_on: date | None = None) -> None:
    assign_all(items=list(items), to=to, due_on=due_on, by=by)


def listed(client: Client) -> list[str]:
    """Return what the first section of the first page says."""
    shown = html.fromstring(client.get(reverse("admin:index")).content.decode())
    section = shown.xpath("//section[contains(@class, 'home__section')][h2[text() = 'Assigned to you']]")
    return [" ".join(item.text_content().split()) for item in section[0].xpath(".//li")] if section else []


def count(client: Client) -> str:
    shown = html.fromstring(client.get(reverse("admin:marcelcms_apitoken_changelist")).content.decode())
    found = shown.xpath("//*[@id = 'user-tools']//a[contains(@class, 'unread-notices')]")
    return " ".join(found[0].text_content().split()) if found else ""


def test_what_is_assigned_is_named_until_it_is_opened(page: Client, ada: User, bob: User) -> None:
    gap, review = new_gap("Parking"), new_review()
    give(ada, bob, gap, due_on=date(2099, 3, 1))
    give(ada, bob, review)
    assert listed(page) == ["An answer to review, from Bob", "“Parking”, from Bob, due on 1 Mar 2099"]
    assert count(page) == "2 notices not read yet"
    page.get(reverse("admin:analytics_gap_change", args=[gap.pk]))
    assert listed(page) == ["An answer to review, from Bob"]
    page.get(reverse("admin:analytics_review_change", args=[review.pk]))
    assert listed(page) == []
    assert count(page) == ""


def test_it_is_the_first_section_and_leads_to_the_item(page: Client, ada: User, bob: User) -> None:
    gap = new_gap("Parking")
    give(ada, bob, gap)
    shown = html.fromstring(page.get(reverse("admin:index")).content.decode())
    first = shown.xpath("//section[contains(@class, 'home__section')]")[0]
    assert first.xpath("./h2/text()") == ["Assigned to you"]
    assert first.xpath(".//a/@href") == [reverse("admin:analytics_gap_change", args=[gap.pk])]


def test_a_colleague_who_opens_it_leaves_it_unread(page: Client, ada: User, bob: User) -> None:
    gap = new_gap("Parking")
    give(ada, bob, gap)
    other = Client()
    other.force_login(bob)
    other.get(reverse("admin:analytics_gap_change", args=[gap.pk]))
    assert len(listed(page)) == 1


def test_what_is_done_or_somebody_elses_meanwhile_is_not_named(page: Client, ada: User, bob: User, carla: User) -> None:
    solved, passed_on, review = new_gap("Solved"), new_gap("Passed on"), new_review()
    give(ada, bob, solved, passed_on, review)
    set_topic_state(gaps=[fresh(solved)], state="solved", by=bob)
    assign(item=passed_on, version=fresh(passed_on).version, to=carla, due_on=None, by=bob)
    assert listed(page) == ["An answer to review, from Bob"]
    type(review).objects.update(state="done")
    assert listed(page) == []


def test_what_is_assigned_twice_is_named_once(page: Client, ada: User, bob: User, carla: User) -> None:
    gap = new_gap("Parking")
    give(ada, bob, gap)
    assign(item=gap, version=fresh(gap).version, to=None, due_on=None, by=bob)
    give(ada, carla, gap)
    assert listed(page) == ["“Parking”, from Carla"]
    assert count(page).startswith("1 ")


def test_the_substitute_reads_instead_of_whom(page: Client, ada: User, bob: User, carla: User) -> None:
    until = timezone.localdate() + timedelta(days=2)
    away(carla, until, ada)
    give(carla, bob, new_gap("Parking"))
    assert listed(page)[0].startswith("“Parking”, from Bob, instead of Carla, who is away until ")
    away(carla, None, ada)
    assert listed(page) == ["“Parking”, from Bob, instead of Carla"]


def test_many_are_counted_and_lead_to_the_list(page: Client, ada: User, bob: User) -> None:
    give(ada, bob, *[new_gap(f"Topic {number}", texts=()) for number in range(12)])
    assert listed(page)[-1] == "2 more are assigned to you."
    assert len(listed(page)) == 11


def test_another_teams_item_is_not_named(client: Client, bob: User) -> None:
    dora = staff("Dora", teams=[Group.objects.create(name="Law")])
    gap = new_gap("Geheimsache")
    give(dora, bob, gap)
    client.force_login(dora)
    assert listed(client) == []
    gap.assistant.teams.set(dora.groups.all())
    assert len(listed(client)) == 1


def test_the_count_takes_one_query_and_none_of_others(page: Client, client: Client, ada: User, bob: User) -> None:
    address = reverse("admin:marcelcms_apitoken_changelist")

    def queries(member: User) -> int:
        client.force_login(member)
        with CaptureQueriesContext(connection) as asked:
            client.get(address)
        return len([each for each in asked if "analytics_notice" in each["sql"]])

    give(ada, bob, *[new_gap(f"Topic {number}", texts=()) for number in range(3)], new_review())
    assert queries(ada) == 1
    assert queries(UserFactory(permissions=["analytics.view_dashboard"])) == 0


def test_the_first_page_takes_as_many_queries_for_ten_as_for_one(page: Client, ada: User, bob: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            page.get(reverse("admin:index"))
        return len(asked)

    for number in range(6):
        new_gap(f"Nobody's {number}", texts=())
    give(ada, bob, new_gap("First"), new_review())
    queries()
    few = queries()
    give(ada, bob, *[new_gap(f"Topic {number}", texts=()) for number in range(8)], new_review())
    assert queries() == few


def test_notices_go_with_what_they_are_about_and_with_whom_they_told(ada: User, bob: User, carla: User) -> None:
    gap, review = new_gap(), new_review()
    give(ada, bob, gap, review)
    give(carla, bob, new_gap("Another"))
    review.message.conversation.delete()
    gap.delete()
    assert [notice.user for notice in Notice.objects.all()] == [carla]
    carla.delete()
    assert not Notice.objects.exists()

"""Every list of the admin opens with under ten queries, however many rows it has, searched and filtered too."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.models import ReviewFeed
from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR, make_roles
from tests.factories import UserFactory
from tests.staff.matrix.crowd import MOST, crowd
from tests.staff.matrix.doors import screens
from tests.staff.matrix.world import World, make_world
from tests.staff.test_long_lists import OF_ONE_ROW, list_address

pytestmark = pytest.mark.django_db
FEW, MANY, MOST_QUERIES = 3, 30, 9
#: What grows with the university and its students; a review comes with its message.
LONG = ("knowledge_document", "faqs_faq", "chat_conversation", "analytics_review", "analytics_gap", "chat_case")


@pytest.fixture
def world() -> World:
    make_roles()  # another test may have emptied the tables
    for name in ("answers", "ratings"):
        ReviewFeed.objects.create(name=name, until=timezone.now())
    return make_world("Faculty of Law", UserFactory(), mark="Law")


def member(world: World, role: str) -> Client:
    """Sign in a member of the team, whose permissions and teams are asked for too."""
    user = UserFactory(teams=[world.team, Group.objects.get(name=role)])
    client = Client()
    client.force_login(user)
    return client


def opened(client: Client, address: str) -> tuple[Any, int]:
    """Open the page; return it and its queries. Nobody looks for news meanwhile."""
    ReviewFeed.objects.update(looked_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        page = client.get(address)
    return page, len(queries)


def filters_of(client: Client, address: str, changelist: Any) -> Iterator[tuple[str, str]]:
    """Yield each filter of the list, with a choice that leaves rows of it."""
    for each in changelist.filter_specs:
        for choice in each.choices(changelist):
            if "query_string" not in choice or choice.get("selected"):
                continue
            chosen = address.split("?")[0] + str(choice["query_string"])
            if opened(client, chosen)[0].context["cl"].result_count:
                yield f"by {each.title}", chosen
                break


def ways_into(client: Client, screen: str, *, filters: int) -> Mapping[str, str]:
    """Return the addresses of the list: as it opens, searched, and by its first filters."""
    address = list_address(screen)
    found, page = {"": address}, opened(client, address)[0]
    changelist = page.context.get("cl") if page.status_code == 200 else None
    if changelist is None:
        return found if page.status_code == 200 else {}
    if changelist.search_fields:
        found["searched"] = f"{address}?q=a"
    for _number, (name, chosen) in zip(range(filters), filters_of(client, address, changelist), strict=False):
        found[name] = chosen
    return found


def faults(client: Client, world: World, *, filters: int) -> dict[str, tuple[int, int]]:
    """Return the lists, with their queries of few and of many rows, that take more for more, or more than allowed."""
    wrong, seen = {}, 0
    for screen in sorted(set(screens()) - OF_ONE_ROW):
        crowd(world.rows[screen], first=1, last=FEW - 1)
        ways = ways_into(client, screen, filters=filters)
        few = {name: opened(client, address)[1] for name, address in ways.items()}
        crowd(world.rows[screen], first=FEW, last=MANY - 1)
        for name, address in ways.items():
            many = opened(client, address)[1]
            if many != few[name] or many > MOST_QUERIES:
                wrong[f"{screen} {name}"] = (few[name], many)
        seen += bool(ways)
    print(f"{seen} lists")
    return wrong


def test_every_list_takes_under_ten_queries_for_few_rows_as_for_many(world: World) -> None:
    assert faults(member(world, ADMINISTRATOR), world, filters=0) == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("role", [ADMINISTRATOR, CURATOR])
def test_so_does_every_list_by_each_of_its_filters(world: World, role: str) -> None:
    assert faults(member(world, role), world, filters=99) == {}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_long_lists_take_under_ten_queries_with_100_000_rows(world: World) -> None:
    clients = {role: member(world, role) for role in (ADMINISTRATOR, CURATOR)}
    for screen in LONG:
        crowd(world.rows[screen], first=1, last=MOST)
    lists = [list_address(screen) for screen in LONG]
    addresses = [*lists, *(f"{list_address(screen)}?q=Law+77" for screen in ("knowledge_document", "faqs_faq"))]
    addresses += [reverse("to-do"), f"{reverse('to-do')}?state=done", f"{reverse('to-do')}?who=me"]
    wrong = {}
    for role, client in clients.items():
        for address in addresses:
            page, queries = opened(client, address)
            print(f"{role} {address}: {queries} queries")
            if page.status_code != 200 or queries > MOST_QUERIES:
                wrong[f"{role} {address}"] = queries
    assert wrong == {}

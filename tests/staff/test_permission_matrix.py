"""Who may go through which door: every page, action and operation of the staff's, times every role.

The table is `tests/staff/matrix/table.py`. What is new and not in it fails here, and so does what is in it and gone.
"""

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.messages import WARNING, get_messages
from django.core.cache import cache
from django.db import transaction
from django.forms.models import model_to_dict
from django.test import Client, RequestFactory

from marcelcms.roles import ADMINISTRATOR, ANALYST, CURATOR, REVIEWER, WHOLE_UNIVERSITY, make_roles
from tests.factories import UserFactory
from tests.staff.api import Program
from tests.staff.matrix.doors import Door, doors, named_patterns, screens
from tests.staff.matrix.table import ACTIONS, API, DOORS, PUBLIC, ROLES
from tests.staff.matrix.world import OF_TEAMS, SECRET, World, world_of
from tests.staff.test_staff_api import OF_THE_UNIVERSITY, OPERATIONS, call

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]
GROUPS = {
    "Curator": [CURATOR],
    "Reviewer": [REVIEWER],
    "Analyst": [ANALYST],
    "Administrator": [ADMINISTRATOR],
    "Whole": [CURATOR, WHOLE_UNIVERSITY],
    "Nobody": [],
}
assert tuple(GROUPS) == ROLES
SEES_ALL = ("Administrator", "Whole")
#: Where what is gone is told on a page of its own: what was typed is still there, or the list is shown again.
TOLD_GENTLY = {"faqs_faq_change POST", "analytics_review_change GET", "analytics_review_change POST"}


@pytest.fixture(autouse=True)
def _nothing_is_counted_or_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr("knowledge.queueing._queue", Mock())
    monkeypatch.setattr("celery.app.task.Task.apply_async", Mock())


@pytest.fixture(params=ROLES)
def role(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def member(role: str) -> User:
    """Of the role, and of no team yet."""
    make_roles()
    return UserFactory(teams=list(Group.objects.filter(name__in=GROUPS[role])))


@pytest.fixture
def own(member: User) -> World:
    world = world_of("Faculty of Law", member, mark="Law")
    member.groups.add(world.team)
    return world


@pytest.fixture
def foreign(own: World) -> World:
    """Its assistant uses what is everybody's, whose pages could name it."""
    world = world_of("Faculty of Arts", UserFactory(teams=[]), mark=SECRET)
    assistant = world.rows["chat_assistant"]
    assistant.prompt, assistant.profile = own.rows["chat_promptversion"], own.rows["chat_retrievalprofile"]
    assistant.save()
    return world


def knock(client: Client, door: Door, address: str, sent: World) -> Any:
    """Whatever it does is undone, a logout too."""
    session = client.cookies.get(settings.SESSION_COOKIE_NAME)
    client.cookies.pop("messages", None)
    with transaction.atomic():
        send = client.post if door.method == "POST" else client.get
        response = send(address, door.body(sent) if door.method == "POST" or door.names_row_in_body else None)
        _ = response.getvalue() if response.streaming else response.content
        transaction.set_rollback(True)
    if session and door.name == "admin:logout":
        client.cookies[settings.SESSION_COOKIE_NAME] = session.value
    assert response.status_code != 405, f"{door.title} is no {door.method}"
    return response


def outcome(response: Any) -> str:
    """x for a door that opens, . for one that does not, 0 for a row that is not there."""
    place = response.headers.get("Location", "")
    if response.status_code == 403 or place.startswith("/admin/login/"):
        return "."
    if response.status_code == 404 or (place == "/admin/" and is_told_missing(response)):
        return "0"
    return "x"


def is_told_missing(response: Any) -> bool:
    """As Django says it: by a warning on the first page."""
    return any(message.level == WARNING for message in get_messages(response.wsgi_request))


def test_everything_that_can_be_opened_stands_in_the_table() -> None:
    assert {door.title for door in doors()} == set(DOORS)
    assert set(actions()) == set(ACTIONS)
    assert set(OPERATIONS) == set(API)
    staffs = {door.name for door in doors()}
    outside = {name for name, _pattern in named_patterns()} - staffs
    outside = {name for name in outside if not name.startswith(("staff-api:", "admin:django_celery_beat"))}
    assert outside == set(PUBLIC)


def test_each_role_opens_the_doors_that_it_should_and_no_others(role: str, member: User, own: World) -> None:
    client = Client()
    client.force_login(member)
    place, wrong = ROLES.index(role), []
    for door in doors():
        found = outcome(knock(client, door, door.address(own), own))
        if found != DOORS[door.title][place]:
            wrong.append(f"{door.title}: {found} where the table says {DOORS[door.title][place]}")
    assert wrong == [], "\n".join(wrong)


def test_what_another_team_has_is_as_good_as_missing(role: str, member: User, own: World, foreign: World) -> None:
    if role in SEES_ALL:
        return
    client = Client()
    client.force_login(member)
    told = []
    for door in doors():
        if door.names_row and is_of_teams(door):
            theirs, missing = door.address(foreign), door.address(own, is_missing=True)
            shown, gone = knock(client, door, theirs, foreign), knock(client, door, missing, foreign)
            is_open = outcome(shown) == "x" and door.title not in TOLD_GENTLY
            if is_open or shape(shown, theirs) != shape(gone, missing):
                told.append(f"{door.title}: {shown.status_code}, and {gone.status_code} for one that is not there")
        else:
            shown = knock(client, door, door.address(own), own)
        if SECRET in said(shown):
            told.append(f"{door.title} tells of another team")
        if door.names_row_in_body and outcome(knock(client, door, door.address(own), foreign)) == "x":
            told.append(f"{door.title} takes another team's row")
    assert told == [], "\n".join(told)


def is_of_teams(door: Door) -> bool:
    return (
        door.screen in OF_TEAMS
        or bool({"document_id", "message_id"} & set(door.arguments))
        or door.name == ("admin:analytics_shadowtest_start")
    )


def shape(response: Any, address: str) -> tuple[int, str]:
    """What tells one row from another: where it leads, but for the row's own id."""
    ids = [part for part in address.split("/") if any(letter.isdigit() for letter in part)]
    place = response.headers.get("Location", "")
    for part in ids:
        place = place.replace(part, "#")
    return response.status_code, place


def said(response: Any) -> str:
    return "" if response.streaming else response.content.decode()


def test_nobody_comes_in_without_having_logged_in(own_of_nobody: World) -> None:
    open_to_all = {"admin:login", "admin:logout", "admin:jsi18n"}
    for door in doors():
        if door.name not in open_to_all:
            response = knock(Client(), door, door.address(own_of_nobody), own_of_nobody)
            assert response.headers.get("Location", "").startswith("/admin/login/"), door.title
    for operation in OPERATIONS.values():
        assert call(Program(), operation, own_of_nobody.api).status_code == 401, operation.name


@pytest.fixture
def own_of_nobody() -> World:
    return world_of("Faculty of Law", UserFactory(teams=[]), mark="Law")


# --- the actions of lists ---


def actions() -> Iterator[str]:
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True, is_staff=True)
    for screen, model_admin in screens().items():
        yield from (f"{screen} {name}" for name in model_admin.get_actions(request))


def test_each_role_is_offered_its_actions_and_no_others(role: str, member: User) -> None:
    request = RequestFactory().get("/")
    request.user = member
    opened = {name: each for name, each in screens().items() if each.has_view_or_change_permission(request)}
    offered = {f"{screen} {name}" for screen, each in opened.items() for name in each.get_actions(request)}
    place = ROLES.index(role)
    assert offered == {name for name, marks in ACTIONS.items() if marks[place] == "x"}


def test_no_action_reaches_the_rows_of_another_team(role: str, member: User, own: World, foreign: World) -> None:
    if role in SEES_ALL:
        return
    client = Client()
    client.force_login(member)
    for name in ACTIONS:
        screen, action = name.split(" ")
        if screen not in OF_TEAMS:
            continue
        row = foreign.rows[screen]
        row.refresh_from_db()
        before = model_to_dict(row)
        data = {"action": action, "_selected_action": [str(row.pk)], "post": "yes"}
        response = client.post(f"/admin/{screen.replace('_', '/', 1)}/", data)
        assert SECRET not in said(response), name
        row.refresh_from_db()
        assert model_to_dict(row) == before, name


# --- the staff API ---


def test_each_role_may_call_its_operations_and_no_others(role: str, member: User, own: World) -> None:
    program, place, wrong = Program(member), ROLES.index(role), []
    for name, operation in OPERATIONS.items():
        with transaction.atomic():
            status = call(program, operation, own.api).status_code
            transaction.set_rollback(True)
        found = "." if status == 403 else "x" if status < 300 or status in {409, 422} else str(status)
        if found != API[name][place]:
            wrong.append(f"{name}: {found} where the table says {API[name][place]}")
    assert wrong == []


def test_the_api_does_not_tell_of_another_teams_rows(role: str, member: User, own: World, foreign: World) -> None:
    if role in SEES_ALL:
        return
    program = Program(member)
    for name, operation in OPERATIONS.items():
        with transaction.atomic():
            response = call(program, operation, foreign.api if operation.is_detail else own.api)
            transaction.set_rollback(True)
        if operation.basename not in OF_THE_UNIVERSITY:
            assert SECRET not in response.content.decode(), name
            if operation.is_detail:
                assert response.status_code in {403, 404}, name

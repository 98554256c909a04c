"""Who may go through which door: every page, action and operation of the staff's, times every role.

The table is `tests/staff/matrix/table.py`. What is new and not in it fails here, and so does what is in it and gone.
"""

import logging
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, User
from django.contrib.messages import WARNING, get_messages
from django.core.cache import cache
from django.db import transaction
from django.forms.models import model_to_dict
from django.test import Client, RequestFactory
from pytest_django import DjangoDbBlocker, Settings

from marcelcms.accounts.roles import ADMINISTRATOR, ANALYST, CURATOR, REVIEWER, WHOLE_UNIVERSITY, make_roles
from tests.factories import UserFactory
from tests.staff.api import Program
from tests.staff.matrix.doors import Door, doors, knock, named_patterns, screens
from tests.staff.matrix.table import ACTIONS, API, DOORS, PUBLIC, ROLES
from tests.staff.matrix.world import OF_TEAMS, SECRET, World, make_world
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
TOLD_GENTLY = {
    *("faqs_faq_change POST", "knowledge_document_change POST"),
    *("analytics_review_change GET", "analytics_review_change POST"),
    *("chat_case_change GET", "chat_case_change POST"),
}


@pytest.fixture(scope="module", autouse=True)
def _roles(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Undo what the module's fixtures write after its last test; nothing is queued meanwhile."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setattr("core.tasks.Task.delay_on_commit", Mock())
        patch.setattr("celery.app.task.Task.apply_async", Mock())
        make_roles()
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def _cheap_requests(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    """Make thousands of requests cheap: none reads its session from the database or is formatted as refused."""
    cache.clear()
    settings.SMALLEST_GROUP = 1  # a report is of one answer here
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
    caplog.set_level(logging.CRITICAL, "django.request")


@pytest.fixture(scope="module", params=ROLES)
def role(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def own(role: str, _roles: None) -> Iterator[World]:
    """Make the rows of a team with one member, who has the role."""
    with transaction.atomic():
        member = UserFactory(teams=list(Group.objects.filter(name__in=GROUPS[role])))
        world = make_world("Faculty of Law", member, mark="Law")
        member.groups.add(world.team)
        yield world
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def foreign(own: World) -> World:
    """Its assistant uses what is everybody's, whose pages could name it."""
    world = make_world("Faculty of Arts", UserFactory(teams=[]), mark=SECRET)
    assistant = world.rows["chat_assistant"]
    assistant.prompt, assistant.profile = own.rows["chat_promptversion"], own.rows["chat_retrievalprofile"]
    assistant.save()
    return world


@pytest.fixture
def member(own: World, monkeypatch: pytest.MonkeyPatch) -> User:
    """Read once, with permissions and teams, and not for each request anew."""
    user = own.team.user_set.get()
    monkeypatch.setattr(ModelBackend, "get_user", lambda _backend, _id: user)
    return user


def outcome(response: Any) -> str:
    """Return x for a door that opens, . for one that does not, 0 for a row that is not there."""
    place = response.headers.get("Location", "")
    if response.status_code == 403 or place.startswith("/admin/login/"):
        return "."
    if response.status_code == 404 or (place == "/admin/" and is_told_missing(response)):
        return "0"
    return "x"


def is_told_missing(response: Any) -> bool:
    """Return whether Django says that the row is missing: by a warning on the first page."""
    return any(message.level == WARNING for message in get_messages(response.wsgi_request))


def test_everything_that_can_be_opened_stands_in_the_table() -> None:
    assert {door.title for door in doors()} == set(DOORS)
    assert set(actions()) == set(ACTIONS)
    assert set(OPERATIONS) == set(API)
    staffs = {door.name for door in doors()}
    outside = {name for name, _pattern in named_patterns()} - staffs
    outside = {name for name in outside if not name.startswith(("staff-api:", "admin:django_celery_beat"))}
    assert outside == set(PUBLIC)


@pytest.mark.slow
def test_each_role_opens_the_doors_that_it_should_and_no_others(
    role: str, member: User, own: World, foreign: World
) -> None:
    """And sees behind none what another team has, unless it sees all."""
    client = Client()
    client.force_login(member)
    place, wrong = ROLES.index(role), []
    for door in doors():
        shown = knock(client, door, door.address(own), own)
        if (found := outcome(shown)) != DOORS[door.title][place]:
            wrong.append(f"{door.title}: {found} where the table says {DOORS[door.title][place]}")
        if role not in SEES_ALL and SECRET in said(shown):
            wrong.append(f"{door.title} tells of another team")
    assert wrong == [], "\n".join(wrong)


@pytest.mark.slow
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
    """Return what tells one row from another: where it leads, but for the row's own id."""
    ids = [part for part in address.split("/") if any(letter.isdigit() for letter in part)]
    place = response.headers.get("Location", "")
    for part in ids:
        place = place.replace(part, "#")
    return response.status_code, place


def said(response: Any) -> str:
    return "" if response.streaming else response.content.decode()


@pytest.mark.slow
def test_nobody_comes_in_without_having_logged_in(own_of_nobody: World) -> None:
    open_to_all = {"admin:login", "admin:logout", "admin:jsi18n"}
    client, program = Client(), Program()
    for door in doors():
        if door.name not in open_to_all:
            response = knock(client, door, door.address(own_of_nobody), own_of_nobody)
            assert response.headers.get("Location", "").startswith("/admin/login/"), door.title
            assert settings.SESSION_COOKIE_NAME not in client.cookies
    for operation in OPERATIONS.values():
        assert call(program, operation, own_of_nobody.api).status_code == 401, operation.name


@pytest.fixture
def own_of_nobody() -> World:
    return make_world("Faculty of Theology", UserFactory(teams=[]), mark="Theology")


# --- the actions of lists ---


def actions() -> Iterator[str]:
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True, is_staff=True)
    for screen, model_admin in screens().items():
        yield from (f"{screen} {name}" for name in model_admin.get_actions(request))


@pytest.mark.slow
def test_each_role_is_offered_its_actions_and_no_others(role: str, member: User) -> None:
    request = RequestFactory().get("/")
    request.user = member
    opened = {name: each for name, each in screens().items() if each.has_view_or_change_permission(request)}
    offered = {f"{screen} {name}" for screen, each in opened.items() for name in each.get_actions(request)}
    place = ROLES.index(role)
    assert offered == {name for name, marks in ACTIONS.items() if marks[place] == "x"}


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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

"""Saved reports and their files by the staff API: whose, how they are made, stopped and taken along."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from analytics.counts.refresh import count_changed
from analytics.models import Report, StoredReport, Topic
from analytics.reports.files import file_path
from analytics.reports.run import work_on
from tests.analytics.reports.rows import asked, definition, stored
from tests.factories import AssistantFactory, SiteFactory, UserFactory
from tests.staff.api import Program

pytestmark = pytest.mark.django_db(transaction=True)  # exports read by a connection of their own
EXPORT, ALL_TEXT, SMALL = (f"analytics.{name}" for name in ("export_reports", "see_personal_text", "see_small_groups"))
PERSONAL = "My name is Anna Schmidt, anna@uni.example"
State = StoredReport.State


@pytest.fixture(autouse=True)
def queue(settings: Settings, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Mock:
    cache.clear()
    settings.MEDIA_ROOT = tmp_path / "media"
    queued = Mock()
    monkeypatch.setattr("analytics.tasks.make_report.delay_on_commit", queued)
    return queued


def saved(owner: User, *columns: str, is_shared: bool = False, **values: Any) -> Report:
    dumped = definition(*columns, **{"format": "jsonl", **values}).dump()
    return Report.objects.create(name="Fees", owner=owner, is_shared=is_shared, definition=dumped)


def made(user: User, report: Report) -> dict[str, Any]:
    """Return the file of a report as the API shows it after a worker has made it."""
    reply = Program(user).post("/report-exports/", {"report": report.pk})
    assert reply.status_code == 201, reply.content
    work_on(reply.json()["id"])
    told: dict[str, Any] = Program(user).get(f"/report-exports/{reply.json()['id']}/").json()
    return told


def test_a_file_is_made_of_a_saved_report_and_taken_along(queue: Mock) -> None:
    user = UserFactory(permissions=[EXPORT, SMALL])
    asked("What are the fees?")
    told = made(user, saved(user, "question"))
    queue.assert_called_once()
    assert (told["state"], told["done"], told["total"], told["message"]) == (State.FINISHED, 1, 1, "")
    assert told["definition"]["columns"] == ["question"]
    reply = Program(user).get(f"/report-exports/{told['id']}/file/")
    assert b"What are the fees?" in reply.getvalue()
    assert reply["Content-Type"] == "application/jsonl; charset=utf-8"
    assert reply["Content-Disposition"].startswith('attachment; filename="fees-')
    assert reply["Cache-Control"] == "no-store"
    assert int(reply["Content-Length"]) == told["size"]
    said = [entry.get_change_message() for entry in LogEntry.objects.filter(user=user)]
    assert any("downloaded 1 row" in message for message in said)


@pytest.mark.parametrize(("rights", "left_out"), [((), None), ((SMALL,), 0)])
def test_a_file_does_not_say_how_many_rows_of_few_visitors_there_are(
    rights: tuple[str, ...], left_out: int | None
) -> None:
    user = UserFactory(permissions=[EXPORT, *rights])
    for visitors in (6, 5, 2):
        asked(visitors=visitors)
    count_changed()
    assert made(user, saved(user, "question"))["left_out"] is left_out
    said = [entry.get_change_message() for entry in LogEntry.objects.filter(user=user)]
    assert any("without groups of fewer than 5 visitors" in message for message in said) == (not rights)
    assert not any("2 rows" in message for message in said)


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/jsonl", "text/csv"])
def test_a_file_and_what_is_wrong_with_it_come_whatever_of_these_is_accepted(accept: str) -> None:
    user = UserFactory(permissions=[EXPORT])
    row = stored(user, state=State.FINISHED, format="csv")
    StoredReport.objects.update(smallest=5)
    program = Program(user, accept=accept)
    reply = program.get(f"/report-exports/{row.pk}/file/")
    assert (reply.status_code, reply["Content-Type"]) == (404, "application/problem+json")
    assert reply.json()["code"] == "not_found"
    file_path(row).write_bytes(b"question")
    reply = program.get(f"/report-exports/{row.pk}/file/")
    assert (reply["Content-Type"], reply.getvalue()) == ("text/csv; charset=utf-8", b"question")


def test_a_download_that_is_broken_off_is_on_record() -> None:
    user = UserFactory(permissions=[EXPORT, SMALL])
    asked()
    told = made(user, saved(user, "question"))
    Program(user).get(f"/report-exports/{told['id']}/file/").close()
    said = [entry.get_change_message() for entry in LogEntry.objects.filter(user=user)]
    assert any("broken off" in message for message in said)


def test_one_that_is_being_made_is_not_made_twice(queue: Mock) -> None:
    user = UserFactory(permissions=[EXPORT, SMALL])
    asked()
    report, program = saved(user), Program(user)
    first, second = (program.post("/report-exports/", {"report": report.pk}).json()["id"] for _ in range(2))
    assert first == second
    queue.assert_called_once()


def test_ones_own_reports_and_shared_ones_are_seen_and_no_others() -> None:
    user, colleague = UserFactory(permissions=[EXPORT]), UserFactory(permissions=[EXPORT])
    own = saved(user)
    shared = Report.objects.create(name="All", owner=colleague, is_shared=True, definition=definition().dump())
    hidden = Report.objects.create(name="Theirs", owner=colleague, definition=definition().dump())
    program = Program(user)
    listed = program.get("/reports/").json()["results"]
    assert [(row["id"], row["owner"]) for row in listed] == [(shared.pk, colleague.username), (own.pk, user.username)]
    assert program.get(f"/reports/{hidden.pk}/").status_code == 404
    reply = program.post("/report-exports/", {"report": hidden.pk})
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"] == "report"


def test_a_report_of_assistants_of_others_is_refused(queue: Mock) -> None:
    user = UserFactory(permissions=[EXPORT], teams=[Group.objects.create(name="Law")])
    report = saved(UserFactory(), is_shared=True, assistants=(AssistantFactory().pk,))
    reply = Program(user).post("/report-exports/", {"report": report.pk})
    assert reply.json()["errors"][0]["field"] == "report"
    queue.assert_not_called()


@pytest.mark.parametrize("visitors", [0, 4])
def test_a_file_with_nothing_to_tell_is_refused_at_the_door(queue: Mock, visitors: int) -> None:
    """In the same words whether there is nothing or too little."""
    user = UserFactory(permissions=[EXPORT])
    if visitors:
        asked(visitors=visitors)
    reply = Program(user).post("/report-exports/", {"report": saved(user).pk})
    assert reply.status_code == 400
    (error,) = reply.json()["errors"]
    assert error["field"] == "report"
    assert "no such answer, or they went to so few visitors" in error["message"]
    queue.assert_not_called()
    assert not StoredReport.objects.exists()
    assert not LogEntry.objects.exists()


def test_a_file_of_columns_that_one_may_not_see_is_refused_at_the_door() -> None:
    user = UserFactory(permissions=[EXPORT, SMALL])
    asked()
    reply = Program(user).post("/report-exports/", {"report": saved(user, "visitor").pk})
    assert "any of these columns" in reply.json()["errors"][0]["message"]


# --- what is saved ---


def read_errors(reply: Any) -> dict[str, str]:
    assert reply.status_code == 400, reply.content
    return {error["field"]: error["message"] for error in reply.json()["errors"]}


def test_a_report_is_saved_changed_and_deleted_and_each_is_on_record() -> None:
    user, assistant = UserFactory(permissions=[EXPORT, "analytics.view_topic"]), AssistantFactory()
    site, program = SiteFactory(assistant=assistant), Program(user)
    wanted = {"columns": ["answer", "question"], "format": "csv", "span": "fixed"}
    wanted |= {"first": "2026-07-01", "last": "2026-07-31", "assistants": [assistant.pk], "site": site.pk}
    wanted |= {"language": "de", "statuses": ["abstained"], "thumbs": "down", "verdict": "none"}
    topic = Topic.objects.create(name="Fees", named_by="staff", assistant=assistant)
    wanted |= {"topics": [topic.pk], "outcomes": ["unanswered"]}
    reply = program.post("/reports/", {"name": " Fees  of July ", "is_shared": True, "definition": wanted})
    assert reply.status_code == 201, reply.content
    told = reply.json()
    assert (told["name"], told["owner"], told["is_shared"]) == ("Fees of July", user.username, True)
    assert told["definition"] == wanted
    address = f"/reports/{told['id']}/"
    changed = program.patch(address, {"definition": {"span": "last_7", "columns": ["comment"]}}).json()
    kept = {**wanted, "span": "last_7", "first": None, "last": None, "columns": ["comment"]}
    assert (changed["name"], changed["is_shared"], changed["definition"]) == ("Fees of July", True, kept)
    replaced = program.call("put", address, {"name": "All", "definition": {"columns": ["question"]}}).json()
    assert (replaced["name"], replaced["is_shared"]) == ("All", False)
    assert replaced["definition"] == {**definition("question").dump(), "columns": ["question"]} | {
        "assistants": [],
        "statuses": [],
        "topics": [],
        "outcomes": [],
    }
    program.patch(address, {"name": "All"})  # it is called that already
    assert program.call("delete", address).status_code == 204
    assert not Report.objects.exists()
    said = LogEntry.objects.filter(user=user).order_by("pk").values_list("action_flag", "change_message")
    assert [flag for flag, _said in said] == [ADDITION, CHANGE, CHANGE, DELETION]
    assert "definition" in said[1][1]
    assert "is_shared" in said[2][1]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"columns": []}, "definition.columns"),
        ({"columns": ["password"]}, "definition.columns.0"),
        ({"columns": ["question"], "span": "fixed"}, "definition.first"),
        ({"columns": ["question"], "span": "fixed", "first": "2026-07-02", "last": "2026-07-01"}, "definition.last"),
        ({"columns": ["question"], "span": "fixed", "first": "1999-07-02", "last": "2026-07-01"}, "definition.first"),
        ({"columns": ["question"], "span": "fixed", "first": "2001-07-02", "last": "2026-07-01"}, "definition.last"),
        ({"columns": ["question"], "assistants": [987654321]}, "definition.assistants"),
        ({"columns": ["question"], "site": 987654321}, "definition.site"),
        ({"columns": ["question"], "language": "fr"}, "definition.language"),
        ({"columns": ["question"], "verdict": "splendid"}, "definition.verdict"),
        ({}, "definition.columns"),
    ],
)
def test_what_the_page_refuses_is_refused_by_its_field(given: dict[str, Any], field: str) -> None:
    user = UserFactory(permissions=[EXPORT])
    errors = read_errors(Program(user).post("/reports/", {"name": "Fees", "definition": given}))
    assert next(iter(errors)) == field
    assert not Report.objects.exists()
    assert not LogEntry.objects.exists()


def test_assistants_and_sites_of_others_are_unknown_here() -> None:
    team = Group.objects.create(name="Law")
    own, site = AssistantFactory(), SiteFactory()
    own.teams.add(team)
    program = Program(UserFactory(permissions=[EXPORT], teams=[team]))
    for named in ({"assistants": [own.pk, site.assistant_id]}, {"site": site.pk}):
        reply = program.post("/reports/", {"name": "Fees", "definition": {"columns": ["question"], **named}})
        assert list(read_errors(reply)) == [f"definition.{next(iter(named))}"]
    given = {"columns": ["question"], "assistants": [own.pk]}
    assert program.post("/reports/", {"name": "Fees", "definition": given}).status_code == 201


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, None])
def test_a_report_has_a_name(name: str | None) -> None:
    program = Program(UserFactory(permissions=[EXPORT]))
    reply = program.post("/reports/", {"name": name, "definition": {"columns": ["question"]}})
    assert list(read_errors(reply)) == ["name"]


def test_two_reports_of_ones_own_have_no_name_in_common() -> None:
    user = UserFactory(permissions=[EXPORT])
    saved(user)
    reply = Program(user).post("/reports/", {"name": "Fees", "definition": {"columns": ["question"]}})
    assert read_errors(reply) == {"name": "You have a report of this name already: choose another name."}
    saved(colleague := UserFactory(permissions=[EXPORT]), is_shared=True)
    assert Report.objects.filter(owner=colleague, name="Fees").exists()


def test_a_colleagues_report_is_read_and_not_changed() -> None:
    """Also by who sees everything."""
    shared = saved(UserFactory(), is_shared=True)
    hidden = Report.objects.create(name="Theirs", owner=shared.owner, definition=shared.definition)
    program = Program(UserFactory(permissions=[EXPORT]))
    given = {"name": "Mine", "definition": {"columns": ["question"]}}
    for report, status in ((shared, 403), (hidden, 404)):
        for method, body in (("put", given), ("patch", {"name": "Mine"}), ("delete", None)):
            assert program.call(method, f"/reports/{report.pk}/", body).status_code == status
    assert set(Report.objects.values_list("name", flat=True)) == {"Fees", "Theirs"}
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("body", [{}, {"report": None}, {"report": "Fees"}, {"report": 0}, {"report": 2**70}])
def test_a_report_that_is_none_is_refused(body: dict[str, Any]) -> None:
    reply = Program(UserFactory(permissions=[EXPORT])).post("/report-exports/", body)
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"] == "report"


def test_a_file_that_is_being_made_is_stopped_once() -> None:
    user = UserFactory(permissions=[EXPORT])
    waiting = stored(user)
    for _ in range(2):
        reply = Program(user).post(f"/report-exports/{waiting.pk}/cancel/", {})
        assert reply.json()["state"] == State.CANCELLED
    assert LogEntry.objects.filter(user=user).count() == 1


@pytest.mark.parametrize("state", [state for state in State.values if state != State.FINISHED])
def test_there_is_no_file_of_what_is_not_ready(state: str) -> None:
    user = UserFactory(permissions=[EXPORT])
    row = stored(user, state=state)
    file_path(row).write_bytes(b"secret")
    assert Program(user).get(f"/report-exports/{row.pk}/file/").status_code == 404


def test_there_is_no_file_when_its_time_is_over_or_it_is_lost() -> None:
    user = UserFactory(permissions=[EXPORT, SMALL])
    asked()
    row = stored(user, state=State.FINISHED)
    assert Program(user).get(f"/report-exports/{row.pk}/file/").status_code == 404
    file_path(row).write_bytes(b"secret")
    StoredReport.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Program(user).get(f"/report-exports/{row.pk}/file/").status_code == 404
    assert not LogEntry.objects.exists()


def test_who_lost_a_right_since_may_not_open_the_file() -> None:
    user = UserFactory(permissions=[EXPORT, SMALL, ALL_TEXT])
    asked(PERSONAL)
    told = made(user, saved(user, "question"))
    address = f"/report-exports/{told['id']}/file/"
    assert b"Anna Schmidt" in Program(user).get(address).getvalue()
    for lacking in (SMALL, ALL_TEXT):
        user.user_permissions.remove(*user.user_permissions.filter(codename=lacking.partition(".")[2]))
        reply = Program(user).get(address)
        assert reply.status_code == 403
        assert reply["Content-Type"] == "application/problem+json"


def test_only_who_sees_everything_sees_the_files_of_others() -> None:
    row = stored(UserFactory(permissions=[EXPORT]), state=State.FINISHED)
    file_path(row).write_bytes(b"question")
    team = UserFactory(permissions=[EXPORT], teams=[Group.objects.create(name="Law")])
    for address in (f"/report-exports/{row.pk}/", f"/report-exports/{row.pk}/file/"):
        assert Program(team).get(address).status_code == 404
    assert Program(team).post(f"/report-exports/{row.pk}/cancel/", {}).status_code == 404
    assert Program(UserFactory(permissions=[EXPORT])).get(f"/report-exports/{row.pk}/").status_code == 200


def test_what_failed_says_why_in_the_language_that_is_asked_for() -> None:
    user = UserFactory(permissions=[EXPORT])
    row = stored(user, state=State.FAILED)
    StoredReport.objects.update(message="You may not export reports any more.")
    told = Program(user, **{"accept-language": "de"}).get(f"/report-exports/{row.pk}/").json()
    assert told["message"]
    assert told["message"] != "You may not export reports any more."

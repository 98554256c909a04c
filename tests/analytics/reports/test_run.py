"""Long reports: from the queue to a file, and to no file at all whatever breaks or is deleted."""

import errno
import json
import os
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.counts.refresh import count_changed
from analytics.models import StoredReport
from analytics.reports import run as reports_run
from analytics.reports.files import file_path, folder, sweep
from analytics.reports.formats import excel, parquet, writers
from analytics.reports.run import work_on
from analytics.reports.services import cancel_export, delete_export, queue_export
from analytics.retention.run import apply_retention
from analytics.tasks import make_report
from chat.conversations.visitors import delete_conversation, delete_visitor
from chat.models import Conversation, Visitor
from core.db.locks import Lock, advisory_lock
from core.jobs import Heartbeat
from marcelcms.tasks import requeue_lost_jobs
from tests.analytics.reports.rows import asked, definition, stored
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)
State = StoredReport.State
MAY_EXPORT = ["analytics.export_reports", "analytics.see_small_groups"]


@pytest.fixture(autouse=True)
def _media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def analyst():
    return UserFactory(permissions=MAY_EXPORT)


def made(user, *columns, **values):
    report = stored(user, *(columns or ("question",)), format="jsonl", **values)
    work_on(report.pk)
    report.refresh_from_db()
    return report


def files():
    return sorted(path.name for path in folder().iterdir())


def test_a_worker_makes_the_file_and_it_is_kept_for_a_set_time(analyst):
    asked("What are the fees?", visitors=3)
    report = made(analyst)
    assert report.state == State.FINISHED
    assert file_path(report).read_text().splitlines() == [json.dumps({"question": "What are the fees?"})] * 3
    assert (report.done, report.total, report.size) == (3, 3, file_path(report).stat().st_size)
    assert report.expires_at - report.finished_at == timedelta(days=django_settings.REPORT_DAYS)
    assert files() == [file_path(report).name]


def test_the_audit_log_says_who_exported_what_and_how_many_rows(analyst):
    asked(visitors=3)
    report = made(analyst)
    entry = LogEntry.objects.get()
    assert entry.user == analyst
    assert entry.object_id == str(report.pk)
    assert "exported 3 rows (jsonl); personal data masked; the last 30 days" in entry.change_message
    assert "columns: question" in entry.change_message


def test_a_report_is_made_once(analyst):
    asked()
    report = made(analyst)
    work_on(report.pk)
    assert LogEntry.objects.count() == 1


def test_two_workers_do_not_make_the_same_report(analyst):
    asked()
    report = stored(analyst, "question")
    with advisory_lock(Lock.REPORT, row=report.pk):
        work_on(report.pk)
    report.refresh_from_db()
    assert report.state == State.QUEUED


def test_the_same_report_is_not_queued_twice(analyst):
    wanted = definition("question")
    first = queue_export(name="Fees", definition=wanted, by=analyst)
    assert queue_export(name="Fees", definition=wanted, by=analyst) == first


def test_a_report_whose_worker_died_is_begun_again_until_it_has_lost_too_many(analyst, monkeypatch):
    asked()
    report = stored(analyst, "question")
    monkeypatch.setattr(make_report, "delay", work_on)
    long_ago = timezone.now() - timedelta(minutes=10)
    StoredReport.objects.update(state=State.RUNNING, heartbeat_at=long_ago, attempts=StoredReport.ATTEMPTS - 1)
    requeue_lost_jobs()
    report.refresh_from_db()
    assert (report.state, report.attempts) == (State.FINISHED, StoredReport.ATTEMPTS)
    StoredReport.objects.update(state=State.RUNNING, heartbeat_at=long_ago)
    requeue_lost_jobs()
    report.refresh_from_db()
    assert report.state == State.FAILED
    assert "lost several times" in report.message


@pytest.mark.parametrize("kind", ["csv", "jsonl", "xlsx", "parquet"])
def test_a_full_disk_leaves_no_half_file(analyst, kind, monkeypatch):
    asked()

    def no_space(self, values):
        raise OSError(errno.ENOSPC, "No space left on device")

    for writer in (writers.CommaSeparated, writers.Lines, excel.Sheets, parquet.Columnar):
        monkeypatch.setattr(writer, "write", no_space)
    report = stored(analyst, "question", format=kind)
    work_on(report.pk)
    report.refresh_from_db()
    assert report.state == State.FAILED
    assert "disk is full" in report.message
    assert files() == []
    assert not LogEntry.objects.exists()


def test_a_report_that_is_stopped_leaves_no_file(analyst, monkeypatch):
    asked(visitors=3)
    report = stored(analyst, "question")
    monkeypatch.setattr(Heartbeat, "SECONDS", 0)
    make = reports_run.make_file

    def stopped_meanwhile(*arguments):
        assert cancel_export(stored=report)
        return make(*arguments)

    monkeypatch.setattr(reports_run, "make_file", stopped_meanwhile)
    work_on(report.pk)
    report.refresh_from_db()
    assert report.state == State.CANCELLED
    assert files() == []


def test_a_deleted_report_takes_its_file_along(analyst):
    asked()
    report = made(analyst)
    delete_export(stored=report)
    assert files() == []


def test_who_may_not_export_any_more_gets_no_file(analyst):
    asked()
    report = stored(analyst, "question")
    analyst.user_permissions.clear()
    work_on(report.pk)
    report.refresh_from_db()
    assert (report.state, files()) == (State.FAILED, [])


def test_a_report_of_a_team_holds_its_own_answers_alone():
    team = Group.objects.create(name="Faculty")
    own = AssistantFactory()
    own.teams.add(team)
    asked("Ours", assistant=own)
    asked("Theirs")
    report = made(UserFactory(teams=[team], permissions=MAY_EXPORT))
    assert file_path(report).read_text() == '{"question": "Ours"}\n'
    assert (report.is_whole, report.assistants) == (False, [own.pk])


def test_a_worker_hides_what_the_page_hides_whatever_assistants_the_report_names():
    law, sports = AssistantFactory(name="Law"), AssistantFactory(name="Sports")
    arts = asked("Often", visitors=7, assistant=AssistantFactory(name="Arts")).conversation.assistant
    asked("Often enough", visitors=6, assistant=law)
    asked("Seldom", visitors=2, assistant=sports)
    count_changed()
    reader = UserFactory(permissions=["analytics.export_reports", "knowledge.whole_university"])
    # The sum of all three assistants less these would tell the two.
    report = made(reader, assistants=(law.pk,))
    assert (report.state, files()) == (State.FAILED, [])
    assert made(reader, assistants=(arts.pk,)).total == 7


# --- what is deleted is deleted everywhere ---


def test_erasing_a_visitor_removes_them_from_files_too(analyst):
    answer = asked(visitors=2)
    report = made(analyst)
    delete_visitor(answer.conversation.visitor_id)
    report.refresh_from_db()
    assert report.state == State.ERASED
    assert files() == []


def test_erasing_a_conversation_removes_it_from_files_too(analyst):
    answer = asked(visitors=2)
    report = made(analyst)
    said = answer.conversation
    delete_conversation(visitor=said.visitor_id, conversation=said.pk)
    report.refresh_from_db()
    assert (report.state, files()) == (State.ERASED, [])


def test_erasing_reaches_files_of_an_assistant_that_was_deleted_meanwhile(analyst):
    answer = asked(visitors=2)
    report = made(analyst, assistants=(answer.conversation.assistant_id,))
    answer.conversation.assistant.delete()
    delete_visitor(answer.conversation.visitor_id)
    report.refresh_from_db()
    assert (report.state, files()) == (State.ERASED, [])


def test_files_that_cannot_hold_what_was_erased_stay(analyst):
    asked(visitors=2)
    other = asked(assistant=AssistantFactory(), days_ago=20)
    report = made(analyst, span="last_7")
    of_one = made(analyst, assistants=(asked().conversation.assistant_id,))
    delete_visitor(other.conversation.visitor_id)
    assert set(StoredReport.objects.values_list("state", flat=True)) == {State.FINISHED}
    assert files() == sorted([file_path(report).name, file_path(of_one).name])


def test_a_report_that_is_being_made_while_somebody_is_erased_leaves_no_file(analyst, monkeypatch):
    answer = asked(visitors=2)
    report = stored(analyst, "question")
    make = reports_run.make_file

    def erased_meanwhile(*arguments):
        extent = make(*arguments)
        delete_visitor(answer.conversation.visitor_id)
        return extent

    monkeypatch.setattr(reports_run, "make_file", erased_meanwhile)
    work_on(report.pk)
    report.refresh_from_db()
    assert report.state == State.ERASED
    assert files() == []


def test_erasing_that_is_taken_back_deletes_no_file(analyst):
    answer = asked(visitors=2)
    report = made(analyst)
    with transaction.atomic():
        delete_visitor(answer.conversation.visitor_id)
        transaction.set_rollback(True)
    report.refresh_from_db()
    assert (report.state, len(files())) == (State.FINISHED, 1)


def test_the_night_deletes_files_with_what_it_deletes_and_those_whose_time_is_over(analyst):
    old = asked("Old", days_ago=100)
    Conversation.objects.filter(pk=old.conversation_id).update(updated_at=timezone.now() - timedelta(days=100))
    asked("Young")
    long, short, over = (made(analyst, span=span) for span in ("last_365", "last_7", "last_30"))
    StoredReport.objects.filter(pk=over.pk).update(expires_at=timezone.now())
    run = apply_retention()
    states = dict(StoredReport.objects.values_list("pk", "state"))
    assert states == {long.pk: State.ERASED, short.pk: State.FINISHED, over.pk: State.EXPIRED}
    assert files() == [file_path(short).name]
    assert run.reports == 1


def test_deleting_many_costs_what_deleting_one_does(analyst):
    def queries(count):
        asked(visitors=count)
        made(analyst)
        with CaptureQueriesContext(connection) as captured:
            Visitor.objects.all().delete()
        return sum("storedreport" in each["sql"].lower() for each in captured)

    assert queries(30) == queries(3)


def test_what_a_killed_process_left_is_swept_up(analyst):
    asked()
    report, stopped = made(analyst), stored(analyst, "question", state=State.CANCELLED)
    for name in (f"{stopped.token}.jsonl", "a" * 32 + ".part", "b" * 32 + ".xlsx", report.token + "-1.sheet"):
        left = folder() / name
        left.write_text("half")
        os.utime(left, (0, 0))
    (folder() / ("c" * 32 + ".part")).write_text("being written")
    sweep()
    assert files() == sorted(["c" * 32 + ".part", file_path(report).name])

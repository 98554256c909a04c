"""Searches, the dashboard and files of answers are read from a standby that keeps up, and go on without it; searches go
on without the primary too. Two real servers in streaming replication, and the whole stack before them."""

import signal
import sys
import time
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.replication import Replicated, replicated
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
QUESTION = "How much is the semester contribution?"
PASSAGES, FAQS, COUNTS = "FROM knowledge_passage AS passage", "FROM faqs_faqvector", 'FROM "analytics_usagecount"'
#: Makes a file of all answers, and prints how many it has.
EXPORT = """
from pathlib import Path
from tempfile import TemporaryDirectory
from analytics.reports.content import make_file
from analytics.reports.definition import Definition
from analytics.reports.permissions import Rights
definition, rights = Definition(columns=("question",)), Rights(True, 1, True, frozenset())
with TemporaryDirectory() as folder:
    extent = make_file(Path(folder, "file"), definition, definition.period(), rights, lambda done, total: None)
print(extent.rows)
"""
ANSWERS = 'FROM "chat_message"'


@pytest.fixture(scope="module")
def stack() -> Iterator[Replicated]:
    with replicated(DATABASE_REPLICA_LAG_SECONDS="5") as started:
        yield started


def is_used(stack: Replicated) -> bool:
    return stack.figures()["marcelcms_replica_used"] == 1


def ask(stack: Replicated) -> str:
    stack.llm.reset()
    stack.llm.says("The semester contribution is 318.40 euros [1].")
    with stack.server.connect() as tab:
        return tab.answer(QUESTION).text


def staff(stack: Replicated, path: str, **body: Any) -> Any:
    from tests.faults.traffic import Editor

    return Editor(stack.server, stack.token, stack.document).call("PATCH" if body else "GET", path, body or None)


def write(stack: Replicated, text: str) -> None:
    path = f"documents/{stack.document}/"
    staff(stack, path, version=staff(stack, path)["version"], text=text)


def searches_on_the_standby_alone(stack: Replicated) -> bool:
    """Search and ask, and return whether the primary was left out of it."""
    stack.standby.forget_statements()
    stack.postgres.forget_statements()
    assert stack.finds("semester contribution")
    assert "318.40" in ask(stack)
    if stack.postgres.was_asked(PASSAGES) or stack.postgres.was_asked(FAQS):
        return False
    assert stack.standby.was_asked(PASSAGES)
    assert stack.standby.was_asked(FAQS)
    return True


def test_searches_and_the_dashboard_are_read_from_the_standby(stack: Replicated) -> None:
    wait_until(lambda: is_used(stack), 60)
    # A machine that is busy for two seconds has the primary asked instead, which is right.
    wait_until(lambda: searches_on_the_standby_alone(stack), 60)
    assert not stack.standby.was_asked("chat_conversation"), "what a visitor said is read from the primary"
    assert not stack.standby.was_asked("UPDATE")
    staff(stack, "figures/")
    assert stack.standby.was_asked(COUNTS)


def test_who_runs_the_service_sees_the_standby(stack: Replicated) -> None:
    wait_until(lambda: is_used(stack), 60)
    figures = stack.figures()
    assert figures["marcelcms_replica_lag_seconds"] <= 5
    assert figures["marcelcms_replica_behind_bytes"] >= 0
    assert stack.health()["checks"]["replica"]["status"] == "ok"
    said = stack.run.manage("doctor", "--alert", "MarcelReplicaUnused")
    assert "has what is written after" in said


def test_a_standby_that_lags_too_far_behind_is_not_read_until_it_has_caught_up(stack: Replicated) -> None:
    wait_until(lambda: is_used(stack), 60)
    with stack.standby.paused():
        assert stack.reads_from_standby(), "it lags, but not too far yet"
        write(stack, "# Room\n\nThe examination committee meets in the blue pavilion.")
        # What was just edited is tried at once, whatever the standby has.
        wait_until(lambda: "blue pavilion" in stack.run.manage("search", "blue pavilion", "--json"), 60)
        wait_until(lambda: not is_used(stack), 60)
        assert any("blue pavilion" in text for text in stack.finds("blue pavilion"))
        assert not stack.reads_from_standby()
        assert stack.health()["checks"]["replica"]["status"] == "degraded"
        assert "the primary is read instead" in stack.run.manage("doctor", "--alert", "MarcelReplicaUnused")
    wait_until(lambda: is_used(stack), 60)
    assert stack.reads_from_standby()
    assert any("blue pavilion" in text for text in stack.finds("blue pavilion"))


def test_a_file_of_answers_has_all_that_was_said_before_it_was_made(stack: Replicated) -> None:
    ask(stack)
    (count,) = stack.row("SELECT count(*) FROM chat_message WHERE role = 'assistant' AND question_id IS NOT NULL")
    wait_until(lambda: is_used(stack), 60)
    stack.standby.forget_statements()
    assert int(stack.run.does(EXPORT)) == count
    assert stack.standby.was_asked(ANSWERS)
    with stack.standby.paused():
        ask(stack)
        stack.standby.forget_statements()
        assert int(stack.run.does(EXPORT)) == count + 1
        assert not stack.standby.was_asked(ANSWERS)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_without_its_standby_nobody_notices_anything(stack: Replicated, how: int) -> None:
    wait_until(lambda: is_used(stack), 60)
    with stack.busy() as going:
        stack.standby.stop(how)
        gone = time.monotonic()
        going.goes_on(after=gone)
        wait_until(lambda: not is_used(stack), 60)
        assert stack.finds("semester contribution")
        stack.standby.start()
        began = time.monotonic()
        wait_until(lambda: is_used(stack), 120)
        back = time.monotonic() - began
        going.goes_on(after=time.monotonic())
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    assert not going.editor.troubles
    slowest = max(one.ended - one.asked for one in going.answered)
    print(f"\nstandby away: slowest answer of {len(going.answered)} {slowest:.1f} s; read again after {back:.1f} s")


def test_a_standby_that_hangs_holds_up_no_question_for_long(stack: Replicated) -> None:
    wait_until(lambda: is_used(stack), 60)
    with stack.busy() as going:
        with stack.standby.frozen():
            gone = time.monotonic()
            going.goes_on(after=gone)
            wait_until(lambda: not is_used(stack), 60)
            going.goes_on(after=time.monotonic())
        wait_until(lambda: is_used(stack), 60)
        going.goes_on(after=time.monotonic())
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    slowest = max(one.ended - one.asked for one in going.answered)
    print(f"\nstandby hangs: slowest answer of {len(going.answered)} {slowest:.1f} s")


def test_without_the_primary_programs_search_on_and_students_are_told_to_wait(stack: Replicated) -> None:
    wait_until(lambda: is_used(stack), 60)
    wait_until(lambda: stack.standby.has_all_of(stack.postgres), 60)
    found = stack.finds("semester contribution")
    with stack.busy(words=80) as going, stack.server.connect() as tab:
        tab.answer(QUESTION)
        stack.postgres.stop(signal.SIGKILL)
        gone = time.monotonic()
        for _ in range(20):
            assert stack.finds("semester contribution") == found
        assert "318.40" in stack.run.manage("search", "semester contribution", "--json")
        time.sleep(7)  # longer than the standby may lag behind while the primary is there
        assert stack.finds("semester contribution") == found
        assert stack.health()["status"] == "failing"
        tab.ask(QUESTION)
        assert tab.until("error")[-1]["code"] == "unavailable"
        with pytest.raises(urllib.error.HTTPError):  # told within twenty seconds
            staff(stack, "figures/")
        stack.postgres.start()
        began = time.monotonic()
        back = going.goes_on(after=began)
    assert going.refusals() <= {"unavailable"}
    during = [one for one in going.answered if gone < one.ended < began]
    print(f"\nprimary away: {len(during)} answers ended meanwhile; answers and edits {back:.1f} s after it was back")


def test_a_server_that_is_the_standby_of_another_one_is_not_read(stack: Replicated) -> None:
    """One that was promoted is none any more; and the database beside it is another one."""
    wait_until(lambda: is_used(stack), 120)
    stack.standby.does("SELECT pg_promote()")
    wait_until(lambda: not is_used(stack), 60)
    assert stack.finds("semester contribution")
    assert stack.health()["checks"]["replica"]["status"] == "degraded"

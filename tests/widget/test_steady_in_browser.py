"""What is read stays where it is while more comes, and a long conversation costs little more than a short one."""

from typing import Any

import pytest

from benchmarks.widget import WATCH, ask_and_watch, fill
from tests.widget.conftest import Student
from tests.widget.test_in_browser import PHONE, WIDE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
#: A long conversation may cost so many times what a short one does.
TIMES = 6
#: What a browser looks through for something to fill in, each time that the page has changed.
FIELDS = "e => e.getRootNode().querySelectorAll('form, input, textarea, select').length"
#: What a browser looks at in each frame, to see whether it is near the eye.
BOXES = """e => [...e.getRootNode().querySelectorAll("*")].filter(
  each => getComputedStyle(each).contentVisibility === "auto").length"""
COSTS = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone", "wide"])
@pytest.mark.parametrize("messages", [0, 200])
def test_text_in_sight_does_not_move_while_more_streams_in(
    student: Student, options: dict[str, Any], messages: int
) -> None:
    student.enters()
    fill(student, messages)
    student("panel").evaluate(f"e => ({WATCH})(e.getRootNode())")
    ask_and_watch(student, "long answer, please")
    moved, frames = student.page.evaluate("[moved, frames]")
    assert frames > 3
    assert moved < 1


def cost_of_typing(student: Student) -> float:
    session = student.context.new_cdp_session(student.page)
    session.send("Performance.enable")

    def spent() -> float:
        given = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return sum(float(given[name]) for name in COSTS)

    before = spent()
    student("question").press_sequentially("How long does it take?", delay=20)
    student("question").fill("")
    return spent() - before


def test_typing_in_a_long_conversation_costs_little_more_than_in_a_short_one(student: Student) -> None:
    student.enters()
    fill(student, 2)
    short = min(cost_of_typing(student) for _ in range(3))
    student("new-conversation").click()
    fill(student, 300)
    long = min(cost_of_typing(student) for _ in range(3))
    assert long < TIMES * short


def test_a_long_conversation_gives_a_browser_no_fields_and_few_boxes_to_look_at(student: Student) -> None:
    student.enters()
    student.asks("table")
    fields = student("panel").evaluate(FIELDS)
    student("new-conversation").click()
    fill(student, 200)
    assert student("panel").evaluate(FIELDS) == fields
    assert 0 < student("panel").evaluate(BOXES) <= 200 / 10
    student.answers.first.locator('[data-test="thumbs-down"]').click()
    assert student("panel").evaluate(FIELDS) > fields

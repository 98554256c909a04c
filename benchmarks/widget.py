"""The chat in Chromium: how soon it shows what was done and what arrived, and whether what is read stays where it is.

`python -m benchmarks.widget [--slowed 6] [--messages 500] [--json FILE]`, before the widget's stand-in service, which
sends an answer word by word. Interaction to next paint is the browser's own measure (Event Timing): from a key or a
click to the next frame, in steps of 8 ms; the longest of all counts. The work of an interaction is what the
page's main thread did, in its own time, from the event to the end of that frame: other programs do not add to it. The
first text is timed from the event of the line that brings it to the frame that shows it. Movement is that of each text
in sight, in each frame from when the question has come to the top: until then a growing answer takes it there. To watch
it costs more than what is watched, so that it has an answer of its own.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, sync_playwright

from benchmarks.measuring import say, table
from tests.browser import QUIET, chromium_path
from tests.widget.conftest import Student, staged

TOKEN = "JSON.parse(localStorage['marcelcms.demo.session']).token"
#: Notes when the first words of an answer came over the line.
HEAR = """
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (kind, hear, ...rest) {
  if (kind === "message") listen.call(this, kind, event => {
    if (!window.arrived && String(event.data).includes('"message_delta"')) window.arrived = performance.now();
  });
  return listen.call(this, kind, hear, ...rest);
};
"""
#: Watches from here on: long interactions, and the first text of a new answer.
TIME = """root => {
  Object.assign(window, { interactions: {}, arrived: 0, shown: 0 });
  new PerformanceObserver(list => list.getEntries().forEach(({ interactionId: id, duration }) => {
    if (id) interactions[id] = Math.max(interactions[id] ?? 0, duration);
  })).observe({ type: "event", durationThreshold: 16 });
  const look = () => {
    const answer = arrived && [...root.querySelectorAll('[data-role="assistant"]')].at(-1);
    if (answer && answer.querySelector('[data-test="answer-text"]').textContent) shown = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
#: Watches from here on: frames in which text moved.
WATCH = """root => {
  Object.assign(window, { moved: 0, frames: 0 });
  const box = root.querySelector('[data-test="scroll"]');
  const before = new Map();
  const look = () => {
    if (window.steady) {
      frames += 1;
      const { top, bottom } = box.getBoundingClientRect();
      for (const text of root.querySelectorAll(".question-text, .answer-text > *, .message__author")) {
        const at = text.getBoundingClientRect();
        if (at.bottom < top || at.top > bottom) { before.delete(text); continue }
        if (before.has(text)) moved = Math.max(moved, Math.abs(at.top - before.get(text)));
        before.set(text, at.top);
      }
    } else before.clear();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

INTERACTIONS = ("pointerdown", "pointerup", "click", "keydown", "keyup", "input")
AT_THE_TOP = """async asked => {
  const box = asked.closest('[data-test="scroll"]');
  const top = () => asked.getBoundingClientRect().top - box.getBoundingClientRect().top;
  while (top() > 42) await new Promise(next => setTimeout(next, 20));
}"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.widget", description=__doc__)
    parser.add_argument("--slowed", type=int, default=6, help="times that the processor is slower")
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    rows = []
    with staged() as stage, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", *QUIET])
        for messages, slowed in ((0, 1), (given.messages, 1), (given.messages, given.slowed)):
            context = chromium.new_context(viewport={"width": 360, "height": 640}, locale="en-GB")
            rows.append({"messages": messages, "slowed": slowed, **measure(Student(context, stage), messages, slowed)})
            context.close()
        chromium.close()
    say("")
    names = list(rows[0])
    table(names, [[row[name] for name in names] for row in rows])
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


def fill(student: Student, messages: int) -> None:
    """Open a conversation in which so much was said; the visitor has agreed."""
    token, conversation = student.page.evaluate(f"[{TOKEN}, localStorage['marcelcms.demo.conversation']]")
    student.stage.tell(f"fill?visitor={token}&conversation={conversation}&count={messages}")
    student.opens()
    student.page.wait_for_function(
        "([e, n]) => e.getRootNode().querySelectorAll('[data-test=message]').length === n",
        arg=[student("panel").element_handle(), messages],
        timeout=120_000,
    )


def measure(student: Student, messages: int, slowed: int) -> dict[str, Any]:
    """Do what students do; return milliseconds and pixels."""
    student.page.add_init_script(HEAR)
    student.enters()
    fill(student, messages)
    student("panel").evaluate(f"e => ({TIME})(e.getRootNode())")
    session = student.context.new_cdp_session(student.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    chromium = student.context.browser
    assert chromium is not None
    chromium.start_tracing(page=student.page, categories=["devtools.timeline", "disabled-by-default-devtools.timeline"])
    interact(student)
    work = busiest(json.loads(chromium.stop_tracing())["traceEvents"])
    seen: dict[str, Any] = student.page.evaluate("({ interactions, first: shown - arrived })")
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    student("panel").evaluate(f"e => ({WATCH})(e.getRootNode())")
    ask_and_watch(student, "long answer, please")
    times = sorted(seen["interactions"].values())
    return {
        "interactions of 16 ms or more": len(times),
        "INP, ms": times[-1] if times else 0,
        # Of a processor that is slowed, the trace counts the time that it is made to wait.
        "work, ms": round(work, 1) if slowed == 1 else "",
        "first text, ms": round(seen["first"], 1),
        "text in sight moved, px": student.page.evaluate("moved"),
        "frames": student.page.evaluate("frames"),
    }


def interact(student: Student) -> None:
    """Ask, open a source, rate, type, open and close the panes and the chat: with a hand that looks for nothing."""
    mouse, keys = student.page.mouse, student.page.keyboard

    def press(part: Locator) -> None:
        part.scroll_into_view_if_needed()
        student.page.wait_for_timeout(300)
        box = part.bounding_box()
        assert box is not None
        mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        student.page.wait_for_timeout(100)
        mouse.down()
        mouse.up()
        student.page.wait_for_timeout(700)

    press(student("question"))
    keys.type("A long answer, please", delay=120)
    keys.press("Enter")
    answer = student.answers.last
    student.page.wait_for_timeout(4_000)
    student.page.wait_for_function("e => e.dataset.status === 'complete'", arg=answer.element_handle(), timeout=120_000)
    press(student("jump"))
    for name in ("source-chip", "thumbs-down", "reason-outdated", "thumbs-up"):
        press(answer.locator(f'[data-test="{name}"]').first)
    press(student("question"))
    keys.type("And when is it due?", delay=120)
    for opens, closes in (("settings", "pane-settings"), ("show-conversations", "pane-conversations")):
        press(student(opens))
        press(student(closes).locator('[data-test="back"]'))
    press(student("close"))
    press(student("launcher"))


def busiest(events: list[dict[str, Any]]) -> float:
    """Return the most milliseconds of the page's main thread that followed a key or a click up to its frame."""
    pressed = [
        each
        for each in events
        if each["name"] == "EventDispatch" and each["args"].get("data", {}).get("type") in INTERACTIONS
    ]
    thread = pressed[0]["pid"], pressed[0]["tid"]
    own = [each for each in events if (each["pid"], each["tid"]) == thread and "dur" in each]
    frames = sorted(each["ts"] + each["dur"] for each in own if each["name"] == "Commit")
    most = 0.0
    for event in pressed:
        end = next((frame for frame in frames if frame > event["ts"]), event["ts"])
        tasks = (t for t in own if t["name"] == "RunTask" and t["ts"] < end and t["ts"] + t["dur"] >= event["ts"])
        most = max(most, sum(task.get("tdur", task["dur"]) for task in tasks) / 1000)
    return most


def ask_and_watch(student: Student, question: str) -> Any:
    """Ask, and watch what is in sight from when the question has come to the top, to the answer's end."""
    answer = student.asks(question, None)
    student("question-text").last.evaluate(AT_THE_TOP)
    student.page.evaluate("window.steady = true")
    student.page.wait_for_function("e => e.dataset.status === 'complete'", arg=answer.element_handle(), timeout=120_000)
    student.page.evaluate("window.steady = false")
    return answer


if __name__ == "__main__":
    main()

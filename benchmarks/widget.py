"""The chat in Chromium: how soon it shows what was done and what arrived, and whether what is read stays where it is.

`python -m benchmarks.widget [--slowed 6] [--messages 500] [--json FILE]`, before the widget's stand-in service, which
sends an answer word by word. Interaction to next paint is the browser's own measure (Event Timing): from a key or a
click to the next frame, in steps of 8 ms; the longest of all interactions counts. The first text is timed from the
event of the line that brings it to the frame that shows it. Movement is that of each text in sight, in each frame from
when the question has come to the top: until then a growing answer takes it there.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

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
#: Watches from here on: long interactions, frames in which text moved, the first text of a new answer.
WATCH = """root => {
  Object.assign(window, { interactions: {}, moved: 0, frames: 0, arrived: 0, shown: 0, shifts: 0 });
  new PerformanceObserver(list => list.getEntries().forEach(({ interactionId: id, duration, name }) => {
    if (id) interactions[id] = Math.max(interactions[id] ?? 0, duration);
  })).observe({ type: "event", durationThreshold: 16 });
  new PerformanceObserver(list => list.getEntries().forEach(({ value, hadRecentInput }) => {
    if (!hadRecentInput) shifts += value;
  })).observe({ type: "layout-shift" });
  const box = root.querySelector('[data-test="scroll"]');
  const before = new Map();
  const look = () => {
    const answer = [...root.querySelectorAll('[data-role="assistant"]')].at(-1);
    if (arrived && !shown && answer?.querySelector('[data-test="answer-text"]')?.textContent) {
      shown = performance.now();
    }
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
    student("panel").evaluate(f"e => ({WATCH})(e.getRootNode())")
    session = student.context.new_cdp_session(student.page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    answer = ask_and_watch(student, "long answer, please")
    answer.locator('[data-test="source-chip"]').first.click()
    answer.locator('[data-test="thumbs-down"]').click()
    answer.locator('[data-test="reason-outdated"]').click()
    answer.locator('[data-test="thumbs-up"]').click()
    student("question").press_sequentially("And when is it due?", delay=120)
    student("settings").click()
    student("pane-settings").locator('[data-test="back"]').click()
    student("show-conversations").click()
    student("pane-conversations").locator('[data-test="back"]').click()
    student.page.wait_for_timeout(1_000)
    seen: dict[str, Any] = student.page.evaluate("({ interactions, moved, frames, shifts, first: shown - arrived })")
    times = sorted(seen["interactions"].values())
    return {
        "interactions of 16 ms or more": len(times),
        "INP, ms": times[-1] if times else 0,
        "first text, ms": round(seen["first"], 1),
        "text in sight moved, px": seen["moved"],
        "layout shift": round(seen["shifts"], 4),
        "frames": seen["frames"],
    }


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

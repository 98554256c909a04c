"""Criteria of WCAG 2.2 that axe does not measure: reflow, spacing of text, size of targets, focus in sight."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.widget.conftest import Student

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
#: What 1.4.10 names: 1280 by 1024 at 400 %.
NARROW: dict[str, Any] = {"viewport": {"width": 320, "height": 256}, "locale": "de-DE"}
SPACED = """e => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: .12em !important;"
    + " word-spacing: .16em !important } p { margin-block-end: 2em !important }");
  const root = e.getRootNode();
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}"""
#: Texts that are wider or higher than the box that hides what stands out of it. Titles of pages and of conversations
#: are cut on purpose, and are whole where they are opened. What only screen readers read is one pixel large.
CUT = """e => [...e.getRootNode().querySelectorAll("*")].filter(each => {
  const { overflowX, overflowY } = getComputedStyle(each);
  if (!each.checkVisibility() || each.clientWidth < 2) return false;
  if (each.matches(".chip__title, .conversation__title")) return false;
  return (overflowX === "hidden" && each.scrollWidth > each.clientWidth + 1)
    || (overflowY === "hidden" && each.scrollHeight > each.clientHeight + 1);
}).map(each => each.outerHTML.slice(0, 120))"""
#: px; a link in a sentence may be smaller (2.5.8), and the numbers of sources are such links.
SMALL = """e => [...e.getRootNode().querySelectorAll("button, input, select, a:not(.answer-text a)")].filter(each => {
  const { width, height } = each.getBoundingClientRect();
  return each.checkVisibility({ opacityProperty: false }) && (width < 24 || height < 24);
}).map(each => each.outerHTML.slice(0, 120))"""
#: Whether something of the focused element can be seen.
SEEN = """() => {
  let at = document.activeElement, root = document;
  while (at?.shadowRoot?.activeElement) { root = at.shadowRoot; at = root.activeElement; }
  if (!at || at === document.body) return true;
  const { left, right, top, bottom } = at.getBoundingClientRect();
  const within = [0.1, 0.3, 0.5, 0.7, 0.9];
  return within.some(x => within.some(y => {
    const found = root.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
    return found && (at.contains(found) || found.contains(at) && found.closest(".messages, .composer, .header"));
  })) || at.outerHTML.slice(0, 120);
}"""
ASKED = ("three sources", "wide table", "Is there a locker?", "dates", "abstain")


def asks_all(student: Student) -> None:
    for question in ASKED:
        student.asks(question, "abstained" if question == "abstain" else "complete")


@pytest.mark.parametrize("options", [NARROW])
def test_nothing_scrolls_sideways_at_320_pixels(student: Student, options: dict[str, Any]) -> None:
    student.enters("page=de")
    asks_all(student)
    student.answers.first.locator('[data-test="source-chip"]').first.click()
    assert student("scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
    for pane in ("settings", "conversations"):
        student("settings" if pane == "settings" else "show-conversations").click()
        box = student(f"pane-{pane}")
        assert box.evaluate("e => e.scrollWidth <= e.clientWidth"), pane
    assert student.page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 740}, "locale": "de-DE"}])
def test_text_may_have_more_room_between_letters_words_and_lines(student: Student, options: dict[str, Any]) -> None:
    student.enters("page=de")
    asks_all(student)
    student("panel").evaluate(SPACED)
    student.answers.first.locator('[data-test="source-chip"]').first.click()
    assert student("panel").evaluate(CUT) == []
    assert student("scroll").evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": 360, "height": 740}}, {"viewport": {"width": 1440, "height": 900}}]
)
@pytest.mark.parametrize("mode", ["launcher", "inline"])
def test_what_is_pressed_is_large_enough(student: Student, options: dict[str, Any], mode: str) -> None:
    student.enters(f"mode={mode}")
    asks_all(student)
    student.answers.first.locator('[data-test="source-chip"]').first.click()
    student.answers.first.locator('[data-test="thumbs-down"]').click()
    assert student("panel").evaluate(SMALL) == []


@pytest.mark.parametrize("options", [{"viewport": {"width": 360, "height": 640}}])
def test_what_has_the_focus_is_not_covered(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    asks_all(student)
    student("scroll").evaluate("box => box.scrollTo({ top: 0 })")
    expect(student("jump")).to_be_visible()
    student("close").focus()
    covered = []
    for _ in range(45):
        student.page.keyboard.press("Tab")
        student.page.wait_for_timeout(30)
        seen = student.page.evaluate(SEEN)
        if seen is not True:
            covered.append(seen)
    assert covered == []

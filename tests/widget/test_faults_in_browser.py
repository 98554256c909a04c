"""What once went wrong in the widget: with a thumb, a stop, a lost line, a hand-over in a small window."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import keep
from tests.widget.conftest import Student
from tests.widget.test_in_browser import FEE, PHONE, WIDE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
IN_BOTH = [{**WIDE, "locale": "en-GB"}, {**PHONE, "locale": "de-DE"}]
OFFLINE = {"en": "There is no connection just now.", "de": "Gerade besteht keine Verbindung."}
both = pytest.mark.parametrize("options", IN_BOTH, ids=["wide-en", "phone-de"])


@both
def test_a_thumb_on_an_older_answer_is_whole_and_brings_nothing_new(student: Student, options: dict[str, Any]) -> None:
    student.enters(f"page={options['locale'][:2]}")
    for _ in range(5):
        student.asks(FEE)
    thumb = student.answers.first.locator('[data-test="thumbs-down"]')
    thumb.scroll_into_view_if_needed()
    thumb.click()
    expect(thumb).to_have_attribute("aria-pressed", "true")
    cut = thumb.evaluate("e => e.getBoundingClientRect().left - e.closest('.message').getBoundingClientRect().left")
    assert cut >= 0, "what is not near the end paints nothing outside its box"
    student.page.wait_for_timeout(300)
    keep(student.page, f"widget-old-thumb-{options['locale'][:2]}")
    expect(student("jump")).to_be_visible()
    expect(student("jump")).not_to_contain_text("New text" if options["locale"] == "en-GB" else "Neuer Text")


def test_what_was_stopped_before_its_first_word_is_not_rated_or_copied(student: Student) -> None:
    student.enters()
    answer = student.asks("wait", None)
    expect(student("waiting")).to_be_visible()
    student("stop").click()
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(answer.locator('[data-test="stopped"]')).to_be_visible()
    for absent in ("thumbs-up", "thumbs-down", "copy", "person"):
        expect(answer.locator(f'[data-test="{absent}"]')).to_have_count(0)


@both
def test_a_question_sent_without_a_line_in_the_middle_of_an_answer_says_so(
    student: Student, options: dict[str, Any]
) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    student.asks("please hold", None)
    student("question").fill("And the deadline?")
    student("question").press("Enter")
    expect(student("composer-hint")).not_to_be_empty()
    student.context.set_offline(True)
    student.stage.tell("drop")
    expect(student("composer-hint")).to_contain_text(OFFLINE[language])
    student("question").fill("And the deadline now?")
    student("question").press("Enter")
    expect(student("composer-hint")).to_contain_text(OFFLINE[language])
    student.context.set_offline(False)
    expect(student("status")).to_be_hidden(timeout=20_000)
    expect(student("composer-hint")).to_be_empty()
    expect(student("question")).to_have_value("And the deadline now?")
    student("stop").click()


@pytest.mark.parametrize("options", [{"viewport": {"width": 720, "height": 450}}])
def test_a_question_that_was_left_stays_in_sight_when_the_window_changes(
    student: Student, options: dict[str, Any]
) -> None:
    student.enters()
    answer = student.asks("abstain", "abstained")
    student("scroll").evaluate("box => box.scrollTo({ top: box.scrollHeight })")
    student.page.wait_for_timeout(200)  # at its end it is followed
    answer.locator('[data-test="ask-person"]').click()
    student("send-to-office").click()
    expect(student("case-title")).to_be_focused()
    for height in (440, 400, 450):
        student.page.set_viewport_size({"width": 720, "height": height})
        student.page.wait_for_timeout(200)
        expect(student("case-title")).to_be_in_viewport(ratio=1)

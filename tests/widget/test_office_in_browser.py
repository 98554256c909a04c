"""Staff's own answers in the widget: a look of their own, word for word, and all that can be done with an answer."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Stage, Student
from tests.widget.test_in_browser import PHONE, looks

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
ASKED = "Is there a locker?"


@looks
def test_an_offices_answer_has_a_look_of_its_own(student: Student, options: dict[str, Any], request: Any) -> None:
    student.enters(f"page={options['locale'][:2]}")
    answer = student.asks(ASKED)
    office = answer.locator('[data-test="office"]')
    expect(office.locator("h4")).to_contain_text("checked on 3 March 2026")
    expect(office.locator("strong").first).to_have_text("20 euros")
    # Markup and numbers in it are its own words.
    expect(office).to_contain_text("<b>not</b> [2] online")
    expect(office.locator('[data-test="citation"]')).to_have_count(0)
    page = office.locator('[data-test="source-link"]')
    expect(page).to_have_attribute("href", re.compile("/answers/7/en/$"))
    expect(answer.locator('[data-test="answer-text"]').last).to_contain_text("Lockers are emptied in August")
    expect(answer.locator('[data-test="source"]')).to_have_count(2)
    expect(answer.locator('[data-test="document-link"]').first).to_contain_text("Form for a locker")
    for own in ("thumbs-up", "thumbs-down", "copy"):
        expect(answer.locator(f'[data-test="{own}"]')).to_be_visible()
    keep(student.page, f"widget-office-{request.node.callspec.id}")
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    assert violations(student.page) == []


def test_what_it_links_to_is_a_link_if_that_is_a_web_page(student: Student) -> None:
    student.enters()
    answer = student.asks(ASKED)
    link = answer.locator('[data-test="office-link"]')
    expect(link).to_have_count(1)
    expect(link).to_have_accessible_name("form (opens in a new tab)")
    expect(link.locator("strong")).to_have_text("form")
    for name, value in (
        ("href", "https://www.uni-lindental.example/lockers"),
        ("target", "_blank"),
        ("rel", "noopener noreferrer"),
    ):
        expect(link).to_have_attribute(name, value)
    expect(answer.locator('[data-test="office"]')).to_contain_text("and no script or path.")
    written = student.asks("say The [form](https://www.uni-lindental.example/forms) is there.")
    expect(written.locator('[data-test="answer-text"]')).to_have_text("The form is there.")
    expect(written.locator('[data-test="answer-text"] a')).to_have_count(0)


@pytest.mark.parametrize("options", [PHONE])
def test_one_in_another_language_says_so_and_is_marked_as_it(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    answer = student.asks("german locker alone")
    expect(answer.locator(".office > p >> nth=0")).to_have_text("This answer was written in German.")
    expect(answer.locator('.office [lang="de"]')).to_contain_text("20 Euro")
    expect(answer.locator('[data-test="abstained"]')).to_have_count(0)
    expect(answer.locator('[data-test="quoting-notice"]')).to_have_count(0)
    keep(student.page, "widget-office-german")


def test_it_is_read_aloud_stays_when_stopped_and_comes_back_with_the_page(student: Student) -> None:
    student.enters()
    answer = student.asks(f"{ASKED} hold", None)
    expect(answer.locator('[data-test="office"]')).to_be_visible()
    student("stop").click()
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(answer.locator('[data-test="office"]')).to_contain_text("20 euros")
    answer = student.asks(ASKED)
    expect(student.page.locator('[role="log"], [aria-live="polite"]').first).to_contain_text("Answer by the University")
    answer.locator('[data-test="thumbs-up"]').click()
    student.page.reload()
    student("launcher").click()
    expect(student.page.locator('[data-test="office"]')).to_have_count(2)
    expect(student.page.locator('[data-test="office"]').last).to_contain_text("20 euros")
    expect(student.page.locator('[data-test="thumbs-up"]').last).to_have_attribute("aria-pressed", "true")


def test_it_is_copied_with_who_signed_it(browser: Browser, stage: Stage) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], locale="en-GB")
    visitor = Student(context, stage).enters()
    visitor.asks(ASKED).locator('[data-test="copy"]').click()
    copied = visitor.page.evaluate("navigator.clipboard.readText()")
    assert "checked on 3 March 2026" in copied
    assert "20 euros" in copied
    assert "Lockers are emptied in August" in copied
    assert copied.index("20 euros") < copied.index("emptied")
    context.close()

"""Wishes to be told once a question has an answer, in the widget."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Stage, Student
from tests.widget.test_in_browser import FEE, looks

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def usual(stage: Stage) -> Iterator[None]:
    """Leave the service as the other tests expect it."""
    yield
    stage.tell("failing?on=0")


@looks
def test_a_student_wishes_to_be_told_and_is(student: Student, options: dict[str, Any], request: Any) -> None:
    name, language = request.node.callspec.id, options["locale"][:2]

    def looked_at(screen: str) -> None:
        student.page.wait_for_timeout(100)
        keep(student.page, f"wishes-{name}-{screen}")
        assert violations(student.page) == [], screen
        assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"], screen

    student.enters(f"page={language}")
    student.asks("abstain", "abstained")
    student("wish").scroll_into_view_if_needed()
    looked_at("offered")
    student("wish").click()
    card = student("case")
    expect(card).to_have_attribute("data-state", "watching")
    expect(card.locator('[data-test="case-title"]')).to_be_focused()
    expect(student("wish")).to_be_hidden()
    expect(student("ask-person")).to_be_visible()
    expect(student("case-form")).to_be_hidden()
    looked_at("waits")
    student("case-address-open").click()
    student("case-address").fill("student@uni.example")
    student("case-address-save").click()
    expect(student("case-mails")).to_be_visible()
    looked_at("by-mail")
    student.stage.tell("told")
    expect(card).to_have_attribute("data-state", "told")
    expect(card.locator('[data-by="assistant"] a')).to_have_attribute("href", "https://www.uni-lindental.example/dogs")
    expect(student("live")).to_contain_text("There is an answer to your question now")
    card.scroll_into_view_if_needed()
    looked_at("told")
    student("case-helped-yes").click()
    expect(student("case-helped-yes")).to_have_attribute("aria-pressed", "true")
    before = student.answers.count()
    student("wish-again").click()
    expect(student.answers).to_have_count(before + 1)


def test_after_a_thumb_down_a_better_answer_can_be_wished_for(student: Student) -> None:
    student.enters()
    answer = student.asks(FEE)
    wish = answer.locator('[data-test="wish"]')
    expect(wish).to_be_hidden()
    answer.locator('[data-test="thumbs-down"]').click()
    wish.click()
    expect(student("case")).to_have_attribute("data-state", "watching")
    student("case-withdraw").click()
    student("confirm").click()
    expect(student("case")).to_have_count(0)
    expect(wish).to_be_visible()


def test_without_a_connection_the_wish_is_not_lost_silently(student: Student) -> None:
    student.enters()
    answer = student.asks("abstain", "abstained")
    student.stage.tell("failing?on=1")
    answer.locator('[data-test="wish"]').click()
    expect(answer.get_by_role("alert").filter(has_text="There is no connection just now.")).to_be_visible()
    student.stage.tell("failing?on=0")
    answer.locator('[data-test="wish"]').click()
    expect(student("case")).to_have_attribute("data-state", "watching")


def test_a_closed_chat_has_a_dot_until_what_was_told_is_shown(student: Student) -> None:
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="wish"]').click()
    expect(student("case")).to_be_visible()
    student("close").click()
    student.stage.tell("told")
    expect(student("news")).to_be_visible()
    student("launcher").click()
    expect(student("case").locator('[data-by="assistant"]')).to_be_in_viewport()
    student("close").click()
    expect(student("news")).to_have_count(0)

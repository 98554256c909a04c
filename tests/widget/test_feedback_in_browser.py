"""Feedback in one tap, the consent on a small phone, and a question that stays in sight."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Student
from tests.widget.test_in_browser import FEE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
SMALL: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "has_touch": True}
SMALL_LOOKS = [
    {**SMALL, "locale": "de-DE", "color_scheme": "light"},
    {**SMALL, "locale": "en-GB", "color_scheme": "dark"},
]
looks = pytest.mark.parametrize("options", SMALL_LOOKS, ids=["light-de", "dark-en"])


@looks
def test_a_reason_is_sent_when_it_is_tapped_and_undone(student: Student, options: dict[str, Any]) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    answer = student.asks(FEE)
    answer.locator('[data-test="thumbs-down"]').click()
    student("reason-outdated").check()
    expect(student("feedback-comment")).to_be_hidden()
    keep(student.page, f"widget-reasons-{language}")
    assert violations(student.page) == []
    other = Student(student.context, student.stage).opens()
    expect(other.answers.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "true")
    saved = [message["feedback_reasons"] for message in conversation(other)["messages"]]
    assert saved == [[], ["outdated"]]
    student("undo-feedback").click()
    expect(student("feedback-form")).to_be_hidden()
    expect(answer.locator('[data-test="thumbs-down"]')).to_be_focused()
    expect(answer.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "false")
    expect(other.answers.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "false")
    assert conversation(other)["messages"][1]["feedback_reasons"] == []


def conversation(student: Student) -> Any:
    return student.page.evaluate(
        "async service => (await fetch(service + '/api/v1/conversations/'"
        " + localStorage['marcelcms.demo.conversation'],"
        " {headers: {Authorization: 'Bearer ' + JSON.parse(localStorage['marcelcms.demo.session']).token}})).json()",
        student.stage.service,
    )


def test_a_reason_that_cannot_be_sent_is_not_shown_as_given(student: Student) -> None:
    student.enters()
    student.asks(FEE).locator('[data-test="thumbs-down"]').click()
    student.context.set_offline(True)
    expect(student("status")).to_contain_text("offline")
    student("reason-wrong").click()
    expect(student("composer-hint")).to_contain_text("Your feedback was not sent")
    expect(student("reason-wrong")).not_to_be_checked()


@looks
def test_the_consent_is_two_sentences_that_fit_a_small_phone(student: Student, options: dict[str, Any]) -> None:
    student.opens(f"page={options['locale'][:2]}")
    for part in student.page.locator(".consent__title, .consent__text, .consent__more").all():
        expect(part).to_be_in_viewport(ratio=1)
    expect(student.page.locator(".consent__text")).to_have_count(2)
    expect(student("privacy-link")).to_be_in_viewport(ratio=1)
    expect(student("consent-agree")).to_be_in_viewport(ratio=1)
    keep(student.page, f"widget-consent-small-{options['locale'][:2]}")
    student("consent-more").locator("summary").click()
    expect(student("consent-agree")).to_be_in_viewport(ratio=1)
    assert violations(student.page) == []


@pytest.mark.parametrize("options", [SMALL])
def test_the_question_and_what_is_read_stay_where_they_are_while_more_comes(
    student: Student, options: dict[str, Any]
) -> None:
    student.enters()
    student.asks(FEE)
    answer = student.asks("long", None)
    expect(answer).to_contain_text("Paragraph 7")
    top = student("scroll").evaluate("box => box.scrollTop")
    expect(student("question-text").last).to_be_in_viewport(ratio=1)
    expect(student("jump")).to_contain_text("New text below")
    expect(answer).to_have_attribute("data-status", "complete", timeout=30_000)
    assert student("scroll").evaluate("box => box.scrollTop") == top
    student("jump").click()
    expect(answer.locator('[data-test="sources"]')).to_be_in_viewport()
    student.asks("long again", None)
    expect(student.answers.last).to_contain_text("Paragraph 6")
    student("jump").click()
    expect(student.answers.last).to_contain_text("Paragraph 9")
    student.page.wait_for_timeout(100)
    expect(student("jump")).to_be_hidden()

"""A student leaves a question with an office of the demo, the office replies, and the student reads it at once."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import keep, violations
from tests.e2e.test_chat_page import ask, enter, finished, test_id
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
UNANSWERED = "May I keep a telescope on the roof of the observatory?"
REPLY = """
from django.contrib.auth import get_user_model
from chat.models import Case
from chat.services import office_cases

case = Case.objects.latest("pk")
office_cases.reply(case=case.pk, version=case.version, text={text!r}, by=get_user_model().objects.first())
print(case.office.name, case.question, case.shared.count(), sep="|")
"""
LEFT = "from chat.models import Case; print(Case.objects.filter(question__contains='telescope').count())"


def test_from_an_abstention_to_the_reply(page: Page, quoting: Run) -> None:
    enter(page, quoting)
    answer = finished(ask(page, UNANSWERED), "abstained")
    test_id(answer, "ask-person").focus()
    page.keyboard.press("Enter")
    expect(test_id(page, "office-choice").locator("option:checked")).to_have_text("Student Service Centre")
    expect(test_id(page, "office-facts")).to_contain_text("Wednesday: 13:00–16:00")
    expect(test_id(page, "handover-question")).to_have_value(UNANSWERED)
    keep(page, "leave-question-form")
    assert violations(page) == []
    test_id(page, "handover-question").fill("May I keep a telescope there? It is small.")
    test_id(page, "share").last.uncheck()
    page.keyboard.press("Tab")
    for _field in range(5):
        if test_id(page, "send-to-office").evaluate("button => button.getRootNode().activeElement === button"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    card = test_id(page, "case")
    expect(test_id(card, "case-title")).to_be_focused()
    expect(card).to_have_attribute("data-state", "open")

    said = quoting.does(REPLY.format(text="Yes, but **not** in a storm."))
    assert said.strip() == "Student Service Centre|May I keep a telescope there? It is small.|1"
    expect(card).to_have_attribute("data-state", "replied", timeout=15_000)
    expect(card.locator('[data-by="office"] strong')).to_have_text("not")
    expect(test_id(page, "live")).to_contain_text("Yes, but not in a storm.")
    card.scroll_into_view_if_needed()
    keep(page, "leave-question-reply")
    assert violations(page) == []

    test_id(card, "case-field").fill("And in the rain?")
    test_id(card, "case-send").click()
    expect(card.locator('[data-by="student"]')).to_have_count(2)
    expect(card).to_have_attribute("data-state", "open")
    page.reload()
    expect(card.locator('[data-by="office"]')).to_contain_text("not in a storm")
    quoting.does(REPLY.format(text="Neither."))
    expect(card.locator('[data-by="office"]')).to_have_count(2, timeout=15_000)
    test_id(card, "case-helped-yes").click()
    expect(test_id(card, "case-helped-yes")).to_have_attribute("aria-pressed", "true")
    test_id(card, "case-withdraw").click()
    test_id(page, "confirm").click()
    expect(card).to_have_count(0)
    assert quoting.does(LEFT).strip() == "0"

"""What follows an answer in the widget: changed, anew, more simply, kept; and the room around it."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Student
from tests.widget.test_in_browser import FEE, looks, on_a_phone

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def test_a_changed_question_takes_the_place_of_the_one_before(student: Student) -> None:
    student.enters()
    student.asks("First question")
    student.asks("Secnd question")
    student("edit").click()
    student("question").press("End")
    expect(student("composer-hint")).to_contain_text("takes the place")
    student("question").fill("Second question")
    expect(student("composer-hint")).to_contain_text("takes the place")
    student("question").press("Enter")
    expect(student("question-text")).to_have_text(["First question", "Second question"])
    expect(student.answers.nth(1)).to_have_attribute("data-status", "complete")
    student.page.reload()
    student("launcher").click()
    expect(student("question-text")).to_have_text(["First question", "Second question"])


def test_who_empties_the_field_asks_something_else(student: Student) -> None:
    student.enters()
    student.asks("First question")
    student("edit").click()
    student("question").fill("")
    student.asks("Another question")
    expect(student("question-text")).to_have_text(["First question", "Another question"])


def test_an_answer_is_given_anew_in_its_place(student: Student) -> None:
    student.enters()
    first = student.asks(FEE).get_attribute("data-id")
    student.asks("table")
    expect(student("regenerate")).to_have_count(1)
    last = student.answers.nth(1).get_attribute("data-id")
    student("regenerate").click()
    expect(student.answers.nth(1)).not_to_have_attribute("data-id", str(last))
    expect(student.answers.nth(1)).to_have_attribute("data-status", "complete")
    assert student.answers.first.get_attribute("data-id") == first
    expect(student("question-text")).to_have_count(2)


@looks
def test_waiting_says_what_is_done(student: Student, options: dict[str, Any], request: Any) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    answer = student.asks("slow", None)
    expect(answer).to_contain_text({"en": "Reading 6 pages", "de": "6 Seiten werden gelesen"}[language])
    expect(answer).to_contain_text({"en": "Writing the answer", "de": "Die Antwort wird geschrieben"}[language])
    keep(student.page, f"widget-working-{request.node.callspec.id}")
    expect(answer).to_have_attribute("data-status", "complete")


@looks
def test_dates_plain_language_and_files(student: Student, options: dict[str, Any], request: Any) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    answer = student.asks("dates")
    dates = answer.locator('[data-test="date"]')
    expect(dates.first).to_contain_text({"en": "15 Jul 2027", "de": "15.07.2027"}[language])
    expect(dates.nth(1)).to_contain_text({"en": "Mon–Tue, 09:00–17:00", "de": "Mo–Di, 09:00–17:00"}[language])
    with student.page.expect_download() as download:
        dates.first.click()
    assert download.value.suggested_filename == "date.ics"
    answer.locator('[data-test="plain"]').click()
    expect(answer.locator('[data-test="answer-text"]')).to_contain_text("You pay 318.40 euros")
    made = answer.locator('[data-test="answer-text"]').get_attribute("data-digital-source-type")
    assert made == "trainedAlgorithmicMedia"
    expect(answer.locator('[data-test="citation"]')).to_have_count(3)
    keep(student.page, f"widget-plain-{request.node.callspec.id}")
    assert violations(student.page) == []
    answer.locator('[data-test="plain"]').click()
    expect(answer.locator('[data-test="answer-text"]')).to_contain_text("re-registration")
    student("settings").click()
    with student.page.expect_download() as download:
        student("keep").click()
    assert download.value.suggested_filename == "conversation.html"
    keep(student.page, f"widget-settings-{request.node.callspec.id}")


@pytest.mark.parametrize("mode", ["launcher", "inline"])
@pytest.mark.parametrize("options", [{"color_scheme": "dark"}])
def test_a_conversation_is_printed_alone(student: Student, mode: str, options: dict[str, Any]) -> None:
    student.enters(f"mode={mode}")
    for n in range(8):
        student.asks(f"Question {n}")
    student.page.evaluate("window.print = () => { window.printed = true }")
    student("settings").click()
    student("print").click()
    assert student.page.evaluate("window.printed")
    student.page.emulate_media(media="print")
    expect(student.page.locator("h1")).to_be_hidden()
    expect(student("composer")).to_be_hidden()
    expect(student.answers.first).to_be_visible()
    expect(student.page.locator('[data-test="source-quote"]').first).to_be_visible()
    assert student.page.evaluate("document.documentElement.scrollHeight") > 2000
    keep(student.page, f"widget-print-{mode}")
    student.page.emulate_media(media="screen")
    student.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert student.page.locator("[data-marcel-print]").count() == 0


@pytest.mark.parametrize("language", ["en", "de"])
def test_conversations_stand_beside_a_wide_chat(student: Student, language: str) -> None:
    student.enters(f"mode=inline&page={language}")
    expect(student("pane-conversations")).to_be_visible()
    student.asks(FEE)
    expect(student("conversation")).to_have_count(1)
    expect(student("show-conversations")).to_be_hidden()
    keep(student.page, f"widget-beside-{language}")
    assert violations(student.page) == []
    student("new-conversation").click()
    student.asks("table")
    expect(student("conversation")).to_have_count(2)
    student("open-conversation").nth(1).click()
    expect(student("question-text")).to_have_text(FEE)
    expect(student("open-conversation").nth(1)).to_have_attribute("aria-current", "true")
    student("settings").click()
    expect(student("pane-conversations")).to_be_visible()
    expect(student("question")).to_be_hidden()
    student.page.set_viewport_size({"width": 768, "height": 900})
    expect(student("pane-conversations")).to_be_hidden()
    student("back").locator("visible=true").click()
    student("show-conversations").click()
    expect(student("pane-conversations")).to_be_visible()
    keep(student.page, f"widget-tablet-{language}")


@on_a_phone
def test_the_way_back_closes_a_pane_before_it_leaves_the_page(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    address = student.page.url
    student("settings").click()
    expect(student("pane-settings")).to_be_visible()
    student("show-conversations").click()
    expect(student("pane-conversations")).to_be_visible()
    student.page.go_back()
    expect(student("pane-conversations")).to_be_hidden()
    expect(student("question")).to_be_visible()
    student("settings").click()
    student("pane-settings").locator('[data-test="back"]').click()
    expect(student("pane-settings")).to_be_hidden()
    assert student.page.url == address
    student("settings").click()
    student.page.go_back()
    expect(student("pane-settings")).to_be_hidden()
    assert student.page.url == address


def test_there_is_one_way_to_close_and_a_mark_for_what_came_meanwhile(student: Student) -> None:
    student.enters()
    expect(student("launcher")).to_be_hidden()
    student.asks("slow", None)
    student("close").click()
    expect(student("launcher")).to_be_focused()
    expect(student("news")).to_be_visible(timeout=15_000)
    expect(student("launcher")).to_have_accessible_name(re.compile("There is a reply for you"))
    student("launcher").click()
    expect(student.answers.last).to_have_attribute("data-status", "complete")
    student("close").click()
    expect(student("news")).to_have_count(0)


@looks
def test_erasing_is_confirmed_in_sight(student: Student, options: dict[str, Any]) -> None:
    student.enters(f"page={options['locale'][:2]}")
    student.asks(FEE)
    student("settings").click()
    student("erase").click()
    student("confirm").click()
    expect(student("erased")).to_be_in_viewport()
    assert violations(student.page) == []

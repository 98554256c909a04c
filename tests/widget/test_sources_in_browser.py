"""The sources of an answer in the widget: a chip for each page, which opens in place to what is cited of it."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Student
from tests.widget.test_feedback_in_browser import conversation
from tests.widget.test_in_browser import looks, on_a_phone

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
#: px of answer and sources on a phone, half of what three cards took.
MOST_HEIGHT = 520
WORDS = {
    "en": {
        "checked": "checked on 1 October 2024",
        "old": "older than a year",
        "page": "page 4",
        "ocr": "read by OCR",
        "hint": "Read off a picture by a program",
    },
    "de": {
        "checked": "geprüft am 1. Oktober 2024",
        "old": "älter als ein Jahr",
        "page": "Seite 4",
        "ocr": "mit OCR gelesen",
        "hint": "Von einem Programm aus einem Bild gelesen",
    },
}


@looks
def test_chips_open_in_place_to_what_is_cited(student: Student, options: dict[str, Any], request: Any) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    answer = student.asks("three sources")
    pages, chips = answer.locator('[data-test="source"]'), answer.locator('[data-test="source-chip"]')
    expect(chips).to_have_count(2)
    expect(chips.first).to_have_text(re.compile("1.*2.*Semester contribution"))
    expect(answer.locator('[data-test="passage"]:visible')).to_have_count(0)
    chips.first.click()
    expect(chips.first).to_have_attribute("aria-expanded", "true")
    expect(pages.first.locator('[data-test="passage"]:visible')).to_have_count(2)
    expect(pages.first.locator('[data-test="source-link"]').nth(1)).to_have_attribute("href", re.compile("#late$"))
    keep(student.page, f"widget-sources-page-{request.node.callspec.id}")
    chips.nth(1).click()
    expect(answer.locator('[data-test="passage"]:visible')).to_have_count(1)
    expect(chips.nth(1)).to_contain_text(WORDS[language]["page"])
    expect(chips.nth(1)).to_contain_text("Winter term 2025/26")
    expect(chips.nth(1)).to_contain_text(WORDS[language]["ocr"])
    expect(chips.first).not_to_contain_text(WORDS[language]["ocr"])
    expect(pages.nth(1)).to_contain_text(WORDS[language]["hint"])
    expect(pages.nth(1).locator('[data-test="source-link"]')).to_have_attribute("href", re.compile(r"\.pdf#page=4$"))
    expect(pages.nth(1).locator('[data-test="source-checked"]')).to_have_text(WORDS[language]["checked"])
    expect(pages.nth(1).locator('[data-test="source-old"]')).to_have_text(WORDS[language]["old"])
    keep(student.page, f"widget-sources-pdf-{request.node.callspec.id}")
    assert violations(student.page) == []
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    chips.nth(1).click()
    expect(answer.locator('[data-test="passage"]:visible')).to_have_count(0)


def test_a_number_opens_its_page_and_leads_to_its_passage(student: Student) -> None:
    student.enters()
    answer = student.asks("three sources")
    answer.locator('[data-test="citation"]').nth(1).press("Enter")
    expect(answer.locator('[data-passage="2"]')).to_be_focused()
    expect(answer.locator('[data-passage="2"]')).to_be_in_viewport()
    expect(answer.locator('[data-passage="3"]')).to_be_hidden()


def test_what_the_answer_quotes_is_not_quoted_again(student: Student) -> None:
    student.enters()
    answer = student.asks("three sources")
    # Of the first passage the answer shows a part only.
    expect(answer.locator('[data-test="source-quote"]')).to_have_count(1)
    expect(answer.locator('[data-passage="1"] [data-test="source-quote"]')).to_contain_text("due with the re-registr")


@on_a_phone
def test_an_answer_with_three_sources_is_read_at_a_glance_on_a_phone(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    answer = student.asks("three sources")
    text, sources = answer.locator('[data-test="answer-text"]'), answer.locator('[data-test="sources"]')
    top, bottom = (
        part.evaluate("e => JSON.parse(JSON.stringify(e.getBoundingClientRect()))") for part in (text, sources)
    )
    assert bottom["bottom"] - top["top"] <= MOST_HEIGHT
    smallest = answer.locator('[data-test="source-chip"]').evaluate_all(
        "all => Math.min(...all.map(e => e.getBoundingClientRect().height))"
    )
    assert smallest >= 36


@on_a_phone
def test_a_wide_table_scrolls_alone_on_a_phone(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    table = student.asks("wide table").locator(".answer-table")
    assert table.evaluate("e => e.scrollWidth > e.clientWidth")
    assert student("scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
    table.focus()
    student.page.keyboard.press("ArrowRight")
    student.page.wait_for_timeout(300)
    assert table.evaluate("e => e.scrollLeft") > 0
    assert violations(student.page) == []


def test_a_list_keeps_its_order_and_whom_to_call_can_be_tapped(student: Student) -> None:
    student.enters()
    items = student.asks("long list").locator('[data-test="answer-text"] > ol > li')
    expect(items).to_have_count(3)
    expect(items.nth(1).locator("ul > li")).to_have_count(2)
    tapped = student("tap").evaluate_all("all => all.map(e => e.getAttribute('href'))")
    assert tapped == ["tel:+4964212822222", "mailto:studierende@uni-lindental.example"]


@pytest.mark.parametrize("address", ["", "transport=sse"])
def test_a_contact_that_is_tapped_is_told_by_its_kind_and_a_source_or_a_number_for_people_in_need_is_not(
    student: Student, address: str
) -> None:
    student.enters(address)
    # Only the widget's own part: nothing is dialled or mailed.
    student.page.evaluate("addEventListener('click', event => event.preventDefault())")
    answer = student.asks("long list")
    for _ in range(2):
        answer.locator('[href^="tel:"]').click()
    answer.locator('[href^="mailto:"]').click()
    student.asks("three sources").locator('[data-test="source-link"]').first.evaluate("link => link.click()")
    sorry = student.asks("abstain", "abstained")
    sorry.locator('[data-test="contact-link"]').click()
    student.asks("help:crisis").locator('[data-test="help-call"]').first.click()
    used = [message.get("contacts_used") for message in conversation(student)["messages"] if message["role"] != "user"]
    assert used == [["phone", "email"], None, ["page"], None]


def test_what_a_machine_wrote_is_marked_for_programs_that_read_the_page(student: Student) -> None:
    student.enters()
    marks = [("three sources", "trainedAlgorithmicMedia"), ("quote", "algorithmicMedia"), ("a person", None)]
    for question, mark in marks:
        answer = student.asks(question)
        assert answer.get_attribute("data-digital-source-type") == mark, question
    student.opens()
    expect(student.answers.first).to_have_attribute("data-digital-source-type", "trainedAlgorithmicMedia")
    assert student("question-text").count() == 3

"""Questions to offices in the widget: the way there, the form, and what comes of them."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Stage, Student
from tests.widget.test_in_browser import FEE, ZOOMED, looks

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
REPLY = "Yes, on a **lead**. [Form](https://www.uni-lindental.example/dogs) <b>here</b>"


@pytest.fixture(autouse=True)
def usual(stage: Stage) -> Iterator[None]:
    """Leave the offices as the other tests expect them."""
    yield
    stage.tell("offices?count=2")
    stage.tell("failing?on=0")


def leave(student: Student, question: str = "May I bring my dog?") -> Locator:
    """Leave a question from an abstention; return its card."""
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("handover-question").fill(question)
    student("send-to-office").click()
    card = student("case").last
    expect(card).to_contain_text(question)
    return card


def reply(student: Student, text: str = REPLY, more: str = "") -> None:
    student.stage.tell(f"reply?text={quote(text)}{more}")


def stands_below(lower: Locator, upper: Locator) -> bool:
    top = lower.evaluate("element => element.getBoundingClientRect().top")
    return bool(top >= upper.evaluate("element => element.getBoundingClientRect().bottom"))


@looks
def test_a_question_is_left_and_its_reply_read(student: Student, options: dict[str, Any], request: Any) -> None:
    name, language = request.node.callspec.id, options["locale"][:2]
    width = options["viewport"]["width"]
    student.stage.tell("offices?count=2&mails=1")

    def looked_at(screen: str) -> None:
        student.page.wait_for_timeout(100)
        keep(student.page, f"cases-{name}-{screen}")
        assert violations(student.page) == [], screen
        assert student.page.evaluate("document.documentElement.scrollWidth") <= width, screen

    student.enters(f"page={language}")
    student.asks(FEE)
    student.asks("abstain", "abstained")
    looked_at("abstention")
    student("ask-person").click()
    expect(student("handover-question")).to_have_value("abstain")
    expect(student("share")).to_have_count(4)
    expect(student.page.locator('[data-test="share"]:checked')).to_have_count(2)
    looked_at("form")
    student("share-more").locator("summary").click()
    student("send-to-office").scroll_into_view_if_needed()
    looked_at("end-of-form")
    student("handover-email").fill("nobody@")
    student("handover-question").fill(" ")
    student("send-to-office").click()
    expect(student("handover-question")).to_be_focused()
    expect(student("handover-question")).to_have_attribute("aria-invalid", "true")
    expect(student("handover-email")).to_have_attribute("aria-invalid", "true")
    looked_at("mistakes")
    student("handover-email").fill("")
    student("handover-question").fill("May I bring my dog?")
    student("office-choice").select_option("4")
    expect(student("office-facts").locator("li")).to_have_count(1)
    student("send-to-office").click()
    card = student("case")
    expect(card.locator('[data-test="case-title"]')).to_be_focused()
    expect(card).to_contain_text("International Office")
    expect(card).to_have_attribute("data-state", "open")
    expect(student("ask-person")).to_be_hidden()
    looked_at("waits")
    reply(student)
    expect(card).to_have_attribute("data-state", "replied")
    office = card.locator('[data-by="office"]')
    expect(office.locator("strong")).to_have_text("lead")
    expect(office.locator("b")).to_have_count(0)
    expect(office.locator("a")).to_have_attribute("href", "https://www.uni-lindental.example/dogs")
    expect(student("live")).to_contain_text("Yes, on a lead.")
    card.scroll_into_view_if_needed()
    looked_at("replied")
    card.locator('[data-test="case-withdraw"]').click()
    student("confirmation").scroll_into_view_if_needed()
    looked_at("withdrawing")


@pytest.mark.parametrize("options", ZOOMED)
def test_it_can_be_used_at_high_zoom(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("send-to-office").scroll_into_view_if_needed()
    expect(student("send-to-office")).to_be_in_viewport()
    keep(student.page, f"cases-zoom-{options['viewport']['height']}")
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    student("send-to-office").click()
    expect(student("case-title")).to_be_in_viewport()


def test_all_of_it_works_with_the_keyboard_alone(student: Student) -> None:
    student.enters()
    answer = student.asks("abstain", "abstained")
    press = student.page.keyboard.press
    answer.locator('[data-test="ask-person"]').focus()
    press("Enter")
    expect(student.page.locator("#pane-handover")).to_be_focused()
    expect(student("handover")).to_be_visible()
    press("Escape")
    expect(answer.locator('[data-test="ask-person"]')).to_be_focused()
    press("Enter")
    expect(student("handover")).to_be_visible()
    for wanted in ("office-choice", "handover-question"):
        press("Tab")
        expect(student(wanted)).to_be_focused()
    student.page.keyboard.type("?")
    for _box in range(2):
        press("Tab")
    press("Space")
    expect(student("share").nth(1)).not_to_be_checked()
    press("Tab")
    expect(student("send-to-office")).to_be_focused()
    press("Enter")
    card = student("case")
    expect(card.locator('[data-test="case-title"]')).to_be_focused()
    press("Tab")
    expect(student("case-field")).to_be_focused()
    student.page.keyboard.type("It is small.")
    press("Tab")
    press("Enter")
    expect(card.locator('[data-by="student"]')).to_have_count(2)
    expect(student("case-field")).to_have_value("")
    press("Tab")
    press("Enter")
    expect(student("confirmation")).to_be_visible()
    press("Escape")
    expect(student("case-withdraw")).to_be_focused()
    press("Enter")
    press("Shift+Tab")
    press("Enter")
    expect(card).to_have_count(0)
    expect(student("question")).to_be_focused()


def test_what_is_typed_survives_a_lost_line_a_closed_chat_and_a_reload(student: Student) -> None:
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("handover-question").fill("A long story")
    student("share").last.uncheck()
    student("office-choice").select_option("4")
    student.stage.tell("failing?on=1")
    student("send-to-office").click()
    expect(student("handover-problem")).to_contain_text("What you typed stays here")
    expect(student("handover-question")).to_have_value("A long story")
    student.page.reload()
    student("launcher").click()
    student("ask-person").click()
    expect(student("pane-handover").get_by_role("alert").first).to_contain_text("could not be loaded")
    student.stage.tell("failing?on=0")
    student("load-again").click()
    expect(student("handover-question")).to_have_value("A long story")
    expect(student("office-choice")).to_have_value("4")
    expect(student.page.locator('[data-test="share"]:checked')).to_have_count(1)
    student("close").click()
    student("launcher").click()
    expect(student("handover-question")).to_have_value("A long story")
    student("send-to-office").dblclick()
    expect(student("case")).to_have_count(1)
    student("case-field").fill("And more")
    student.stage.tell("failing?on=1")
    student("case-send").click()
    expect(student("case-form").get_by_role("alert")).to_contain_text("What you typed stays here")
    student.page.reload()
    student("launcher").click()
    expect(student("case-field")).to_have_value("And more")
    student.stage.tell("failing?on=0")
    student("case-send").click()
    expect(student("case").locator('[data-by="student"]').last).to_contain_text("And more")
    expect(student("case-field")).to_have_value("")


def test_a_reply_that_was_lost_on_its_way_opens_no_second_case(student: Student) -> None:
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("handover").wait_for()

    def lose(route: Any) -> None:
        route.fetch()
        route.abort()

    student.page.route("**/cases", lose)
    student("send-to-office").click()
    expect(student("handover-problem")).to_contain_text("What you typed stays here")
    student.page.unroute("**/cases")
    student("send-to-office").click()
    expect(student("case-title")).to_be_focused()
    expect(student("case")).to_have_count(1)


def test_where_no_office_takes_questions_that_is_said(student: Student) -> None:
    student.stage.tell("offices?count=0")
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    expect(student("no-office")).to_have_text("No office takes questions at the moment.")
    student("pane-handover").locator('[data-test="back"]').click()
    expect(student("ask-person")).to_be_focused()


def test_a_conversation_that_ends_takes_the_form_with_it(student: Student) -> None:
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("handover").wait_for()
    student.page.evaluate("MarcelChat('reset')")
    expect(student("pane-handover")).to_be_hidden()
    expect(student("question")).to_be_focused()


def test_one_office_is_named_and_not_chosen(student: Student) -> None:
    student.stage.tell("offices?count=1")
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    expect(student("office-name")).to_have_text("Student Service Centre")
    expect(student("office-choice")).to_have_count(0)
    expect(student("handover-email")).to_have_count(0)
    expect(student("reply-due")).to_have_text(re.compile(r"by \w+day,? \d+ \w+, \d\d:\d\d\.$"), use_inner_text=True)


def test_the_way_to_a_person_stands_where_it_helps(student: Student) -> None:
    student.enters()
    answer = student.asks(FEE)
    expect(answer.locator('[data-test="ask-person-below"]')).to_be_hidden()
    expect(answer.locator('[data-test="person"]')).to_have_accessible_name("Ask a person")
    answer.locator('[data-test="thumbs-down"]').click()
    expect(answer.locator('[data-test="feedback-form"]')).to_be_visible()
    expect(answer.locator('[data-test="reason-wrong"]')).to_be_focused()
    below = answer.locator('[data-test="ask-person-below"]')
    expect(below).to_be_visible()
    assert stands_below(below, answer.locator('[data-test="feedback-form"]'))
    wish = student.asks("Let me speak to a person")
    expect(wish.locator('[data-test="ask-person"]')).to_be_visible()
    expect(wish.locator('[data-test="person"]')).to_have_count(0)
    card = student.asks("help:crisis")
    assert stands_below(card.locator('[data-test="ask-person"]'), card.locator('[data-test="help"]'))
    keep(student.page, "cases-help")
    card.locator('[data-test="ask-person"]').click()
    expect(student("handover-question")).to_have_value("help:crisis")
    expect(student("handover-help").locator('[data-test="help-call"]').first).to_be_visible()
    assert violations(student.page) == []
    keep(student.page, "cases-help-form")


def test_whether_it_helped_is_said_and_taken_back(student: Student) -> None:
    student.enters()
    card = leave(student)
    expect(student("case-helped")).to_have_count(0)
    reply(student, "Which dog?", "&asks=1")
    expect(student("case-state")).to_have_text("The office asks you something.")
    expect(student("case-helped")).to_have_count(0)
    student("case-field").fill("A small one")
    student("case-send").click()
    expect(card).to_have_attribute("data-state", "open")
    reply(student, "Then yes.", "&closes=1")
    expect(card).to_have_attribute("data-state", "closed")
    student("case-helped-yes").click()
    expect(student("case-helped-yes")).to_have_attribute("aria-pressed", "true")
    expect(student("case-helped-yes")).to_be_focused()
    student("case-helped-yes").click()
    expect(student("case-helped-yes")).to_have_attribute("aria-pressed", "false")


def test_e_mails_are_changed_and_ended(student: Student) -> None:
    student.stage.tell("offices?count=1&mails=1")
    student.enters()
    student.asks("abstain", "abstained").locator('[data-test="ask-person"]').click()
    student("handover-email").fill("student@uni.example")
    student("send-to-office").click()
    expect(student("case-mails")).to_contain_text("open the link in the mail")
    student("case-address-open").click()
    student("case-address").fill("nobody@")
    student("case-address-save").click()
    expect(student("case-mail").get_by_role("alert")).to_contain_text("Please check the e-mail address")
    assert violations(student.page) == []
    student("case-address").fill("other@uni.example")
    student("case-address-save").click()
    expect(student("case-address-open")).to_be_focused()
    student("case-address-open").click()
    student("case-address-save").click()
    expect(student("case-mails")).to_be_hidden()
    expect(student("case-mail")).to_be_hidden()
    expect(student("case-title")).to_be_focused()


def test_a_closed_chat_has_a_dot_until_the_reply_was_shown(student: Student) -> None:
    student.enters()
    leave(student)
    student("close").click()
    expect(student("news")).to_have_count(0)
    reply(student)
    expect(student("news")).to_be_visible()
    expect(student("launcher")).to_have_accessible_name("Open the chat: Lindi. There is a reply for you")
    keep(student.page, "cases-dot")
    # Another page of the university, the chat still closed.
    student.page.reload()
    expect(student("news")).to_be_visible()
    assert violations(student.page) == []
    student("launcher").click()
    expect(student("case").locator('[data-by="office"]')).to_be_in_viewport()
    expect(student("live")).to_contain_text("Reply: Student Service Centre. Yes, on a lead.")
    student("close").click()
    expect(student("news")).to_have_count(0)
    student.page.reload()
    expect(student("launcher")).to_be_visible()
    expect(student("news")).to_have_count(0)


def test_a_frame_has_the_dot_too(student: Student) -> None:
    student.opens("mode=frame")
    frame = student.page.frame_locator('[data-test="frame"]')

    def inside(name: str) -> Locator:
        return frame.locator(f'[data-test="{name}"]')

    inside("consent-agree").click()
    inside("question").fill("abstain")
    inside("question").press("Enter")
    inside("ask-person").click()
    inside("send-to-office").click()
    expect(inside("case")).to_be_visible()
    student("launcher").click()
    reply(student)
    expect(student("news")).to_be_visible()
    keep(student.page, "cases-dot-frame")
    student("launcher").click()
    expect(student("news")).to_have_count(0)
    student("launcher").click()
    expect(student("launcher")).to_have_accessible_name("Open the chat: Lindi")


def test_a_second_tab_and_the_list_of_conversations_show_it(student: Student) -> None:
    student.enters()
    leave(student)
    tab = Student(student.context, student.stage).opens()
    expect(tab("case")).to_have_count(1)
    reply(student)
    for each in (student, tab):
        expect(each("case").locator('[data-by="office"]')).to_have_count(1)
    tab("case-withdraw").click()
    tab("confirm").click()
    for each in (student, tab):
        expect(each("case")).to_have_count(0)
    tab.page.close()
    leave(student, "And my cat?")
    student("new-conversation").click()
    expect(student("case")).to_have_count(0)
    reply(student)
    expect(student("composer-hint")).to_contain_text("There is a reply in another of your conversations")
    student("show-conversations").click()
    student("open-conversation").first.click()
    expect(student("case")).to_contain_text("And my cat?")
    student("show-conversations").click()
    student("delete").first.click()
    expect(student("confirmation")).to_contain_text("Questions in it that you left with offices are deleted too")


def test_it_goes_on_in_another_language_and_without_websockets(student: Student) -> None:
    student.enters("transport=sse")
    leave(student)
    student("case-field").fill("Ein Nachtrag")
    student.page.evaluate("MarcelChat('setLocale', 'de')")
    expect(student("case-title")).to_contain_text("Ihre Frage an")
    expect(student("case-field")).to_have_value("Ein Nachtrag")
    reply(student)
    expect(student("case-state")).to_have_text("Die Stelle hat geantwortet.")

"""A visitor and the widget in Chromium, on a page of another origin with a strict policy and rude styles."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chat.data_sets import FOLDER, skipped_without_data
from tests.e2e.conftest import keep, violations
from tests.widget.conftest import Stage, Student

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

WIDE: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
#: What a window of 1440 by 900 is at 200 and at 400 %.
ZOOMED: list[dict[str, Any]] = [
    {"viewport": {"width": 720, "height": 450}},
    {"viewport": {"width": 360, "height": 225}},
]
LOOKS = [
    {**WIDE, "color_scheme": "light", "locale": "en-GB"},
    {**WIDE, "color_scheme": "dark", "locale": "de-DE"},
    {**PHONE, "color_scheme": "light", "locale": "de-DE"},
    {**PHONE, "color_scheme": "dark", "locale": "en-GB"},
]
NAMES = ["wide-light-en", "wide-dark-de", "phone-light-de", "phone-dark-en"]
looks = pytest.mark.parametrize("options", LOOKS, ids=NAMES)
on_a_phone = pytest.mark.parametrize("options", [PHONE])
TOKEN = "JSON.parse(localStorage['marcelcms.demo.session']).token"
FEE = "How much is the semester contribution?"
HELP_TITLES = {
    "en": {"crisis": "You are not alone", "emergency": "Call for help now", "assault": "You can get help"},
    "de": {"crisis": "Sie sind nicht allein", "emergency": "Rufen Sie jetzt Hilfe", "assault": "Es gibt Hilfe für Sie"},
}
HELP_CALLS = ["tel:112", "tel:08001110111", "tel:116123", "tel:+4964212822222"]


def test_nothing_is_stored_or_asked_for_before_the_visitor_agrees(student: Student) -> None:
    requests: list[str] = []
    student.page.on("request", lambda request: requests.append(request.url))
    student.opens()
    expect(student("consent")).to_contain_text("artificial intelligence")
    expect(student("consent")).to_contain_text("90 days")
    expect(student("question")).to_be_hidden()
    assert student.stored() == 0
    assert student.context.cookies() == []
    asked = [url for url in requests if "/api/" in url or url.startswith("ws")]
    assert [url.split("/api/v1/")[1] for url in asked] == ["assistant?site=demo"]
    ours = (student.stage.service, student.stage.page)
    assert all(url.startswith(ours) for url in requests)


@looks
def test_every_screen_can_be_used_by_everybody(student: Student, options: dict[str, Any], request: Any) -> None:
    name = request.node.callspec.id
    language = options["locale"][:2]
    width = options["viewport"]["width"]

    def looked_at(screen: str) -> None:
        keep(student.page, f"widget-{name}-{screen}")
        assert violations(student.page) == [], screen
        assert student.page.evaluate("document.documentElement.scrollWidth") <= width, screen

    student.goes_to(f"page={language}")
    expect(student("launcher")).to_be_visible()
    looked_at("launcher")
    student("launcher").click()
    expect(student("panel")).to_have_attribute("lang", language)
    looked_at("consent")
    student("consent-agree").click()
    looked_at("welcome")
    answer = student.asks(FEE)
    expect(answer.locator('[data-test="source"]')).to_have_count(2)
    answer.locator('[data-test="source-chip"]').first.click()
    looked_at("answer")
    answer.locator('[data-test="thumbs-down"]').click()
    student("reason-other").check()
    looked_at("feedback")
    student("close-feedback").click()
    student.asks("abstain", "abstained")
    looked_at("abstention")
    student.asks("table")
    looked_at("rating")
    student.asks("clarify", "clarifying")
    looked_at("choices")
    student.asks("fail", "failed")
    looked_at("failure")
    student("show-conversations").click()
    expect(student("conversation")).to_have_count(1)
    looked_at("conversations")
    student("delete").click()
    looked_at("confirmation")
    student("settings").click()
    looked_at("settings")


def test_an_answer_streams_with_numbers_that_lead_to_their_quotes(student: Student) -> None:
    student.enters()
    answer = student.asks(FEE)
    expect(answer).to_contain_text("318.40 euros")
    expect(answer.locator("strong").first).to_have_text("318.40 euros")
    number = answer.locator('[data-test="citation"]').first
    card = answer.locator('[data-test="source"]').first
    expect(card).to_contain_text("It is due with the re-registration.")
    number.hover()
    expect(card).to_have_class(re.compile("source--lit"))
    student("question").hover()
    expect(card).not_to_have_class(re.compile("source--lit"))
    number.focus()
    expect(card).to_have_class(re.compile("source--lit"))
    number.press("Enter")
    expect(card.locator('[data-test="passage"]')).to_be_focused()
    pdf = answer.locator('[data-test="source-link"]').nth(1)
    expect(pdf).to_have_attribute("href", re.compile(r"fees\.pdf#page=4$"))


def test_an_answer_is_stopped_and_keeps_what_was_said(student: Student) -> None:
    student.enters()
    answer = student.asks("please hold", None)
    expect(answer).to_contain_text("The semester contribution is")
    student("stop").click()
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(answer).to_contain_text("The semester contribution is")
    expect(student("send")).to_be_visible()
    answer.locator('[data-test="answer-again"]').click()
    expect(student("question-text")).to_have_count(2)
    expect(answer).to_contain_text("The semester contribution is")
    expect(student.answers.nth(1)).to_contain_text("The semester contribution is")
    student("stop").click()


def test_reading_is_not_disturbed_by_new_text(student: Student) -> None:
    student.enters()
    student.asks("long")
    student.asks("please hold", None)
    student("stop").click()
    expect(student("send")).to_be_visible()
    student("question").fill("long again")
    student("question").press("Enter")
    expect(student.answers.nth(2)).to_contain_text("Paragraph 2")
    student("scroll").hover()
    student.page.mouse.wheel(0, -900)
    expect(student("jump")).to_contain_text("New text below")
    student.page.wait_for_timeout(500)  # the wheel's own movement
    top = student("scroll").evaluate("box => box.scrollTop")
    expect(student.answers.nth(2)).to_contain_text("Paragraph 5")
    assert student("scroll").evaluate("box => box.scrollTop") == top
    student("jump").click()
    expect(student("jump")).to_be_hidden()


def test_what_the_service_cannot_answer_is_handed_on(student: Student) -> None:
    student.enters()
    answer = student.asks("Who won the world cup?", "abstained")
    expect(answer.locator('[data-test="contact"]')).to_contain_text("Student Service Centre")
    answer.locator('[data-test="related-question"]').first.click()
    expect(student.page.locator('[data-test="question-text"]').last).to_have_text("How do I get a sports course?")


@looks
@pytest.mark.parametrize("kind", ["crisis", "emergency", "assault"])
def test_who_is_in_need_gets_a_card_instead_of_an_answer(
    student: Student, options: dict[str, Any], kind: str, request: Any
) -> None:
    language = options["locale"][:2]
    student.enters(f"page={language}")
    answer = student.asks(f"HELP:{kind}:{language}")
    expect(answer.locator("h4")).to_have_text(HELP_TITLES[language][kind])
    calls = answer.locator('[data-test="help-call"]')
    assert calls.evaluate_all("all => all.map(e => e.getAttribute('href'))") == HELP_CALLS
    assert calls.evaluate_all("all => Math.min(...all.map(e => e.getBoundingClientRect().height))") >= 44
    assert (
        answer.locator(".help__number").evaluate_all(
            "all => all.map(e => { const r = document.createRange(); r.selectNodeContents(e);"
            " return r.getClientRects().length })"
        )
        == [1] * 5
    ), "a number is broken"
    links = answer.locator('[data-test="help-link"], [data-test="help-mail"]')
    assert links.evaluate_all("all => all.map(e => [e.getAttribute('href'), e.target])") == [
        ["https://www.telefonseelsorge.de/", "_blank"],
        ["https://www.uni-lindental.example/counselling", "_blank"],
        ["mailto:psychologische.beratung@uni-lindental.example", ""],
        ["https://www.uni-lindental.example/equal", "_blank"],
    ]
    inside = answer.bounding_box()
    assert inside is not None
    assert answer.locator("*:visible").evaluate_all(
        "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
    ) <= (inside["x"] + inside["width"] + 0.5), "something is cut off"
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    for absent in ("thumbs-up", "thumbs-down", "copy", "abstained", "source", "quoting-notice"):
        expect(answer.locator(f'[data-test="{absent}"]')).to_have_count(0)
    expect(student("question")).to_be_focused()
    keep(student.page, f"widget-help-{request.node.callspec.id}")
    assert violations(student.page) == []
    expect(answer.locator("h4")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("options", [{**PHONE, "forced_colors": "active"}])
def test_the_card_can_be_used_in_forced_colours(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    student.asks("HELP:emergency")
    keep(student.page, "widget-help-forced-colours")
    assert violations(student.page) == []


@pytest.mark.parametrize("options", ZOOMED, ids=["200", "400"])
def test_the_card_can_be_used_at_200_and_400_percent(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    answer = student.asks("HELP:crisis")
    for call in answer.locator('[data-test="help-call"]').all():
        call.focus()
        expect(call).to_be_in_viewport()
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    keep(student.page, f"widget-help-zoomed-{options['viewport']['width']}")


def test_a_screen_reader_hears_the_whole_card_at_once(student: Student) -> None:
    student.enters()
    student.asks("HELP:crisis")
    heard = [line for line in student("live").locator("p").all_inner_texts() if "You are not alone." in line]
    assert len(heard) == 1
    assert "call 112 now" in heard[0]
    assert "TelefonSeelsorge (free, day and night, anonymous): 0800 111 0 111" in heard[0]


def test_a_number_on_the_card_can_be_selected(student: Student) -> None:
    student.enters()
    box = student.asks("HELP:crisis").locator(".help__number").nth(1).bounding_box()
    assert box is not None
    mouse, middle = student.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + 1, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] - 1, middle, steps=5)
    mouse.up()
    assert student.page.evaluate("getSelection().toString()").strip() == "0800 111 0 111"


@pytest.mark.parametrize("way", ["socket", "sse"])
def test_what_was_no_cry_for_help_is_answered_after_all(student: Student, way: str) -> None:
    asked: list[dict[str, Any]] = []

    def note(body: Any) -> None:
        frame = json.loads(body)
        if frame.get("type") == "ask" or way == "sse":
            asked.append({name: value for name, value in frame.items() if name not in ("type", "conversation")})

    student.page.on("websocket", lambda socket: socket.on("framesent", note))
    student.page.on("request", lambda sent: note(sent.post_data) if sent.url.endswith("/ask") else None)
    student.enters("transport=sse" if way == "sse" else "")
    card = student.asks("HELP:crisis")
    card.locator('[data-test="ask-anyway"]').click()
    answer = student.answers.nth(1)
    expect(answer).to_have_attribute("data-status", "complete")
    expect(answer).to_contain_text("318.40 euros")
    expect(answer.locator('[data-test="thumbs-up"]')).to_be_visible()
    assert student("question-text").all_inner_texts() == ["HELP:crisis", "HELP:crisis"]
    expect(student("question")).to_be_focused()
    expect(card.locator('[data-test="help-call"]')).to_have_count(4)
    expect(student("ask-anyway")).to_have_count(0)
    student.asks(FEE)
    assert [(frame.get("text"), frame.get("as_question")) for frame in asked] == [
        ("HELP:crisis", None),
        ("HELP:crisis", True),
        (FEE, None),
    ]
    assert {frozenset(frame) - {"as_question"} for frame in asked} == {frozenset({"client_id", "text"})}
    assert len({frame["client_id"] for frame in asked}) == 3


def test_the_card_is_the_same_after_a_reload_in_another_tab_and_without_websockets(student: Student) -> None:
    student.enters()
    card = student.asks("HELP:assault")
    expect(card.locator('[data-test="ask-anyway"]')).to_be_visible()
    student.page.mouse.move(0, 0)
    shown = card.evaluate("e => e.innerHTML")
    other = Student(student.context, student.stage).opens()
    expect(other.answers.locator('[data-test="help-call"]')).to_have_count(4)
    assert other.answers.evaluate("e => e.innerHTML") == shown
    student.opens("transport=sse")
    expect(student.answers.locator('[data-test="help-call"]')).to_have_count(4)
    assert student.answers.evaluate("e => e.innerHTML") == shown
    student.asks("HELP:emergency")
    expect(other.answers.nth(1).locator('[data-test="help-call"]')).to_have_count(4)


def test_a_conversation_with_a_card_is_never_rated(student: Student) -> None:
    student.enters()
    for _ in range(3):
        student.asks("table")
    student("star-4").click()
    expect(student("rating-thanks")).to_be_visible()
    student.asks("HELP:crisis")
    expect(student("rating")).to_be_hidden()
    student("new-conversation").click()
    student.asks("HELP:crisis")
    for _ in range(3):
        student.asks("table")
    expect(student("rating")).to_be_hidden()
    student.opens()
    expect(student.answers).to_have_count(4)
    expect(student("rating")).to_be_hidden()


def test_a_choice_answers_what_the_service_asks_back(student: Student) -> None:
    student.enters()
    student.asks("clarify", "clarifying")
    student("choice").nth(1).click()
    expect(student.page.locator('[data-test="question-text"]').last).to_have_text("Master")
    expect(student("choice")).to_have_count(0)
    expect(student("question")).to_be_focused()


def test_the_place_in_the_queue_is_shown(student: Student) -> None:
    student.enters()
    student.asks("queue", None)
    expect(student("queued")).to_contain_text("queue: 3")
    expect(student("queued")).to_contain_text("queue: 1")
    expect(student.answers).to_have_attribute("data-status", "complete")


def test_a_failed_answer_is_tried_again_and_a_question_is_changed(student: Student) -> None:
    student.enters()
    failed = student.asks("fail", "failed")
    expect(failed).to_contain_text("Something went wrong on our side")
    failed.locator('[data-test="retry"]').click()
    expect(student.page.locator('[data-test="question-text"]')).to_have_count(2)
    expect(student.answers.nth(1)).to_have_attribute("data-status", "failed")
    student("edit").last.click()
    expect(student("question")).to_have_value("fail")
    expect(student("question")).to_be_focused()


def test_a_question_without_words_is_not_offered_to_be_sent_again(student: Student) -> None:
    student.enters()
    student("question").fill("???")
    student("send").click()
    expect(student("message-error")).to_contain_text("No words")
    expect(student("retry")).to_have_count(0)
    student.asks(FEE)
    student.stage.tell("drop")
    expect(student("status")).to_be_hidden()
    student.asks("table")
    assert student("question-text").all_inner_texts() == ["???", FEE, "table"]


def test_editing_a_question_loses_nothing_that_was_typed(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    student("question").fill("A longer question, half typed")
    student("edit").click()
    expect(student("question")).to_have_value(FEE)
    expect(student("composer-hint")).to_contain_text("comes back")
    student("question").fill("table")
    student.opens()
    student.answers.wait_for()
    expect(student("question")).to_have_value("table")
    student("send").click()
    expect(student("question")).to_have_value("A longer question, half typed")
    expect(student.answers).to_have_count(2)


def test_an_answer_is_copied_with_its_sources(student: Student) -> None:
    student.context.grant_permissions(["clipboard-read", "clipboard-write"])
    student.enters()
    student.asks(FEE).locator('[data-test="copy"]').click()
    expect(student("live")).to_contain_text("Copied.")
    copied = student.page.evaluate("navigator.clipboard.readText()")
    assert "The semester contribution is 318.40 euros [1]." in copied
    assert "[2] Fee regulations 2026 (PDF) – https://www.uni-lindental.example/files/fees.pdf#page=4" in copied


def test_feedback_has_reasons_and_survives_a_reload(student: Student) -> None:
    student.enters()
    answer = student.asks(FEE)
    answer.locator('[data-test="thumbs-down"]').click()
    expect(student("reason-wrong")).to_be_focused()
    student("reason-outdated").check()
    student("reason-other").check()
    student("feedback-comment").fill("The amount changed.")
    student("send-feedback").click()
    expect(answer.locator('[data-test="thumbs-down"]')).to_be_focused()
    student.opens()
    expect(student.answers.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "true")


def test_feedback_that_cannot_be_sent_stays_as_it_was_entered(student: Student) -> None:
    student.enters()
    answer = student.asks(FEE)
    answer.locator('[data-test="thumbs-down"]').click()
    student("reason-other").check()
    student("feedback-comment").fill("The amount changed.")
    student.context.set_offline(True)
    expect(student("status")).to_contain_text("offline")
    student("send-feedback").click()
    expect(student("composer-hint")).to_contain_text("Your feedback was not sent")
    expect(student("feedback-comment")).to_have_value("The amount changed.")
    student("question").fill("x")
    answer.locator('[data-test="thumbs-up"]').click()
    expect(student("composer-hint")).to_contain_text("Your feedback was not sent")
    expect(answer.locator('[data-test="thumbs-down"]')).to_have_attribute("aria-pressed", "true")
    student.context.set_offline(False)
    expect(student("status")).to_be_hidden(timeout=20_000)
    expect(student("composer-hint")).to_be_empty()
    student("send-feedback").click()
    expect(student("feedback-form")).to_be_hidden()


def test_feedback_being_given_goes_on_in_another_language(student: Student) -> None:
    student.enters()
    student.asks(FEE).locator('[data-test="thumbs-down"]').click()
    student("reason-other").check()
    student("feedback-comment").fill("The amount changed.")
    student.page.evaluate("MarcelChat('setLocale', 'de')")
    expect(student("send-feedback")).to_have_text("Rückmeldung senden")
    expect(student("reason-other")).to_be_checked()
    expect(student("feedback-comment")).to_have_value("The amount changed.")


def test_a_conversation_is_rated_once_and_that_survives_a_reload(student: Student) -> None:
    student.enters()
    for _ in range(3):
        expect(student("rating")).to_be_hidden()
        student.asks("table")
    expect(student("rating")).to_be_visible()
    student.opens()
    expect(student("rating")).to_be_visible()
    student("star-4").click()
    expect(student("rating-thanks")).to_contain_text("4 of 5")
    student.opens()
    expect(student.answers).to_have_count(3)
    expect(student("rating")).to_be_hidden()


def test_a_broken_line_loses_and_doubles_no_word(student: Student) -> None:
    student.enters()
    answer = student.asks("long", None)
    for _ in range(3):
        student.page.wait_for_timeout(400)
        student.stage.tell("drop")
    expect(answer).to_have_attribute("data-status", "complete", timeout=30_000)
    said = answer.locator('[data-test="answer-text"]').inner_text()
    assert re.findall(r"Paragraph (\d+)", said) == [str(n) for n in range(1, 15)]


@pytest.mark.parametrize("way", ["asked for", "websockets fail"])
def test_everything_works_where_websockets_do_not(student: Student, way: str) -> None:
    if way == "asked for":
        student.enters("transport=sse")
    else:
        student.stage.tell("websockets?on=0")
        student.enters()
    try:
        expect(student("send")).to_be_enabled(timeout=15_000)
        answer = student.asks(FEE)
        expect(answer).to_contain_text("318.40")
        answer.locator('[data-test="thumbs-up"]').click()
        answer = student.asks("please hold", None)
        expect(answer).to_contain_text("contribution")
        student("stop").click()
        expect(answer).to_have_attribute("data-status", "stopped")
        student.opens("transport=sse")
        expect(student.answers).to_have_count(2)
        expect(student.answers.first.locator('[data-test="thumbs-up"]')).to_have_attribute("aria-pressed", "true")
    finally:
        student.stage.tell("websockets?on=1")


def test_two_tabs_show_the_same_conversation_live(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    other = Student(student.context, student.stage).opens()
    expect(other.answers).to_contain_text(["318.40"])
    student.asks("table")
    expect(other.answers).to_have_count(2)
    expect(other.answers.nth(1)).to_have_attribute("data-status", "complete")


def test_typed_text_is_kept_through_a_reload_and_a_broken_line(student: Student) -> None:
    student.enters()
    student("question").fill("Half a quest")
    student.opens()
    expect(student("question")).to_have_value("Half a quest")
    student.context.set_offline(True)
    expect(student("status")).to_contain_text("offline")
    student("question").press("Enter")
    expect(student("question")).to_have_value("Half a quest")
    expect(student("composer-hint")).to_contain_text("no connection")
    student.context.set_offline(False)
    expect(student("status")).to_be_hidden(timeout=20_000)


def test_a_question_is_sent_when_the_line_that_is_being_made_is_there(student: Student) -> None:
    student.stage.tell("holding?on=1")
    try:
        student.enters()
        student("question").fill(FEE)
        student("question").press("Enter")
        expect(student.page.locator('[data-test="message"][data-role="user"]')).to_contain_text(FEE)
        expect(student("composer-hint")).to_be_empty()
        expect(student("question")).to_have_value("")
    finally:
        student.stage.tell("holding?on=0")
    student.page.locator('[data-role="assistant"][data-status="complete"]').wait_for()


def test_conversations_are_listed_renamed_opened_and_deleted(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    student("new-conversation").click()
    expect(student("welcome")).to_be_visible()
    student.asks("table")
    student("show-conversations").click()
    expect(student("conversation")).to_have_count(2)
    student("rename").nth(1).click()
    student("title").fill("Fees")
    student("save-title").click()
    expect(student("open-conversation").nth(1)).to_contain_text("Fees")
    expect(student("rename").nth(1)).to_be_focused()
    student("open-conversation").nth(1).click()
    expect(student.answers).to_contain_text(["318.40"])
    student("show-conversations").click()
    student("delete").nth(1).click()
    expect(student("cancel")).to_be_focused()
    student("confirm").click()
    expect(student("conversation")).to_have_count(1)
    student("pane-conversations").locator('[data-test="back"]').click()
    expect(student("welcome")).to_be_visible()


def test_a_list_without_conversations_says_so(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    student("show-conversations").click()
    student("delete").click()
    student("confirm").click()
    expect(student("pane-conversations")).to_contain_text("There is no conversation yet.")
    expect(student("list-new")).to_be_focused()


def test_my_data_is_downloaded_and_erased(student: Student, tmp_path: Path) -> None:
    student.enters()
    student.asks(FEE)
    student("settings").click()
    with student.page.expect_download() as download:
        student("download").click()
    download.value.save_as(tmp_path / "my-data.json")
    assert FEE in (tmp_path / "my-data.json").read_text()
    student("erase").click()
    student("confirm").click()
    expect(student("consent")).to_be_visible()
    assert student.stored() == 0


def test_what_one_tab_erases_is_gone_from_the_other(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    other = Student(student.context, student.stage).opens()
    expect(other.answers).to_have_count(1)
    student("settings").click()
    student("erase").click()
    student("confirm").click()
    expect(other("consent")).to_be_visible()
    expect(other("message")).to_have_count(0)
    assert other.stored() == 0
    student("consent-agree").click()
    expect(student("question")).to_be_visible()
    first = student.page.evaluate(TOKEN)
    other("consent-agree").click()
    expect(other("question")).to_be_visible()
    assert other.page.evaluate(TOKEN) == first


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": 720, "height": 450}}, {"viewport": {"width": 360, "height": 225}}]
)
def test_it_can_be_used_at_200_and_400_percent(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    answer = student.asks(FEE)
    for part in ("close", "question", "send", "settings"):
        expect(student(part)).to_be_in_viewport(ratio=1)
    answer.locator('[data-test="source-chip"]').first.click()
    source = answer.locator('[data-test="source-link"]').first
    source.focus()
    expect(source).to_be_in_viewport()
    assert student.page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    keep(student.page, f"widget-zoomed-{options['viewport']['width']}")
    assert violations(student.page) == []


@pytest.mark.parametrize("options", [{"viewport": {"width": 320, "height": 256}}])
@pytest.mark.parametrize("question", [FEE, "abstain", "table"])
def test_the_answer_is_in_sight_at_400_percent(student: Student, options: dict[str, Any], question: str) -> None:
    student.enters()
    for number in range(2):
        answer = student.asks(question, None)
        expect(answer).to_have_attribute("data-status", re.compile("complete|abstained"))
        student.page.wait_for_timeout(300)
        seen = answer.evaluate(
            "(e, box) => Math.min(e.getBoundingClientRect().bottom, box.getBoundingClientRect().bottom)"
            " - Math.max(e.getBoundingClientRect().top, box.getBoundingClientRect().top)",
            student("scroll").element_handle(),
        )
        assert seen > 30, number
    keep(student.page, f"widget-400-percent-{question.split()[0]}")


def test_the_keyboard_alone_is_enough(student: Student) -> None:
    student.goes_to()
    expect(student("launcher")).to_be_visible()
    keys = student.page.keyboard
    keys.press("Tab")
    keys.press("Tab")
    expect(student("launcher")).to_be_focused()
    keys.press("Enter")
    for _ in range(3):
        keys.press("Tab")
    expect(student("consent-agree")).to_be_focused()
    keys.press("Enter")
    expect(student("question")).to_be_focused()
    keys.type(FEE)
    keys.press("Enter")
    expect(student.answers).to_have_attribute("data-status", "complete")
    student("settings").focus()
    keys.press("Enter")
    keys.press("Escape")
    expect(student("settings")).to_be_focused()
    expect(student("panel")).to_be_visible()
    keys.press("Escape")
    expect(student("panel")).to_be_hidden()
    expect(student("launcher")).to_be_focused()


@pytest.mark.parametrize("options", [WIDE, PHONE])
def test_the_keyboard_goes_on_in_a_conversation_opened_from_the_list(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    student.asks(FEE)
    keys = student.page.keyboard
    student("show-conversations").focus()
    keys.press("Enter")
    student("open-conversation").focus()
    keys.press("Enter")
    expect(student("pane-conversations")).to_be_hidden()
    assert student.page.evaluate("document.activeElement.tagName") == "MARCEL-CHAT"
    keys.press("Escape")
    expect(student("launcher")).to_be_focused()


def test_escape_closes_a_pane_where_the_chat_stands_in_the_page(student: Student) -> None:
    student.enters("mode=inline")
    student("settings").click()
    student.page.keyboard.press("Escape")
    expect(student("pane-settings")).to_be_hidden()
    expect(student("settings")).to_be_focused()
    student.page.evaluate("addEventListener('keydown', event => window.heard = event.key)")
    student.page.keyboard.press("Escape")
    assert student.page.evaluate("window.heard") == "Escape"


@on_a_phone
def test_on_a_phone_the_focus_stays_in_the_window(student: Student, options: dict[str, Any]) -> None:
    student.enters()
    expect(student("panel")).to_have_attribute("aria-modal", "true")
    box = student("panel").bounding_box()
    assert box == {"x": 0, "y": 0, "width": 360, "height": 740}
    for _ in range(25):
        student.page.keyboard.press("Tab")
        assert student.page.evaluate("document.activeElement.tagName") == "MARCEL-CHAT"


def test_a_screen_reader_hears_sentences(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    heard = student("live").locator("p").all_inner_texts()
    assert "The semester contribution is 318.40 euros." in heard
    assert any("2 sources" in line for line in heard)
    assert not any(line in {"The", "The semester"} for line in heard)


def test_the_language_is_chosen_by_the_visitor_and_kept(student: Student) -> None:
    student.enters()
    student.asks(FEE)
    student("settings").click()
    student("language-de").check()
    expect(student("language-de")).to_be_focused()
    expect(student("pane-settings")).to_contain_text("Ihre Daten")
    student("pane-settings").locator('[data-test="back"]').click()
    expect(student.answers).to_contain_text(["318.40"])
    student.opens()
    expect(student("panel")).to_have_attribute("lang", "de")


def test_a_page_that_allows_no_trusted_types_has_the_widget_itself(student: Student) -> None:
    student.enters("mode=small")
    answer = student.asks("table")
    expect(answer.locator(".answer-table td")).to_have_count(4)
    answer = student.asks("Is there a locker?")
    expect(answer.locator('[data-test="office-link"]')).to_have_count(1)
    expect(student.page.locator("iframe")).to_have_count(0)


def test_a_frame_does_it_where_it_is_wanted(browser: Browser, stage: Stage) -> None:
    context = browser.new_context(**WIDE)
    page = context.new_page()
    page.goto(f"{stage.page}?mode=frame")
    page.locator('[data-test="launcher"]').click()
    inside = page.frame_locator("iframe")
    inside.locator('[data-test="consent-agree"]').click()
    inside.locator('[data-test="question"]').fill(FEE)
    inside.locator('[data-test="question"]').press("Enter")
    expect(inside.locator('[data-role="assistant"]')).to_have_attribute("data-status", "complete")
    page.evaluate("MarcelChat('setLocale', 'de')")
    expect(inside.locator('[data-test="panel"]')).to_have_attribute("lang", "de")
    keep(page, "widget-frame")
    context.close()


def test_the_page_commands_the_widget_also_before_it_is_there(student: Student) -> None:
    student.page.add_init_script(
        "window.heard=[];for(const n of ['ready','open','close'])addEventListener('marcelchat:'+n,()=>heard.push(n));"
        "window.MarcelChat=window.MarcelChat||function(){(MarcelChat.q=MarcelChat.q||[]).push(arguments)};"
        "MarcelChat('open');MarcelChat('setLocale','de')"
    )
    student.goes_to()
    expect(student("panel")).to_be_visible()
    expect(student("panel")).to_have_attribute("lang", "de")
    student.page.evaluate("MarcelChat('theme','dark')")
    expect(student.page.locator(".root")).to_have_attribute("data-scheme", "dark")
    student.page.evaluate("MarcelChat('close')")
    expect(student("panel")).to_be_hidden()
    assert student.page.evaluate("heard.slice().sort()") == ["close", "open", "ready"]


def test_a_frame_hears_what_the_page_said_before_it_was_there(student: Student) -> None:
    student.page.add_init_script(
        "window.MarcelChat=window.MarcelChat||function(){(MarcelChat.q=MarcelChat.q||[]).push(arguments)};"
        "MarcelChat('setLocale','de');MarcelChat('theme','dark');MarcelChat('open')"
    )
    student.goes_to("mode=frame")
    inside = student.page.frame_locator("iframe")
    expect(inside.locator('[data-test="panel"]')).to_have_attribute("lang", "de")
    expect(inside.locator(".root")).to_have_attribute("data-scheme", "dark")
    expect(student("launcher")).to_have_attribute("aria-label", "Chat schließen")
    assert [text for text in student.problems if "postMessage" in text] == []


@pytest.mark.parametrize("mode", ["launcher", "frame", "inline"])
def test_a_second_tag_is_ignored(student: Student, mode: str) -> None:
    warned: list[str] = []
    student.page.on("console", lambda message: warned.append(message.text) if message.type == "warning" else None)
    student.page.add_init_script(
        "if(window===parent)addEventListener('DOMContentLoaded',()=>{"
        "const one=document.querySelector('script'),more=document.createElement('script');"
        "Object.assign(more.dataset,one.dataset);more.src=one.src;document.body.append(more)})"
    )
    student.goes_to(f"mode={mode}")
    student.page.locator("marcel-chat, iframe").first.wait_for(state="attached")
    student.page.wait_for_timeout(500)
    expect(student.page.locator("marcel-chat, body > [data-test='launcher']")).to_have_count(1)
    assert any("one chat" in text for text in warned)


def test_the_page_gives_its_own_colours_and_they_can_be_read(student: Student) -> None:
    student.page.add_init_script(
        "addEventListener('DOMContentLoaded',()=>{const s=new CSSStyleSheet();"
        "s.replaceSync('marcel-chat{--marcel-accent:gold;--marcel-accent-text:white;--marcel-position:left;--marcel-radius:2px}');"
        "document.adoptedStyleSheets=[s]})"
    )
    student.enters()
    student.asks(FEE)
    colours = student("launcher").evaluate(
        "b => [getComputedStyle(b).backgroundColor, getComputedStyle(b).color, getComputedStyle(b).left]"
    )
    assert colours == ["rgb(255, 215, 0)", "rgb(13, 20, 30)", "20px"]
    assert violations(student.page) == []
    keep(student.page, "widget-gold")


def test_a_site_that_is_refused_says_why(student: Student) -> None:
    student.stage.tell("refusing?on=1")
    try:
        student.opens()
        student("consent-agree").click()
        expect(student("consent-error")).to_contain_text("not allowed to use the assistant")
        assert student.stored() == 0
    finally:
        student.stage.tell("refusing?on=0")


def test_a_long_conversation_stays_fast(student: Student) -> None:
    student.enters()
    token, conversation = student.page.evaluate(f"[{TOKEN}, localStorage['marcelcms.demo.conversation']]")
    student.stage.tell(f"fill?visitor={token}&conversation={conversation}&count=500")
    student.opens()
    expect(student.page.locator('[data-test="message"]')).to_have_count(500, timeout=30_000)
    student.page.evaluate(
        "new PerformanceObserver(l=>{for(const e of l.getEntries())(window.long=window.long||[]).push(e.duration)})"
        ".observe({type:'longtask'})"
    )
    answer = student.asks(FEE)
    assert max(student.page.evaluate("window.long || [0]")) < 150
    expect(answer).to_be_in_viewport()
    expect(answer.locator('[data-test="sources"]')).to_be_in_viewport()


@skipped_without_data
def test_no_payload_runs_as_question_or_answer(student: Student) -> None:
    folder = FOLDER / "security"
    payloads = (folder / "xss-payloads.txt").read_text().splitlines()
    payloads += [case["payload"] for case in json.loads((folder / "xss-dompurify.json").read_text())]
    student.page.add_init_script("window.alert=window.confirm=window.prompt=()=>{window.hacked=true}")
    student.page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    student.enters()
    texts, batch = [], "say "
    for payload in [text for text in payloads if 0 < len(text) < 1900]:
        if len(batch) + len(payload) > 1990:
            texts.append(batch)
            batch = "say "
        batch += f"{payload}\n\n"
    for number, text in enumerate([*texts, batch]):
        student("question").fill(text)
        student("send").click()
        expect(student.answers).to_have_count(number + 1)
        expect(student.answers.nth(number)).to_have_attribute("data-status", "complete", timeout=30_000)
    allowed = (
        "p,br,strong,em,del,code,pre,sup,ul,ol,li,blockquote,table,thead,tbody,tr,th,td,a.citation,a.tap,.answer-table"
    )
    said = student.page.locator(f":is(.answer-text, .question-text) :not({allowed})")
    assert said.evaluate_all("all => all.map(e => e.outerHTML)") == []
    assert student.page.evaluate("window.hacked") is None
    assert student.page.url.startswith(student.stage.page)


def test_the_page_around_is_left_as_it_was(student: Student) -> None:
    def looks(page: Page) -> Any:
        box = "JSON.stringify(e.getBoundingClientRect()) + getComputedStyle(e).color"
        return page.evaluate(f"[...document.querySelectorAll('h1,p,a,body')].map(e => {box})")

    student.goes_to()
    expect(student("launcher")).to_be_visible()
    before = looks(student.page)
    student("launcher").click()
    student("consent-agree").click()
    student.asks(FEE)
    assert looks(student.page) == before
    assert student.page.evaluate("document.head.querySelectorAll('style').length") == 0


def test_quotes_of_a_page_are_marked_with_its_language(student: Student) -> None:
    student.enters()
    answer = student.asks("How much is childcare?")
    text = answer.locator('[data-test="answer-text"]')
    expect(text.locator('[lang="de"]')).to_have_count(4)
    expect(text.locator('p[lang="de"]').first).to_contain_text("Ein Platz kostet")
    expect(text.locator('ul[lang="de"]')).to_contain_text("Montag")
    # What names a table is the page's too; what names its frame and a number's link is the chat's.
    expect(text.locator('p[lang="de"]').nth(1)).to_contain_text("Öffnungszeiten")
    expect(text.locator('p[lang="de"] sup').first).to_have_attribute("lang", "en")
    expect(text.locator('table[lang="de"]')).to_contain_text("8 Uhr")
    expect(answer.locator('[data-test="source-quote"]')).to_have_attribute("lang", "de")
    assert violations(student.page) == []
    student.asks("What are the fees?")
    assert violations(student.page) == []

"""How the widget shows what it says, in Firefox: a page of another origin with a strict policy and rude styles."""

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.widget.conftest import Stage
from tests.widget.test_firefox import DONE, asks, enters, named, questions
from tests.widget.test_in_browser import HELP_CALLS, HELP_TITLES
from tests.widget.test_sources_in_browser import WORDS

__all__ = ["firefox"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300), pytest.mark.parametrize("language", ["en", "de"])]
WORKING = {
    "en": ["Reading 6 pages", "Writing the answer"],
    "de": ["6 Seiten werden gelesen", "Die Antwort wird geschrieben"],
}
KINDS = ("three sources", "wide table", "long list", "Is there a locker?", "dates", "childcare", "kinderbetreuung")


def ends(firefox: Firefox, text: str, status: str) -> str:
    """Ask, and wait until the reply has that status; return what matches it."""
    reply = f'[data-role="assistant"][data-status="{status}"]'
    before = firefox.count(reply)
    firefox.types(named("question"), text)
    firefox.presses("Enter")
    firefox.waits(lambda: firefox.count(reply) > before, text)
    return reply


def test_a_page_is_a_chip_that_opens_in_place(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    asks(firefox, "three sources")
    assert firefox.count(named("source-chip")) == 2
    assert firefox.count(named("passage")) == 0
    firefox.clicks(named("source-chip"))
    words = WORDS[language]
    firefox.sees(named("passage"))
    assert firefox.count(named("passage")) == 1
    assert words["page"] in firefox.text(named("source-chip"))
    assert firefox.text(named("source-checked")) == words["checked"]
    assert firefox.text(named("source-old")) == words["old"]
    assert firefox.reads(named("source-link"), "shown.at(-1).getAttribute('href')").endswith("fees.pdf#page=4")
    firefox.clicks(named("source-chip"))
    firefox.misses(named("passage"))


def test_a_wide_table_scrolls_alone_in_a_narrow_window(firefox: Firefox, stage: Stage, language: str) -> None:
    firefox.command("WebDriver:SetWindowRect", width=480, height=800)
    enters(firefox, stage, language)
    asks(firefox, "wide table")
    assert firefox.reads(".answer-table", "shown[0].scrollWidth > shown[0].clientWidth")
    assert firefox.reads(named("scroll"), "shown[0].scrollWidth <= shown[0].clientWidth")


def test_what_is_done_is_said_and_what_was_stopped_is_kept(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    firefox.types(named("question"), "slow")
    firefox.presses("Enter")
    for said in WORKING[language]:
        firefox.sees(named("waiting"), said)
    firefox.waits(lambda: firefox.count(DONE) == 1, "answered")
    firefox.types(named("question"), "please hold")
    firefox.presses("Enter")
    begun = '[data-role="assistant"]:not([data-status="complete"])'
    firefox.sees(begun, "The semester contribution is")
    firefox.clicks(named("stop"))
    stopped = '[data-role="assistant"][data-status="stopped"]'
    firefox.sees(stopped, "The semester contribution is")
    firefox.clicks(named("answer-again"))
    firefox.waits(lambda: questions(firefox) == ["slow", "please hold", "please hold"], "asked again")
    firefox.sees(stopped, "The semester contribution is")
    firefox.clicks(named("stop"))


def test_a_choice_and_a_question_nearby_are_asked_in_one_tap(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    ends(firefox, "clarify", "clarifying")
    firefox.clicks(named("choice"))
    firefox.waits(lambda: questions(firefox)[-1] == "Master" and firefox.count(DONE) == 1, "chosen")
    ends(firefox, "abstain", "abstained")
    firefox.sees(named("contact"), "Student Service Centre")
    firefox.clicks(named("related-question"))
    firefox.waits(lambda: questions(firefox)[-1] == "When is the sports hall open?", "nearby")
    firefox.waits(lambda: firefox.count(DONE) == 2, "answered")
    asks(firefox, {"en": "childcare", "de": "kinderbetreuung"}[language])
    other = {"en": "de", "de": "en"}[language]
    assert firefox.reads(f'{DONE} .answer-text [lang="{other}"]', "shown.length") > 0
    next_question = {"en": "Where is the nursery?", "de": "Wo ist die Kita?"}[language]
    assert next_question in firefox.text(named("related-question"))


@pytest.mark.parametrize("kind", ["crisis", "emergency", "assault"])
def test_who_is_in_need_gets_a_card_instead_of_an_answer(
    firefox: Firefox, stage: Stage, language: str, kind: str
) -> None:
    enters(firefox, stage, language)
    asks(firefox, f"HELP:{kind}:{language}")
    assert firefox.text(f"{DONE} h4") == HELP_TITLES[language][kind]
    assert firefox.reads(named("help-call"), "shown.map(e => e.getAttribute('href'))") == HELP_CALLS


def test_a_date_and_the_conversation_are_kept_as_files(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    asks(firefox, "dates")
    firefox.clicks(named("date"))
    assert "BEGIN:VCALENDAR" in firefox.downloaded()
    firefox.clicks(named("settings"))
    firefox.clicks(named("keep"))
    assert "<h1>" in firefox.downloaded()
    firefox.script("window.print = () => { document.title = 'printed' }")
    firefox.clicks(named("print"))
    firefox.waits(lambda: firefox.script("return document.title") == "printed", "printed")


def test_everybody_can_use_each_kind_of_reply(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    assert firefox.violations() == []
    for question in KINDS:
        asks(firefox, question)
    firefox.clicks(named("source-chip"))
    firefox.clicks(named("thumbs-down"))
    ends(firefox, "clarify", "clarifying")
    asks(firefox, f"HELP:crisis:{language}")
    assert firefox.violations() == []
    for pane in ("settings", "show-conversations"):
        firefox.clicks(named(pane))
        firefox.sees(named("back"))
        assert firefox.violations() == []
        firefox.clicks(named("back"))
        firefox.misses(named("back"))
    ends(firefox, "abstain", "abstained")
    firefox.clicks(named("ask-person"))
    firefox.sees(named("handover-question"))
    assert firefox.violations() == []

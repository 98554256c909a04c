"""What follows an answer in the widget, in Firefox: a page of another origin with a strict policy and rude styles."""

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.widget.conftest import Stage

__all__ = ["firefox"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300), pytest.mark.parametrize("language", ["en", "de"])]
DONE = '[data-role="assistant"][data-status="complete"]'
DATES = {
    "en": ["15 Jul 2027", "Mon–Tue, 09:00–17:00"],
    "de": ["15.07.2027", "Mo–Di, 09:00–17:00 Uhr"],
}


def named(name: str) -> str:
    return f'[data-test="{name}"]'


def enters(firefox: Firefox, stage: Stage, language: str, query: str = "") -> None:
    firefox.goes_to(f"{stage.page}?page={language}{query}")
    if "inline" not in query:
        firefox.clicks(named("launcher"))
    firefox.clicks(named("consent-agree"))
    firefox.waits(lambda: bool(firefox.reads(named("send"), "shown.length && !shown[0].disabled")), "send")


def asks(firefox: Firefox, text: str) -> None:
    before = firefox.count(DONE)
    firefox.types(named("question"), text)
    firefox.presses("Enter")
    firefox.waits(lambda: firefox.count(DONE) > before, text)


def questions(firefox: Firefox) -> list[str]:
    return list(firefox.reads(named("question-text"), "shown.map(e => e.textContent)"))


def test_a_question_is_changed_and_an_answer_given_anew_in_its_place(
    firefox: Firefox, stage: Stage, language: str
) -> None:
    enters(firefox, stage, language)
    asks(firefox, "First question")
    asks(firefox, "Second")
    firefox.clicks(named("edit"))
    firefox.types(named("question"), " question")
    firefox.presses("Enter")
    wanted = ["First question", "Second question"]
    firefox.waits(lambda: questions(firefox) == wanted and firefox.count(DONE) == 2, "changed")
    ids = firefox.reads(DONE, "shown.map(e => e.dataset.id)")
    firefox.clicks(named("regenerate"))
    firefox.waits(
        lambda: firefox.count(DONE) == 2 and firefox.reads(DONE, "shown.map(e => e.dataset.id)") != ids, "anew"
    )
    assert questions(firefox) == wanted


def test_dates_and_plain_language(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    asks(firefox, "dates")
    assert firefox.reads(named("date"), "shown.map(e => e.textContent)") == DATES[language]
    firefox.clicks(named("plain"))
    firefox.sees(f"{DONE} {named('answer-text')}", "You pay 318.40 euros")
    assert firefox.reads(named("plain"), "shown[0].getAttribute('aria-pressed')") == "true"


def test_an_office_answers_and_a_contact_can_be_tapped(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language)
    asks(firefox, "Is there a locker?")
    firefox.sees(named("office"), "20 euros")
    asks(firefox, "long list")
    assert firefox.reads(named("tap"), "shown.map(e => e.getAttribute('href'))") == [
        "tel:+4964212822222",
        "mailto:studierende@uni-lindental.example",
    ]


def test_the_way_back_closes_a_pane_and_what_came_meanwhile_is_marked(
    firefox: Firefox, stage: Stage, language: str
) -> None:
    enters(firefox, stage, language)
    firefox.clicks(named("settings"))
    firefox.sees(named("pane-settings"))
    firefox.script("history.back()")
    firefox.misses(named("pane-settings"))
    firefox.types(named("question"), "slow")
    firefox.presses("Enter")
    firefox.sees(named("waiting"))
    firefox.clicks(named("close"))
    firefox.sees(named("news"))
    firefox.clicks(named("launcher"))
    firefox.waits(lambda: firefox.count(DONE) == 1, "read")


def test_conversations_stand_beside_a_wide_chat(firefox: Firefox, stage: Stage, language: str) -> None:
    enters(firefox, stage, language, "&mode=inline")
    asks(firefox, "table")
    firefox.sees(named("pane-conversations"), "table")
    assert firefox.count(named("answer-text")) == 1

"""The way of a visitor in WebKit, on a page of another origin with a strict policy and rude styles."""

import pytest

from tests.widget.conftest import Stage
from tests.widget.webkit.driver import WebKit, webkit

__all__ = ["webkit"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
ASKED = {"en": "How much is childcare?", "de": "Was kostet die Kinderbetreuung?"}
CONSENT = {"en": "You are talking to an artificial intelligence", "de": "künstlichen Intelligenz"}
ANSWERED = {"en": "A place is 230 euros a month", "de": "Ein Platz kostet 230 Euro im Monat"}
PASSAGE = {"en": "Geschwister zahlen die Hälfte.", "de": "Siblings pay half of it."}
FINISHED = '[data-role="assistant"][data-status="complete"]'


def named(name: str) -> str:
    return f'[data-test="{name}"]'


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_visitor_agrees_asks_reads_opens_a_source_and_says_what_was_wrong(
    webkit: WebKit, stage: Stage, language: str
) -> None:
    webkit.goes_to(f"{stage.page}?page={language}&lang={language}")
    webkit.clicks(named("launcher"))
    webkit.sees(named("consent"), CONSENT[language])
    assert webkit.script("return localStorage.length + sessionStorage.length") == 0
    webkit.clicks(named("consent-agree"))
    webkit.waits(lambda: bool(webkit.reads(named("send"), "shown.length && !shown[0].disabled")), "send")
    webkit.types(named("question"), ASKED[language])
    webkit.presses("Enter")
    webkit.sees(FINISHED, ANSWERED[language])
    other = {"en": "de", "de": "en"}[language]
    assert webkit.reads(f'{FINISHED} .answer-text [lang="{other}"]', "shown.length") > 0
    assert webkit.count(named("source-link")) == 0
    webkit.clicks(named("source-chip"))
    webkit.sees(named("source-quote"), PASSAGE[language])
    webkit.clicks(named("thumbs-down"))
    webkit.waits(lambda: webkit.reads(named("thumbs-down"), "shown[0].ariaPressed") == "true", "pressed")
    webkit.clicks(named("reason-outdated"))
    webkit.waits(lambda: bool(webkit.reads(named("reason-outdated"), "shown[0].checked")), "a reason")
    assert webkit.script("return document.documentElement.scrollWidth <= innerWidth")
    webkit.presses("Escape")
    webkit.misses(named("panel"))
    webkit.goes_to(f"{stage.page}?page={language}&lang={language}")
    webkit.clicks(named("launcher"))
    webkit.sees(FINISHED, ANSWERED[language])

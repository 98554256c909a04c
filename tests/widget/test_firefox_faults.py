"""What once went wrong in the widget, and what is tight on a phone, in Firefox."""

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.widget.conftest import Stage
from tests.widget.test_faults_in_browser import OFFLINE
from tests.widget.test_firefox import DONE, asks, enters, named

__all__ = ["firefox"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300), pytest.mark.parametrize("language", ["en", "de"])]
NEW_TEXT = {"en": "New text", "de": "Neuer Text"}
#: How far the first thumb stands within its message, in px; less than 0 is cut off.
ROOM = """(() => {
  const thumb = shown[0], message = thumb.closest(".message");
  return thumb.getBoundingClientRect().left - message.getBoundingClientRect().left;
})()"""

#: Whether all of it is in the window.
FITS = """shown.length > 0 && shown.every(e => {
  const { right, bottom } = e.getBoundingClientRect();
  return right <= innerWidth && bottom <= innerHeight;
})"""


def test_a_thumb_on_an_older_answer_is_whole_and_brings_nothing_new(
    firefox: Firefox, stage: Stage, language: str
) -> None:
    enters(firefox, stage, language)
    for _ in range(4):
        asks(firefox, "table")
    firefox.reads(named("thumbs-down"), "shown[0].scrollIntoView({ block: 'center' })")
    firefox.reads(named("thumbs-down"), "shown[0].click()")
    firefox.waits(lambda: firefox.reads(named("thumbs-down"), "shown[0].ariaPressed") == "true", "pressed")
    assert firefox.reads(named("thumbs-down"), ROOM) >= 0
    assert NEW_TEXT[language] not in firefox.text(named("jump"))


def test_what_was_stopped_before_its_first_word_is_not_rated_or_copied(
    firefox: Firefox, stage: Stage, language: str
) -> None:
    enters(firefox, stage, language)
    firefox.types(named("question"), "wait")
    firefox.presses("Enter")
    firefox.sees(named("waiting"))
    firefox.clicks(named("stop"))
    firefox.sees('[data-role="assistant"][data-status="stopped"]')
    for absent in ("thumbs-up", "thumbs-down", "copy", "person"):
        assert firefox.count(named(absent)) == 0


def test_a_question_sent_without_a_line_in_the_middle_of_an_answer_says_so(
    firefox: Firefox, stage: Stage, language: str
) -> None:
    enters(firefox, stage, language)
    firefox.types(named("question"), "please hold")
    firefox.presses("Enter")
    firefox.sees('[data-role="assistant"]', "The semester contribution is")
    firefox.goes_offline(True)
    stage.tell("drop")
    firefox.types(named("question"), "And the deadline?")
    firefox.presses("Enter")
    firefox.sees(named("composer-hint"), OFFLINE[language])
    firefox.goes_offline(False)
    firefox.waits(lambda: OFFLINE[language] not in firefox.text(named("composer-hint")), "connected again")
    assert firefox.reads(named("question"), "shown[0].value") == "And the deadline?"
    firefox.clicks(named("stop"))


def test_the_consent_and_an_answer_fit_a_narrow_window(firefox: Firefox, stage: Stage, language: str) -> None:
    firefox.goes_to(f"{stage.page}?page={language}")
    frame = firefox.script("return [outerWidth - innerWidth, outerHeight - innerHeight]")
    firefox.command("WebDriver:SetWindowRect", width=360 + frame[0], height=640 + frame[1])
    firefox.clicks(named("launcher"))
    for part in (".consent__title", ".consent__text", ".consent__more", named("consent-agree")):
        firefox.waits(lambda part=part: bool(firefox.reads(part, FITS)), part)
    firefox.clicks(named("consent-agree"))
    firefox.waits(lambda: bool(firefox.reads(named("send"), "shown.length && !shown[0].disabled")), "send")
    asks(firefox, "three sources")
    right = "shown.every(e => e.getBoundingClientRect().right <= innerWidth)"
    assert firefox.reads(f"{DONE} {named('source-chip')}", right)
    assert firefox.script("return document.documentElement.scrollWidth <= innerWidth")

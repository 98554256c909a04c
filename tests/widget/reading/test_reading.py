"""A whole conversation as a screen reader reads it, line by line, in Chromium and in Firefox, in English and German."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.firefox import Firefox, firefox
from tests.servers import wait_until
from tests.widget.conftest import Stage, Student
from tests.widget.reading import tree

__all__ = ["firefox"]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

#: What stands in the chat, and what the stand-in service says in the other language's quotes.
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "asked": "How much is childcare? Be slow.",
        "header": "New conversation|Your conversations|Settings and data|Close the chat",
        "consent": "You are talking to an artificial intelligence, not to a person|If you agree, your questions",
        "agree": "Agree and start",
        "waiting": "Reading 6 pages …",
        "writing": "Writing the answer and checking each sentence …",
        "stop": "Stop the answer",
        "conversation": "Conversation",
        "you": "You",
        "edit": "Edit and send again",
        "note": "This page is in German:",
        "other": "de",
        "quote": "“Ein Platz kostet 230 Euro im Monat. Geöffnet ist:”",
        "items": "Montag bis Donnerstag|Freitag bis 14 Uhr",
        "label": "Öffnungszeiten",
        "table": "Table",
        "cells": "Tag|Zeit|Montag|8 Uhr",
        "own": "A place is 230 euros a month",
        "title": "Kinderbetreuung",
        "source": "Source 1: Kinderbetreuung",
        "sources": "Sources",
        "tab": "Kinderbetreuung (opens in a new tab)",
        "passage": "Ein Platz kostet 230 Euro im Monat. Geschwister zahlen die Hälfte.",
        "plain": "Plain language",
        "tools": "This answer",
        "ratings": "Helpful|Not helpful",
        "actions": "Copy the answer|Answer anew|Ask a person",
        "why": "What was wrong with it?",
        "reasons": "It is wrong|It is out of date|Something is missing|It is not what I asked|Something else",
        "undo": "Undo|Dismiss|Ask a person|Tell me when there is an answer",
        "next": "You could also ask:",
        "lead": "Where is the nursery?",
        "people": "Talk to people:",
        "field": "Your question",
        "send": "Send question",
        "end": "Answers can be wrong. Please check the sources.",
        "log": "Announcements",
        "looking": "Looking through the university's pages …",
        "complete": "Answer complete. 1 source.",
        "thanks": "Thank you for your feedback.",
        "contact": "(opens in a new tab)",
    },
    "de": {
        "asked": "Was kostet die Kinderbetreuung? Slow.",
        "header": "Neue Unterhaltung|Ihre Unterhaltungen|Einstellungen und Daten|Chat schließen",
        "consent": "Sie sprechen mit einer künstlichen Intelligenz, nicht mit einem Menschen|Wenn Sie zustimmen",
        "agree": "Zustimmen und beginnen",
        "waiting": "6 Seiten werden gelesen …",
        "writing": "Die Antwort wird geschrieben und jeder Satz geprüft …",
        "stop": "Antwort anhalten",
        "conversation": "Unterhaltung",
        "you": "Sie",
        "edit": "Bearbeiten und erneut senden",
        "note": "Diese Seite ist auf Englisch:",
        "other": "en",
        "quote": "„A place is 230 euros a month. It is open on:“",
        "items": "Monday to Thursday|Friday until 2 pm",
        "label": "Opening hours",
        "table": "Tabelle",
        "cells": "Day|Time|Monday|8 am",
        "own": "Ein Platz kostet 230 Euro im Monat",
        "title": "Childcare",
        "source": "Quelle 1: Childcare",
        "sources": "Quellen",
        "tab": "Childcare (öffnet sich in einem neuen Tab)",
        "passage": "A place is 230 euros a month. Siblings pay half of it.",
        "plain": "Einfache Sprache",
        "tools": "Diese Antwort",
        "ratings": "Hilfreich|Nicht hilfreich",
        "actions": "Antwort kopieren|Neu antworten|Eine Person fragen",
        "why": "Was stimmt daran nicht?",
        "reasons": "Sie ist falsch|Sie ist veraltet|Etwas fehlt|Danach habe ich nicht gefragt|Etwas anderes",
        "undo": "Rückgängig machen|Ausblenden|Eine Person fragen|Bei einer Antwort Bescheid geben",
        "next": "Das könnten Sie auch fragen:",
        "lead": "Wo ist die Kita?",
        "people": "Mit Menschen sprechen:",
        "field": "Ihre Frage",
        "send": "Frage senden",
        "end": "Fehler sind möglich. Prüfen Sie die Quellen.",
        "log": "Mitteilungen",
        "looking": "Die Seiten der Universität werden durchsucht …",
        "complete": "Antwort vollständig. 1 Quelle.",
        "thanks": "Vielen Dank für Ihre Rückmeldung.",
        "contact": "(öffnet sich in einem neuen Tab)",
    },
}

#: The way to the end of the list. Whether it is there depends on where a browser scrolls to before it clicks.
JUMP = {
    "en": ("button: To the end of the conversation", "button: New text below"),
    "de": ("button: Zum Ende der Unterhaltung", "button: Neuer Text weiter unten"),
}


def buttons(names: str) -> list[str]:
    return [f"button: {name}" for name in names.split("|")]


def conversation(language: str) -> list[str]:
    """Return what is read once the source is open and the thumb is down."""
    says = WORDS[language]

    def quoted(*texts: str) -> list[str]:
        return [f"text [{says['other']}]: {text}" for text in texts]

    cells, (up, down) = says["cells"].split("|"), says["ratings"].split("|")
    link = f"link: {says['source']}"
    spoken = [says["quote"], *says["items"].split("|"), says["label"], " ".join(cells[:2]), " ".join(cells[2:])]
    return [
        "heading 2: Lindi",
        "text: University of Lindental",
        *buttons(says["header"]),
        f"list of 2: {says['conversation']}",
        f"heading 3: {says['you']}",
        "text: TIME",
        f"text: {says['asked']}",
        f"button: {says['edit']}",
        "heading 3: Lindi",
        "text: TIME",
        f"text: {says['note']}",
        *quoted(says["quote"]),
        link,
        "list of 2",
        *quoted(*says["items"].split("|"), says["label"]),
        link,
        f"region: {says['table']}",
        "table",
        "row",
        *quoted(*cells[:2]),
        "row",
        *quoted(*cells[2:]),
        f"text: {says['own']}",
        link,
        f"region: {says['sources']}",
        f"heading 4: {says['sources']}",
        "list of 1",
        f"button: 1 {says['title']}, expanded",
        f"link: {says['tab']}",
        "blockquote",
        *quoted(says["passage"]),
        "text: uni-lindental.example",
        f"button: {says['plain']}, not pressed",
        f"group: {says['tools']}",
        f"button: {up}, not pressed",
        f"button: {down}, pressed",
        *buttons(says["actions"]),
        f"group: {says['why']}",
        *(f"checkbox: {reason}, not checked" for reason in says["reasons"].split("|")),
        *buttons(says["undo"]),
        f"group: {says['next']}",
        "list of 1",
        f"button: {says['lead']}",
        f"text: {says['people']}",
        f"link: Student Service Centre {says['contact']}",
        "link: ssc@uni-lindental.example",
        f"field: {says['field']}",
        f"button: {says['send']}",
        f"text: {says['end']}",
        f"log: {says['log']}",
        f"text: {says['looking']}",
        f"text: {says['note']}",
        *quoted(*spoken),
        f"text: {says['own']}.",
        f"text: {says['complete']}",
        f"text: {says['thanks']}",
    ]


def walks_through(says: dict[str, str], press: Callable[[str], None], ask: Callable[[str], None], read: Any) -> None:
    """Go through a conversation; `press` what a test name names, `ask` a question, `read` gives the lines."""
    press("launcher")
    wait_until(lambda: f"button: {says['agree']}" in read())
    for sentence in says["consent"].split("|"):
        assert any(line.startswith(f"text: {sentence}") for line in read()), sentence
    press("consent-agree")
    ask(says["asked"])
    for state in ("waiting", "writing"):
        wait_until(lambda: f"text: {says[state]}" in read())  # noqa: B023
        assert f"button: {says['stop']}" in read()
    wait_until(lambda: f"text: {says['complete']}" in read())
    press("source-chip")
    press("thumbs-down")
    wait_until(lambda: f"text: {says['thanks']}" in read())


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_conversation_is_read_line_by_line_in_chromium(student: Student, language: str) -> None:
    def ask(text: str) -> None:
        student("question").fill(text)
        student("question").press("Enter")

    def read() -> list[str]:
        return [line for line in tree.lines(tree.chromium(student.page), language) if line not in JUMP[language]]

    student.goes_to(f"page={language}")
    walks_through(WORDS[language], lambda name: student(name).click(), ask, read)
    assert read() == conversation(language)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_conversation_is_read_line_by_line_in_firefox(firefox: Firefox, stage: Stage, language: str) -> None:
    def ask(text: str) -> None:
        firefox.waits(lambda: bool(firefox.reads('[data-test="send"]', "shown.length && !shown[0].disabled")), "send")
        firefox.types('[data-test="question"]', text)
        firefox.presses("Enter")

    def read() -> list[str]:
        return [line for line in tree.lines(tree.firefox(firefox), language) if line not in JUMP[language]]

    firefox.goes_to(f"{stage.page}?page={language}")
    walks_through(WORDS[language], lambda name: firefox.clicks(f'[data-test="{name}"]'), ask, read)
    assert read() == conversation(language)

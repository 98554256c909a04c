"""Questions that compare are told from those that only have a word that ends so."""

import pytest

from chat.pipeline.sentences.comparatives import asks_to_compare


@pytest.mark.parametrize(
    "question",
    [
        "Which hall is cheaper, the one at the river or the one in town?",
        "Is the semester ticket better or a car?",
        "Which course is more expensive than the others?",
        "Do guests pay more than students?",
        "Is chemistry harder than physics?",
        "Which of the two masters wants the higher TOEFL score?",
        "Which is the oldest building?",
        "What is the fastest way to the lab?",
        "Where is the nearest canteen?",
        "newest degree programme?",
        "What is the maximum number of guests in each hall?",
        "Which programme has the most places?",
        "What differences are there between the two degrees?",
        "Was ist teurer, das Wohnheim oder die WG?",
        "Welches Wohnheim ist billiger?",
        "Kostet das Ticket mehr für Gäste als für Studierende?",
        "Ist Chemie schwieriger als Physik?",
        "Welcher Studiengang hat die meisten Plätze?",
        "Wo gibt es die wenigsten Prüfungen?",
        "Welches ist die beste Mensa?",
        "Welches ist das älteste Gebäude?",
        "Wie komme ich am schnellsten zum Labor?",
        "Welche Mensa ist am nächsten?",
        "Was ist die größte Bibliothek?",
        "wer hat den neuesten drucker",
    ],
)
def test_comparatives_and_superlatives_compare(question: str) -> None:
    assert asks_to_compare(question)


@pytest.mark.parametrize(
    "question",
    [
        "How much interest do I pay on the loan?",
        "What is the latest news?",
        "By when must I apply at the latest?",
        "How many credits do I need at least?",
        "Who may take the test, and where do I hand in the request?",
        "May a guest use the forest path?",
        "I am older than 30: am I insured?",
        "May I fail an exam more than three times?",
        "Can I study rather than work?",
        "How long is the master?",
        "What must I do in the first semester?",
        "How do I hand it in any other way than by mail?",
        "Wie viele Punkte brauche ich mindestens?",
        "Bis wann muss ich mich spätestens oder frühestens bewerben?",
        "Was lerne ich im ersten Semester?",
        "Wann ist die letzte Prüfung?",
        "Wann ist das nächste Semester, und was ist am nächsten Montag?",
        "Wann ist das Fest und wo ist der Test?",
        "Brauche ich ein Attest, und wer sind die Gäste?",
        "wie hoch sind die kosten und wann sind die fristen",
        "wo ist die liste der juristen",
        "Was passiert, wenn ich die verpasste Prüfung nachhole?",
        "Ist am zwanzigsten Mai geöffnet?",
        "Kann ich den Master als Teilzeit studieren?",
        "Darf ich mehr als drei Mal durchfallen?",
        "Wie lange dauert ein Semester als Gast?",
    ],
)
def test_words_that_only_end_so_do_not(question: str) -> None:
    assert not asks_to_compare(question)

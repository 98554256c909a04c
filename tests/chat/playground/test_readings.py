"""How the words of a question were read, as staff are told."""

import pytest
from django.utils import translation

from chat.playground.readings import explain_readings
from knowledge.words.readings import Step

READINGS = [
    {"step": "spelling", "word": "emial", "read_as": ["email"]},
    {"step": "abbreviations", "word": "VPD", "read_as": ["Vorprüfungsdokumentation"]},
    {"step": "numbers", "word": "first", "read_as": ["1st", "1"]},
    {"step": "compounds", "word": "Prüfungsanmeldung", "read_as": ["prüfung anmeldung"]},
    {"step": "synonyms", "word": "dorm", "read_as": ["wohnheim", "residence hall"]},
]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            [
                "“emial” was read as “email”.",
                "“VPD” was also looked up as its short or long form: “Vorprüfungsdokumentation”.",
                "“first” was also looked up as the same number: “1st”, “1”.",
                "“Prüfungsanmeldung” was also looked up as the German compound or its parts: “Prüfung + Anmeldung”.",
                "“dorm” was also looked up as words for the same thing: “wohnheim”, “residence hall”.",
            ],
        ),
        (
            "de",
            [
                "„emial“ wurde als „email“ gelesen.",
                "Zu „VPD“ wurde auch die Kurz- oder Langform gesucht: „Vorprüfungsdokumentation“.",
                "Zu „first“ wurde auch dieselbe Zahl gesucht: „1st“, „1“.",
                "Zu „Prüfungsanmeldung“ wurde auch das zusammengesetzte Wort oder seine Teile gesucht:"
                " „Prüfung + Anmeldung“.",
                "Zu „dorm“ wurden auch Wörter für dasselbe gesucht: „wohnheim“, „residence hall“.",
            ],
        ),
    ],
)
def test_every_step_is_said_in_plain_words(language: str, sentences: list[str]) -> None:
    assert {reading["step"] for reading in READINGS} == set(Step)
    with translation.override(language):
        assert explain_readings(READINGS) == sentences

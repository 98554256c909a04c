"""The German and the English answer of one FAQ: what they say differently is found, and a translation agrees."""

import pytest

from analytics.contradictions.comparison.languages import compare_answers, read_answer
from analytics.contradictions.comparison.statements import Source

OPEN_DE = "Das Büro ist dienstags von 9 bis 12 Uhr geöffnet. Der Ausweis kostet 15 € und gilt fünf Jahre."
OPEN_EN = "The office is open on Tuesdays from 9:00 to 12:00. The card costs €15.00 and is valid for five years."


def kinds(german: str, english: str) -> list[str]:
    sources = [Source("", "", (), german, "de"), Source("", "", (), english, "en")]
    found = compare_answers(read_answer(sources, [0]), read_answer(sources, [1]))
    return [difference.kind for _german, _english, difference in found]


@pytest.mark.parametrize(
    ("german", "english", "kind"),
    [
        (OPEN_DE, OPEN_EN.replace("€15.00", "€25.00"), "figure"),
        (OPEN_DE, OPEN_EN.replace("five", "three"), "figure"),
        (OPEN_DE.replace("12 Uhr", "13 Uhr"), OPEN_EN, "date"),
        ("Die Frist endet am 15. Juli. Danach hilft das Studienbüro.", "The deadline is 15 June.", "date"),
        ("Ja, das geht.", "No, that is not possible.", "polarity"),
        ("Die Reiseversicherung genügt nicht.", "A travel insurance is sufficient.", "polarity"),
        ("Fernzüge sind nicht enthalten.", "Long-distance trains are included.", "polarity"),
        ("Sie brauchen mindestens 60 ECTS.", "You need at most 60 ECTS.", "bound"),
        (
            "Sie müssen sich zur Prüfung anmelden.",
            "You do not have to register for the exam.",
            "modality",
        ),
    ],
)
def test_what_the_two_say_differently_is_found(german: str, english: str, kind: str) -> None:
    assert kinds(german, english) == [kind]


@pytest.mark.parametrize(
    ("german", "english"),
    [
        (OPEN_DE, OPEN_EN),
        ("Ja. Der Kurs dauert anderthalb Stunden.", "Yes, the course takes 90 minutes."),
        (
            "Höchstens zwei Wochen Urlaub am Stück sind erlaubt.",
            "You may take no more than 14 days of leave in a row.",
        ),
        (
            "Wer weniger als 60 ECTS hat, darf sich nicht zur Bachelorarbeit anmelden.",
            "You need at least 60 ECTS to register for the bachelor's thesis.",
        ),
        (
            "Sie dürfen zwei Mal wiederholen. Ein drittes Mal ist ausgeschlossen.",
            "You may repeat it twice. A third time is not possible.",
        ),
        ("- Wintersemester: 15. Juli\n- Sommersemester: 15. Januar", "The deadlines are 15 January and 15 July."),
        ("Der Beitrag beträgt 318,40 €.", "The contribution is a little over 300 euros."),
        (
            "Nach der Ordnung von 2024 können Sie sich bis 3 Tage vor der Prüfung abmelden, nach der von 2019 bis eine "
            "Woche davor.",
            "Under the 2024 regulation you can withdraw until 3 days before the examination, under the 2019 one until "
            "7 days before.",
        ),
        ("Reichen Sie das Formular bis 1.10.2026 ein.", "Hand in the form by 1 October 2026 at the latest."),
        ("Zwei Monate vor Ablauf beantragen Sie ein neues.", "Apply for a new one eight weeks before it expires."),
        ("Sonntags ist geschlossen, außer im Juli.", "On Sundays it is open only in July."),
        ("Nur auf Deutsch.", ""),
    ],
)
def test_a_translation_agrees(german: str, english: str) -> None:
    assert kinds(german, english) == []

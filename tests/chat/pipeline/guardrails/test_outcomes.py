"""A sentence that tells its reader an outcome is recognised by meaning, in whatever words."""

import pytest

from chat.pipeline.guardrails.eligibility import may_decide
from chat.pipeline.guardrails.outcomes import tells_outcome
from chat.pipeline.sentences.unit_vectors import compute_vectors
from tests.conftest import load_pages
from tests.fakes.llm import FakeLLM
from tests.servers import Server

REQUIREMENT = "Applicants need a bachelor's degree with a final grade of at least 2.5."
OUTCOMES = [
    "With a degree like yours the committee will not hesitate for a second.",
    "Pack your bags, our doors are wide open for you this autumn.",
    "I would not bother to apply, they are going to turn you down.",
    "Bei deinem Schnitt brauchst du dir wirklich keine Sorgen zu machen, das wird was.",
    "Ihre Unterlagen haben überzeugt, wir sehen uns im Oktober.",
    "Mit diesem Zeugnis wird das leider nichts.",
    "Avec un tel dossier, vous serez des nôtres à la rentrée.",
]
OTHERS = [
    REQUIREMENT,
    "The selection committee looks at grades and at the letter of motivation.",
    "You upload your certificates in the portal by 15 July.",
    "Die Auswahl trifft die Kommission anhand der Noten.",
    "Sie reichen die Unterlagen bis zum 15. Juli im Portal ein.",
    "Bücher leihen Sie mit Ihrer Karte am Automaten aus.",
    "La commission examine les dossiers au mois de juin.",
]


@pytest.mark.parametrize("sentence", OUTCOMES)
def test_an_outcome_is_recognised_without_any_of_the_usual_words(sentence: str) -> None:
    assert tells_outcome(compute_vectors([sentence])[sentence])


@pytest.mark.parametrize("sentence", OTHERS)
def test_what_is_required_and_who_decides_is_no_outcome(sentence: str) -> None:
    assert not tells_outcome(compute_vectors([sentence])[sentence])


def test_a_student_never_sees_an_outcome_that_a_model_writes_freely(server: Server, llm: FakeLLM) -> None:
    load_pages([{"url": "https://www.uni.example/a", "title": "Admission", "text": f"# Grades\n\n{REQUIREMENT}"}])
    said = "Your bachelor's degree with a final grade of at least 2.5 does the job."
    assert not may_decide(said)  # the rules know other words
    llm.says_words(f"{said} [1]")
    with server.connect() as tab:
        answer = tab.answer("Which final grade do applicants need for the master's degree?")
    assert "does the job" not in "".join(event.get("text", "") for event in answer.events)
    assert REQUIREMENT in answer.text

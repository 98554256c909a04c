"""What a model says about its sources instead of the university is recognised, in whatever words, and not shown."""

import pytest

from chat.pipeline.answering.proof import Prover
from chat.pipeline.guardrails.refusals import refuses
from chat.pipeline.sentences.unit_vectors import compute_vectors
from chat.pipeline.verification.classifier import Strictness
from tests.chat.candidates import candidate

COUNSELLING = "Counselling is free; each student has eight sessions."
REFUSALS = [
    "The sources do not provide information about the number of sessions they give you.",
    "Nothing in the material I was given touches on the price of a locker.",
    "Aus den vorliegenden Seiten lässt sich nicht entnehmen, wie viele Termine es gibt.",
    "Leider steht dazu nichts in den Quellen.",
]
STATEMENTS = [
    COUNSELLING,
    "There is no fee for the language test.",
    "The certificate shows no failed attempts.",
    "Termine gibt es nur nach Vereinbarung.",
]


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_is_recognised(sentence: str) -> None:
    assert refuses(compute_vectors([sentence])[sentence])


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_what_the_university_does_not_have_is_no_refusal(sentence: str) -> None:
    assert not refuses(compute_vectors([sentence])[sentence])


def test_the_page_s_words_are_quoted_where_the_model_says_that_there_are_none() -> None:
    page = candidate(text=f"{COUNSELLING} Appointments are made by telephone.", title="Psychological counselling")
    prover = Prover([page], language="en", strictness=Strictness.STRICT)
    verdict, _candidate = prover.prove("The sources do not say how many sessions of counselling each student has.", [1])
    assert not verdict.is_supported
    assert COUNSELLING in verdict.unit

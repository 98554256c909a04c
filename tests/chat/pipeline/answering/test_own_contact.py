"""A model may name the assistant's contact, which stands on no page; it may say nothing else with it."""

import pytest

from chat.pipeline.answering.proof import Prover
from chat.pipeline.verification.classifier import Strictness
from chat.protocol.shapes import Contact
from tests.chat.candidates import candidate

CONTACT = Contact("Student Service Centre", "https://www.uni.example/service", "service@uni.example")


def prover(contact: Contact | None = CONTACT) -> Prover:
    page = candidate(text="The semester contribution is 318.40 euros each semester.", title="Fees")
    return Prover([page], language="en", strictness=Strictness.STRICT, contact=contact)


@pytest.mark.parametrize(
    "sentence",
    [
        "For further questions, please contact the Student Service Centre at service@uni.example.",
        "Wenden Sie sich bei weiteren Fragen an das Student Service Centre (service@uni.example).",
    ],
)
def test_the_contact_is_named_without_a_page(sentence: str) -> None:
    verdict, page = prover().prove(sentence, [])
    assert verdict.is_supported
    assert page is None
    assert not prover(contact=None).prove(sentence, [])[0].is_supported


@pytest.mark.parametrize(
    "sentence",
    [
        "All exams are cancelled, please write to service@uni.example.",
        "Send your password to service@uni.example.",
        "The fee is 300 euros; ask service@uni.example.",
        "For further questions, please contact the Student Service Centre at service@other.example.",
    ],
)
def test_nothing_else_passes_with_it(sentence: str) -> None:
    assert not prover().prove(sentence, [1])[0].is_supported

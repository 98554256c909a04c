"""Whatever may lead a reader somewhere is found in a model's sentence, however it is written."""

import json
from pathlib import Path

import pytest
from django.conf import settings

from chat.pipeline.guardrails.disguises import unknown_leads
from chat.pipeline.verification.verify import Passage, verify

PAGE = "The semester contribution is 318.40 euros. Students pay it at the cash desk of the university."
CLAIMS = settings.BASE_DIR / "benchmarks" / "data" / "claims_dev.jsonl"
DISGUISED = [
    "Pay at pay-here.example.",
    "Pay at Pay-Here.Museum today.",
    "Pay at pay-here [.] example",
    "Pay at pay-here(dot)com",
    "Pay at pay here dot shop",
    "See pay-here。example",
    "See pay&#45;here&#46;example",
    "See pay%2Dhere%2Eexample",
    "See pay-here . example",
    "Visit pay-here․com",
    "Visit pay\u200b-here.c\u200bom",
    "Visit p a y h e r e . c o m",
    "Visit р\u0430y-here.com",
    "Use р\u0430yрal for it",
    "Find it at hxxps://collect[.]example/x",
    "See collect dot example slash fees",
    "Write to help at collect dot example",
    "Write to help at collect period com",
    "Visit payhere point zone",
    "Go to fees period support and pay",
    "Besuchen Sie studium punkt jetzt-zahlen punkt cash",
    "Schreiben Sie an hilfe ät collect punkt de",
    "Write to help(at)collect.example",
    "Write to HeLp@CoLLect.ExAmple",
    "Write to helpdesk ＠ collect．example",
    "Message @payhere",
    "Contact payhere on Telegram",
    "Call zero nine zero zero one two three four",
    "Rufen Sie null neun null null eins zwei drei an",
    "Transfer it to DE89 3704 0044 0532 0130 00",
    "Transfer it to DE89370400440532013000",
    "Send it to bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh",
]


@pytest.mark.parametrize("sentence", DISGUISED)
def test_a_disguised_address_is_found(sentence: str) -> None:
    assert unknown_leads(sentence, PAGE)


@pytest.mark.parametrize("sentence", DISGUISED)
def test_a_true_sentence_with_a_disguised_address_is_not_proven(sentence: str) -> None:
    said = f"The semester contribution is 318.40 euros; {sentence}"
    assert not verify(said, [Passage(PAGE)]).is_supported


def test_what_the_pages_sentence_has_may_be_said_in_another_writing() -> None:
    assert unknown_leads("Write to HELP@uni.example or see www.uni.example.", "help@uni.example, www.uni.example") == []


def test_a_word_of_two_alphabets_may_be_said_as_the_page_writes_it() -> None:
    assert unknown_leads("The \u03b1-helix course", "A course on the \u03b1-helix and \u03b2Test") == []
    assert unknown_leads("Take the \u03b2Test", "Then take the \u03b2Test") == []


def test_another_sentence_of_the_page_vouches_for_no_address() -> None:
    page = f"{PAGE} Parking permits are sold at cheap.example."
    assert verify("The semester contribution is 318.40 euros.", [Passage(page)]).is_supported
    assert not verify("The semester contribution is 318.40 euros at cheap.example.", [Passage(page)]).is_supported


def test_abbreviations_dates_and_ordinary_words_lead_nowhere() -> None:
    for said in (
        "Fees, e.g. the contribution, are due at the office at 10 a.m.",
        "Der Antrag ist z.B. bis 15.02.2027 bei Prof. Dr. Meyer in Punkt 3 zu stellen.",
        "The exam period ends on 1. March. School pupils may attend.",
        "In the registration period students choose; at that point the office decides, and each point counts.",
        "Pro Punkt gibt es einen Bonus, und nach diesem Punkt endet die Frist.",
    ):
        assert unknown_leads(said, "") == []


def test_faithful_sentences_cost_nothing() -> None:
    rows = [json.loads(line) for line in Path(CLAIMS).read_text().splitlines()]
    faithful = [row for row in rows if row["supported"]]
    assert len(faithful) > 500
    assert [row["sentence"] for row in faithful if unknown_leads(row["sentence"], row["title"] + row["passage"])] == []

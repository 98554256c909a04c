"""The sender's own words of a mail, as mail programs quote and sign."""

import time

import pytest

from chat.cases.mail.content.html_text import html_to_text
from chat.cases.mail.content.quotes import new_text

#: What follows the words “Yes, please.” in mails of several programs.
BELOW = {
    "Gmail": "\n\nOn Tue, Nov 24, 2026 at 9:00 AM Office <marcel@uni.example>\nwrote:\n\n> One zebra.\n>\n> Fine?",
    "Gmail, German": "\n\nAm Di., 24. Nov. 2026 um 09:00 Uhr schrieb Amt <\nmarcel@uni.example>:\n\n> Ein Zebra.",
    "Apple Mail": "\n\n> On 24. Nov 2026, at 09:00, Housing Office <marcel@uni.example> wrote:\n> \n> One zebra.",
    "Thunderbird": "\n\nAm 24.11.26 um 09:00 schrieb Wohnungsamt:\n> Ein Zebra.\n",
    "Outlook": "\n\n________________________________\nFrom: Housing Office <marcel@uni.example>\n"
    "Sent: Tuesday, November 24, 2026 9:00 AM\nTo: Ada\nSubject: Your question\n\nOne zebra.",
    "Outlook, German": "\n\nVon: Wohnungsamt <marcel@uni.example>\nGesendet: Dienstag, 24. November 2026 09:00\n"
    "An: Ada\nBetreff: Ihre Frage\n\nEin Zebra.",
    "old Outlook": "\n\n-----Original Message-----\nFrom: Housing Office\n\nOne zebra.",
    "German web mailer": "\n\n----- Ursprüngliche Nachricht -----\nVon: Wohnungsamt\n\nEin Zebra.",
    "French": "\n\nLe mar. 24 nov. 2026 à 09:00, Office <marcel@uni.example> a écrit :\n\n> Un zèbre.",
    "a signature": "\n\n-- \nAda Lovelace\nMatriculation 12345",
    "a telephone": "\n\nSent from my iPhone",
    "a telephone, German": "\n\nVon meinem iPhone gesendet",
    "nothing": "",
}


@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW)
def test_what_stands_below_is_not_taken(below: str) -> None:
    assert new_text(f"Yes, please.{below}") == "Yes, please."
    assert new_text(f"Yes, please.{below}".replace("\n", "\r\n")) == "Yes, please."


def test_answers_between_the_quoted_lines_and_below_them_are_taken() -> None:
    text = "On Tue, 24 Nov 2026, Office wrote:\n> How tall?\n\nThree metres.\n\n> How old?\n\nFour.\n\n-- \nAda"
    assert new_text(text) == "Three metres.\n\nFour."


@pytest.mark.parametrize(
    "text",
    [
        "I need:\n- my passport\n- a photo",
        "From: Berlin I come to Lindental.\nTo: be clear, by train.",
        "On Monday the office wrote me a letter. Is it right?",
        "Best regards from Lindental, and one more question: when?",
        "On 1 May I moved:\nmy address changed.",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert new_text(text) == text


@pytest.mark.parametrize(
    "text",
    ["On " + "a wrote " * 30_000, "On\n" * 60_000, ">" * 200_000, "From: x\n" * 25_000, "\n" * 200_000, "- " * 100_000],
    ids=lambda text: text[:9],
)
def test_a_text_that_is_made_to_take_long_takes_no_second(text: str) -> None:
    start = time.process_time()
    new_text(text[:200_000])
    assert time.process_time() - start < 3


def test_html_that_is_none_has_no_text() -> None:
    assert html_to_text("") == html_to_text("<!---->") == ""
    assert html_to_text("<p>a<b>b").strip() == "ab"
    start = time.process_time()
    html_to_text("<div>" * 100_000)
    assert time.process_time() - start < 10

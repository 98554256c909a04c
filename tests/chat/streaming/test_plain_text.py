"""An answer as Markdown alone: pages cannot put markup into it, and nothing is taken back."""

from typing import Any

from chat.streaming.plain_text import PlainAnswer

SOURCE = {"n": 1, "title": "Fees", "url": "https://u.example/a", "heading": "", "page": None, "quote": "It is 5."}
OFFICE = {
    "n": 1,
    "question": "Fee?",
    "text": "It is 5 euros.",
    "language": "en",
    "office": "Registrar",
    "checked_on": "2026-01-01",
    "signature": "Registrar, 1 January 2026",
    "note": "",
}


def told(*events: dict[str, Any], language: str = "en") -> PlainAnswer:
    """Return an answer after these events, whose parts add up to its text."""
    answer = PlainAnswer(language)
    parts = [answer.take(event) for event in events]
    assert "".join(parts) == answer.text
    return answer


def end(status: str = "complete") -> dict[str, Any]:
    return {"type": "message_end", "status": status}


def cited(**changes: Any) -> dict[str, Any]:
    return {"type": "citation", "source": {**SOURCE, **changes}}


def test_the_sources_stand_below_in_the_answers_language() -> None:
    answer = told(cited(), {"type": "message_delta", "text": "Es sind 5 Euro [1]."}, end(), language="de")
    assert answer.text == "Es sind 5 Euro [1].\n\nQuellen:\n\n- [1] [Fees](https://u.example/a)"
    assert answer.citations == [SOURCE | {"edition": "", "read_by_ocr": False}]


def test_what_a_program_read_off_a_picture_is_marked_in_the_answers_language() -> None:
    answer = told(cited(read_by_ocr=True), end(), language="de")
    assert answer.text == "Quellen:\n\n- [1] [Fees](https://u.example/a) (mit OCR gelesen)"


def test_a_title_or_an_address_writes_no_markup() -> None:
    title = "![x](https://evil.example)\n# **Fees** <script>"
    answer = told(cited(title=title, url="https://u.example/a)(b <c>"), end())
    assert answer.text == (
        "Sources:\n\n- [1] [\\!\\[x\\](https://evil.example) \\# \\*\\*Fees\\*\\* \\<script\\>]"
        "(https://u.example/a%29%28b%20%3Cc%3E)"
    )


def test_an_offices_answer_comes_first() -> None:
    answer = told(
        cited(),
        {"type": "office_answer", "answer": OFFICE},
        {"type": "message_delta", "text": " More."},
        {"type": "message_delta", "text": " And more."},
        end(),
    )
    assert answer.text.startswith("Registrar, 1 January 2026 [1]\n\nIt is 5 euros.\n\nMore. And more.\n\nSources:")


def test_an_abstention_names_the_contact() -> None:
    contact = {"name": "Registrar", "url": "https://u.example/r", "email": "r@u.example"}
    event = {"type": "abstain", "reason": "nothing_found", "text": "I do not know.", "contact": contact, "related": []}
    answer = told(event, end("abstained"))
    assert answer.text == "I do not know.\n\n**Registrar**, r@u.example, https://u.example/r"
    assert answer.is_abstention
    assert told({**event, "contact": None}, end("abstained")).text == "I do not know."


def test_help_names_everyone_to_call() -> None:
    contacts = [{"name": name, "phone": phone, "url": "", "email": ""} for name, phone in (("A", "112"), ("B", "116"))]
    event = {"type": "help", "text": "Please call.", "card": {"kind": "crisis", "contacts": contacts}}
    assert told(event, end()).text == "Please call.\n\n- **A**, 112\n- **B**, 116"

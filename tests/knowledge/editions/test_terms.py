"""The term that a document is about: in its title, headings, address or on its cover, in German and English."""

from datetime import date

import pytest

from knowledge.editions.asked import Asked, DatedDocument, choose_editions, read_asked
from knowledge.editions.terms import name_term, names, parse_term, read_term
from knowledge.models import TermKind


def named(title: str = "Fees", url: str = "https://www.uni.example/fees", text: str = "") -> str:
    term = read_term(title=title, url=url, text=text)
    return name_term(term, "en") if term else ""


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fees WS 2024/25", "Winter term 2024/25"),
        ("Wintersemester 2024/2025: Gebühren", "Winter term 2024/25"),
        ("Gebühren WiSe 24/25", "Winter term 2024/25"),
        ("SoSe 25", "Summer term 2025"),
        ("Fall 2025 deadlines", "Fall term 2025"),
        ("Spring term 2026", "Spring term 2026"),
        ("Academic year 2025/26", "Academic year 2025/26"),
        ("Handbook 2023", "2023"),
        ("Handbuch 2023–2025", "2023–2025"),
        ("PO 2019", "Examination regulations 2019"),
        ("PO-Version 2019", "Examination regulations 2019"),
        ("Prüfungsordnung Informatik vom 12.03.2019", "Examination regulations 2019"),
        ("Examination regulations for Physics (2023)", "Examination regulations 2023"),
        ("Modulhandbuch PO 2019, Stand WS 2024/25", "Winter term 2024/25"),
        ("Winter semester 2025/26 and summer semester 2026", "Academic year 2025/26"),
        ("Changes from 2019 to 2023", ""),
        ("Room 2051", ""),
        ("30 credits in a winter semester", ""),
    ],
)
def test_a_title_names_its_term(title: str, expected: str) -> None:
    assert named(title) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("fees/ws-2024-25/", "Winter term 2024/25"),
        ("wintersemester-2024-2025/fees", "Winter term 2024/25"),
        ("MHB_INF_ws2425.pdf", "Winter term 2024/25"),
        ("modulhandbuch_2024w.pdf", "Winter term 2024/25"),
        ("sose2025/fees.php?id=3", "Summer term 2025"),
        ("2024-25/fees", "Academic year 2024/25"),
        ("fees2024", "2024"),
        ("fees-2024.html", "2024"),
        ("node/2024123", ""),
        ("news/2024-10-01-fees", ""),
        ("%E0%A4%A", ""),
    ],
)
def test_an_address_names_its_term(path: str, expected: str) -> None:
    assert named(url=f"https://www.uni.example/{path}") == expected


def test_a_heading_comes_before_the_address_and_the_title_before_both() -> None:
    text = "# Fees in winter term 2025/26\n\nThey are due on 1 October 2025."
    assert named("Fees SoSe 2024", "https://www.uni.example/2023", text) == "Summer term 2024"
    assert named(url="https://www.uni.example/2023", text=text) == "Winter term 2025/26"


def test_on_the_cover_only_the_one_term_that_it_names_counts() -> None:
    assert named(text="Founded in 1998.\n\nThis is valid for the winter semester 2025/26.") == "Winter term 2025/26"
    assert named(text="Founded in 1998 by two people.") == ""
    assert named(text="In WS 2024/25 it was 300 euros, in WS 2025/26 it is 310 euros.") == ""
    assert named(text="x " * 900 + "In winter semester 2025/26.") == ""


@pytest.mark.parametrize(
    "text", ["Winter term 2025/26", "WS 25/26", "2024", "PO 2019", "Academic year 2025/26", "HS 2025"]
)
def test_what_it_is_called_reads_as_the_same_term_in_both_languages(text: str) -> None:
    term = parse_term(text)
    assert term
    for language in ("en", "de"):
        again = parse_term(name_term(term, language))
        assert again
        assert (again.begin, again.end) == (term.begin, term.end)
        assert names(f"Fees, {text}", name_term(term, language))


def test_it_is_called_as_students_call_it() -> None:
    winter, regulations = parse_term("WS 25/26"), parse_term("PO 2019")
    assert winter
    assert regulations
    assert name_term(winter, "de") == "Wintersemester 2025/26"
    assert name_term(regulations, "de") == "Prüfungsordnung 2019"


@pytest.mark.parametrize("text", ["", "soon", "WS", "2019 and 2023", "99999", "\x00", "Winter term 2025/27"])
def test_what_names_no_single_term_is_none(text: str) -> None:
    assert parse_term(text) is None or text == "Winter term 2025/27"


TODAY = date(2026, 11, 26)


@pytest.mark.parametrize(
    ("question", "today", "expected"),
    [
        ("What is due next semester?", TODAY, "Summer term 2027"),
        ("Was ist im nächsten Semester fällig?", date(2026, 9, 30), "Winter term 2026/27"),
        ("Was gilt im kommenden Wintersemester?", TODAY, "Winter term 2027/28"),
        ("Was gilt im kommenden Wintersemester?", date(2026, 7, 1), "Winter term 2026/27"),
        ("And last summer term?", TODAY, "Summer term 2026"),
        ("And last winter?", date(2026, 7, 1), "Winter term 2025/26"),
        ("Fees in the current semester", date(2027, 3, 31), "Winter term 2026/27"),
        ("Gebühren im nächsten Studienjahr", TODAY, "Academic year 2027/28"),
        ("Fees in SoSe 2025", TODAY, "Summer term 2025"),
        ("Under the following terms and conditions?", TODAY, ""),
        ("How much is the fee?", TODAY, ""),
    ],
)
def test_a_question_asks_for_a_term(question: str, today: date, expected: str) -> None:
    assert ", ".join(name_term(term, "en") for term in read_asked(question, today).terms) == expected


def editions(*terms: str) -> list[DatedDocument]:
    parsed = [parse_term(term) for term in terms]
    return [DatedDocument(number, term, term.begin) for number, term in enumerate(parsed, start=1) if term]


@pytest.mark.parametrize(
    ("question", "today", "expected"),
    [
        ("How much is the fee?", date(2026, 9, 30), {2}),
        ("How much is the fee?", date(2026, 10, 1), {3}),
        ("How much is the fee?", date(2024, 1, 1), {1}),
        ("How much is the fee?", date(2030, 1, 1), {3}),
        ("How much is the fee next semester?", date(2026, 9, 30), {3}),
        ("How much is the fee in WS 2025/26?", date(2026, 11, 1), {1}),
        ("How much is the fee in the summer term?", date(2026, 11, 1), {2}),
        ("How much is the fee on 12.05.2026?", date(2026, 11, 1), {2}),
    ],
)
def test_the_current_edition_is_chosen_or_the_one_asked_for(question: str, today: date, expected: set[int]) -> None:
    rows = editions("WS 2025/26", "SoSe 2026", "WS 2026/27")
    choice = choose_editions(rows, read_asked(question, today), today)
    assert (choice.documents, choice.is_missing) == (expected, False)


def test_a_term_that_is_missing_is_said_to_be() -> None:
    choice = choose_editions(editions("WS 2025/26"), read_asked("The fee in WS 2031/32?", TODAY), TODAY)
    assert choice.is_missing
    assert not choose_editions(editions("WS 2025/26"), read_asked("Born 1.2.2003?", TODAY), TODAY).is_missing


def test_of_regulations_all_are_kept_unless_one_is_asked_for() -> None:
    rows = editions("PO 2019", "PO 2023")
    assert choose_editions(rows, read_asked("How many credits?", TODAY), TODAY).documents == {1, 2}
    assert choose_editions(rows, read_asked("How many credits in WS 2025/26?", TODAY), TODAY).documents == {1, 2}
    assert choose_editions(rows, read_asked("How many credits under PO 2019?", TODAY), TODAY).documents == {1}
    assert choose_editions(rows, read_asked("How many credits under PO 2011?", TODAY), TODAY).is_missing
    assert Asked() == read_asked("How many credits?", TODAY)


def test_a_handbook_with_a_term_is_chosen_by_the_regulations_in_its_title() -> None:
    terms = [parse_term(text) for text in ("WS 2018/19", "WS 2020/21", "WS 2024/25")]
    titles = ("Handbook, PO 2017, WS 2018/19", "Handbook, PO 2017, WS 2020/21", "Handbook, PO 2022, WS 2024/25")
    rows = [
        DatedDocument.valid_from(number, term, None, title)
        for number, (term, title) in enumerate(zip(terms, titles, strict=True), start=1)
        if term
    ]

    def chosen(question: str) -> set[int]:
        return set(choose_editions(rows, read_asked(question, TODAY), TODAY).documents)

    assert chosen("How many credits does the thesis have?") == {3}
    assert chosen("How many credits does the thesis have under PO 2017?") == {2}
    assert chosen("How many credits does the thesis have in WS 2018/19 under PO 2017?") == {1}
    assert chosen("How many credits does the thesis have under PO 2011?") == {3}


def test_regulations_that_are_editions_name_their_kind() -> None:
    rows = editions("PO 2019", "PO 2023")
    assert rows[0].term.kind == TermKind.REGULATIONS

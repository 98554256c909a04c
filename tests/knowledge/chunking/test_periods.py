"""Years and terms in questions and on pages: read in every spelling, and told apart."""

import pytest

from knowledge.chunking.period_match import grade_passage, grade_sentences
from knowledge.chunking.periods import Grade, asked, dated, grade, in_full, named, without_periods

OTHER, MAY, FITS = Grade.OTHER, Grade.MAY, Grade.FITS


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("WS 26/27", "winter term 2026/27"),
        ("WiSe2026/2027", "Wintersemester 2026/2027"),
        ("winter 2026", "Winter-Semester 2026/27"),
        ("the fall semester of 2026", "2026/27 winter term"),
        ("wintersemester '26/'27", "WS 2026/27"),
        ("SoSe 27", "Sommersemesters 2027"),
        ("ss27", "summer semester 2027"),
        ("Sommersemester 27?", "Sommer 2027"),
        ("the 2026-27 academic year", "Studienjahr 2026/27"),
        ("in 26/27", "2026–2027"),
        ("winter term 2026/27", "academic year 2026/27"),
        ("winter term 2026/27", "Tuition 2026"),
        ("2026", "summer term 2026"),
        ("2026", "winter term 2026/27"),
        ("PO19", "Prüfungsordnung 2019"),
        ("po 2019", "BPO 2019"),
        ("intake of '26", "Intake 2026"),
        ("exams in February 2027", "Exam dates, winter term 2026/27"),
        ("on 3 May 2026", "Summer 2026"),
    ],
)
def test_a_year_or_term_is_the_same_however_it_is_written(question: str, page: str) -> None:
    assert grade(asked(question), named(page)) == FITS


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("WS 26/27", "winter term 2025/26"),
        ("winter term 2026/27", "summer term 2026"),
        ("winter term 2026/27", "summer term 2027"),
        ("2026", "2025"),
        ("2026", "winter term 2027/28"),
        ("PO 2019", "PO 2023"),
        ("2026/27", "2025/26"),
        ("2026", "until 2025"),
        ("2026", "since 2027"),
    ],
)
def test_other_years_and_terms_are_told_apart(question: str, page: str) -> None:
    assert grade(asked(question), named(page)) == OTHER


@pytest.mark.parametrize(
    ("question", "page"),
    [("2026", "since 2019"), ("SoSe 2026", "ab dem Wintersemester 2024/25"), ("2026", "winter term 2025/26")],
)
def test_what_holds_longer_may_be_meant(question: str, page: str) -> None:
    assert grade(asked(question), named(page)) == MAY


@pytest.mark.parametrize(
    "text",
    [
        "It costs 2026 euros.",
        "2020 ECTS",
        "in the winter semester 30 credits are taken",
        "Sommersemester 15. Februar",
        "SoSe 15.2. bis 28.2.",
        "on 12/13 July",
        "from 10 to 20",
        "Room 3.2026",
        "24/25 points",
        "call 06421 282026",
        "founded in 1527",
    ],
)
def test_other_figures_are_no_years(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    "text", ["15.07.2026", "15. Juli 2026", "July 15th, 2026", "2026-07-15", "07/2026", "July 2026", "15.7.26"]
)
def test_a_date_is_a_month_and_names_no_year(text: str) -> None:
    assert named(text) == []
    assert dated(text) == dated("1 July 2026")


def test_short_forms_are_written_as_pages_write_them() -> None:
    assert in_full("How much is the fee in WS 26/27?") == "How much is the fee in winter semester 2026/27?"
    assert in_full("Was kostet es im SoSe 27 nach PO19?") == "Was kostet es im Sommersemester 2027 nach PO 2019?"
    unchanged = "How much is the fee in winter term 2026/27, and in 2028?"
    assert in_full(unchanged) == unchanged
    assert without_periods(unchanged).split() == ["How", "much", "is", "the", "fee", "in", ",", "and", "in", "?"]


def grades(question: str, labels: list[str], text: str) -> list[Grade]:
    return grade_sentences(asked(question), labels, text)


def test_a_sentence_counts_before_its_heading_and_that_before_the_title() -> None:
    labels = ["Fees 2026", "Winter term 2025/26"]
    text = "The fee is 318 euros. In 2026 it was 331 euros."
    assert grades("2025", labels, text) == [FITS, OTHER]
    assert grades("2026", ["Fees 2026", "Deadlines"], "It is due by 15 July 2025.") == [FITS]
    assert grades("2026", ["Fees 2024", "Since 2019"], "It costs 30 euros.") == [OTHER]


def test_lists_tables_and_lines_hold_what_stands_under_them() -> None:
    text = (
        "**Winter term 2025/26**\n\nThe fee is 318 euros.\n\n**Winter term 2026/27**\n\nThe fee is 331 euros.\n\n"
        "For 2024/25:\n\n- 307 euros\n- 12 euros late fee"
    )
    assert grades("WS 26/27", ["Fees"], text) == [OTHER, OTHER, FITS, FITS, OTHER, OTHER, OTHER]
    table = "| | WS 2025/26 |\n|---|---|\n| Fee | 318 |"
    assert grades("WS 26/27", ["Fees"], table) == [OTHER, OTHER, OTHER]


def test_a_paragraph_goes_on_about_the_term_that_it_began_with() -> None:
    text = "In WS 2025/26 the fee rises. It is 318 euros then.\n\nAsk the registrar."
    assert grades("WS 26/27", ["Fees"], text) == [OTHER, OTHER, MAY]
    # The title is surer than a paragraph that looks back.
    assert grades("2026", ["Ticket 2026"], "In 2019 it was new. It costs 30 euros.") == [OTHER, FITS]


def test_dates_tell_where_nothing_else_does() -> None:
    assert grades("2026", ["Open day"], "It is on 12 May 2025.") == [OTHER]
    assert grades("SoSe 2026", ["Applying"], "Apply by 15 January 2026.") == [MAY]
    assert grades("SoSe 2026", ["Applying"], "Apply by 15 January 2025.") == [OTHER]


def test_a_passage_is_as_good_as_its_best_sentence() -> None:
    assert grade_passage(asked("2026"), ["Fees"], "In 2025 it was 318 euros. Ask us.\n\nIn 2026 it is 331.") == (
        FITS,
        MAY,
    )
    assert grade_passage(asked("2026"), ["Fees 2025"], "It was 318 euros.") == (OTHER, OTHER)
    assert grade_passage(asked("2026"), ["Fees"], "It is 318 euros.") == (MAY, MAY)

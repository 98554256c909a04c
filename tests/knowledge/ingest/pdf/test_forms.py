"""Forms, merged cells and tables over pages: the modules of a handbook as records."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import pytest
from pdfminer.pdfinterp import PDFContentParser
from pdfminer.pdftypes import PDFStream
from pdfminer.psparser import PSEOF
from reportlab.lib import colors
from reportlab.platypus import Table, TableStyle

from knowledge.ingest.pdf.content import read_objects
from knowledge.ingest.pdf.document import read_document
from knowledge.ingest.pdf.tables.grids import find_grids
from knowledge.ingest.pdf.types import Limits, Rule
from tests.knowledge.pdfs import BODY, BOLD, PROSE, Sheet, pdf

Place = tuple[int, int]


def markdown(*pages: Callable[[Sheet], None]) -> str:
    pieces: list[str] = []
    read_document(BytesIO(pdf(*pages)), limits=Limits(), write=pieces.append)
    return "".join(pieces)


def grid(
    sheet: Sheet,
    rows: Sequence[Sequence[str]],
    widths: Sequence[float],
    *,
    spans: Sequence[tuple[Place, Place]] = (),
    bold: Sequence[tuple[Place, Place]] = (),
    box: bool = True,
) -> None:
    """Draw ruled cells; `spans` and `bold` are (column, row) of the first and last cell; `box` draws the sides."""
    style: list[Any] = [("FONTSIZE", (0, 0), (-1, -1), 9), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    style += [("SPAN", *span) for span in spans]
    style += [("FONTNAME", *cells, BOLD) for cells in bold]
    style.append(("GRID" if box else "INNERGRID", (0, 0), (-1, -1), 0.5, colors.black))
    table = Table([list(row) for row in rows], colWidths=list(widths), style=TableStyle(style))
    _width, height = table.wrapOn(sheet.canvas, sheet.width, sheet.y)
    sheet.y -= height
    table.drawOn(sheet.canvas, sheet.x, sheet.y)


COURSES = [
    ["No.", "Kind", "Course", "Work (h)", ""],
    ["", "", "", "in class", "alone"],
    ["1", "lecture", "Tides and currents", "30", "60"],
    ["2", "exercise", "Tides by hand", "15", "45"],
]
COURSE_WIDTHS = (30, 70, 190, 60, 60)
MERGED = [((3, 0), (4, 0)), ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 1))]


def test_a_name_over_two_columns_is_said_of_each_and_a_merged_cell_once() -> None:
    def page(sheet: Sheet) -> None:
        grid(sheet, COURSES, COURSE_WIDTHS, spans=MERGED, bold=[((0, 0), (-1, 1))])

    assert markdown(page) == (
        "<!-- page 1 -->\n\n"
        "- No.: 1; Kind: lecture; Course: Tides and currents; Work (h) in class: 30; Work (h) alone: 60\n"
        "- No.: 2; Kind: exercise; Course: Tides by hand; Work (h) in class: 15; Work (h) alone: 45\n"
    )


def test_rows_beside_one_cell_go_on_in_its_sentence() -> None:
    def page(sheet: Sheet) -> None:
        rows = [
            ["Points for attendance", "No. 1", "2 CP"],
            ["", "No. 2", "1 CP"],
            ["Points for exams", "No. 1", "3 CP"],
        ]
        grid(sheet, rows, (150, 60, 60), spans=[((0, 0), (0, 1))], bold=[((0, 0), (0, -1))], box=False)

    assert markdown(page).endswith(
        "\n\n- Points for attendance: No. 1: 2 CP; No. 2: 1 CP\n- Points for exams: No. 1: 3 CP\n"
    )


def module(sheet: Sheet, name: str, *, number: str = "OC 7") -> None:
    """Draw the head of a module's form: labels and values, then numbered parts of two to four cells."""
    grid(
        sheet, [["Module title:", name], ["Degree:", "Bachelor of Tidal Studies"]], (150, 300), bold=[((0, 0), (0, -1))]
    )
    grid(sheet, [["1", f"Module number: {number}", "Status: required", "Language: English"]], (30, 160, 130, 130))
    grid(sheet, [["2", "Term: winter", "Length: 1 term", "CP: 6", "Work (h): 180"]], (30, 120, 120, 60, 120))


def test_a_module_is_a_record_under_its_name() -> None:
    def page(sheet: Sheet) -> None:
        module(sheet, "Coastal Currents")
        sheet.y -= 40
        module(sheet, "Harbour Law", number="OC 8")

    assert markdown(page) == (
        "<!-- page 1 -->\n\n# Coastal Currents\n\n"
        "- Module title: Coastal Currents\n- Degree: Bachelor of Tidal Studies\n"
        "- 1 Module number: OC 7; Status: required; Language: English\n"
        "- 2 Term: winter; Length: 1 term; CP: 6; Work (h): 180\n\n# Harbour Law\n\n"
        "- Module title: Harbour Law\n- Degree: Bachelor of Tidal Studies\n"
        "- 1 Module number: OC 8; Status: required; Language: English\n"
        "- 2 Term: winter; Length: 1 term; CP: 6; Work (h): 180\n"
    )


def test_a_heading_of_its_own_names_the_record_once() -> None:
    def page(sheet: Sheet) -> None:
        sheet.heading("Coastal Currents", size=16)
        module(sheet, "Coastal Currents")
        sheet.paragraph(PROSE[0])

    assert markdown(page).count("# Coastal Currents") == 1


def test_labels_in_every_second_of_four_columns_name_their_values() -> None:
    def page(sheet: Sheet) -> None:
        rows = [["Code", "OC 7", "Points", "6"], ["Term", "winter", "Teacher", "Ada Lund"]]
        grid(sheet, rows, (80, 120, 80, 120), bold=[((0, 0), (0, -1)), ((2, 0), (2, -1))])

    assert markdown(page).endswith("- Code: OC 7; Points: 6\n- Term: winter; Teacher: Ada Lund\n")


def test_choices_side_by_side_in_a_cell_are_said_one_after_the_other() -> None:
    def page(sheet: Sheet) -> None:
        grid(sheet, [["Code: OC 7", "", "Language: German"], ["Points: 6", "", "Work: 180 h"]], (90, 210, 110))
        for x, down, text in (
            (95, 15, "Status:"),
            (150, 11, "[ ] obli-"),
            (150, 20, "gatory"),
            (220, 11, "[x] elec-"),
            (220, 20, "tive"),
        ):
            sheet.canvas.setFont(BODY, 8)
            sheet.canvas.drawString(sheet.x + x, sheet.y + 36 - down, text)

    assert "Code: OC 7; Status: [ ] obligatory [x] elective; Language: German" in markdown(page)


def test_a_table_in_a_numbered_part_stands_after_its_label() -> None:
    def page(sheet: Sheet) -> None:
        top = sheet.y
        sheet.line("3", indent=8)
        sheet.y = top
        sheet.line("Structure of the module:", font=BOLD, indent=40)
        sheet.y -= 8
        inner = Sheet(sheet.canvas, x=sheet.x + 38, y=sheet.y)
        grid(inner, COURSES, COURSE_WIDTHS, spans=MERGED, bold=[((0, 0), (-1, 1))], box=False)
        bottom = inner.y - 8
        sheet.canvas.rect(sheet.x, bottom, 460, top - bottom)
        sheet.canvas.line(sheet.x + 30, bottom, sheet.x + 30, top)

    text = markdown(page)
    assert (
        "3 Structure of the module:\n\n- No.: 1; Kind: lecture; Course: Tides and currents; Work (h) in class: 30"
        in text
    )
    assert text.count("Structure of the module") == 1


def test_a_long_cell_is_text_with_its_paragraphs_and_goes_on_over_the_page() -> None:
    lines = [f"Sentence {number} says what the sea does to a harbour wall in bad weather," for number in range(6)]

    def first(sheet: Sheet) -> None:
        grid(sheet, [["4", "\n".join(["Contents:", *lines])]], (30, 420))

    def second(sheet: Sheet) -> None:
        grid(sheet, [["", "and what a builder can do about it."], ["5", "Aims: none"]], (30, 420))

    text = markdown(first, second)
    assert "4 Contents: Sentence 0 says" in text
    assert "in bad weather,<!-- page 2 -->\n and what a builder can do about it." in text
    assert "5 Aims: none" in text


def test_a_table_that_goes_on_over_the_page_keeps_its_header_though_a_clipped_cell_stands_between() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 200
        grid(sheet, COURSES, COURSE_WIDTHS, spans=MERGED, bold=[((0, 0), (-1, 1))])

    def second(sheet: Sheet) -> None:
        grid(sheet, [["", ""]], (30, 380))  # what the page's end left of an empty row
        sheet.y -= 12
        grid(sheet, [["3", "seminar", "Tides in law", "20", "40"], ["4", "trip", "A harbour", "8", "2"]], COURSE_WIDTHS)

    assert markdown(first, second).endswith(
        "- No.: 3; Kind: seminar; Course: Tides in law; Work (h) in class: 20; Work (h) alone: 40\n"
        "- No.: 4; Kind: trip; Course: A harbour; Work (h) in class: 8; Work (h) alone: 2\n"
    )


def test_a_row_that_the_page_cuts_is_one_row() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 160
        grid(sheet, [["Topic", "Aim"], ["Tides", "to know why the sea"]], (120, 300), bold=[((0, 0), (-1, 0))])

    def second(sheet: Sheet) -> None:
        grid(sheet, [["", "rises and falls"], ["Harbours", "to know how they are built"]], (120, 300))

    text = markdown(first, second)
    assert "- Topic: Tides; Aim: to know why the sea rises and falls\n" in text
    assert "- Topic: Harbours; Aim: to know how they are built\n" in text


def test_labels_at_the_end_of_a_page_name_the_values_that_begin_the_next() -> None:
    def first(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        sheet.y = 120
        grid(sheet, [["14", "Use: everywhere"]], (30, 360))
        grid(sheet, [["15", "Teacher:", "Faculty:"]], (30, 180, 180))
        sheet.line("1 As of 2026.", size=7, above=4)

    def second(sheet: Sheet) -> None:
        grid(sheet, [["", "Ada Lund", "Ocean Studies"]], (30, 180, 180))
        grid(sheet, [["16", "Remarks: none"]], (30, 360))

    assert markdown(first, second) == (
        f"<!-- page 1 -->\n\n{PROSE[0]}\n\n- 14 Use: everywhere\n\n1 As of 2026.\n\n<!-- page 2 -->\n\n"
        "- 15 Teacher: Ada Lund; Faculty: Ocean Studies\n- 16 Remarks: none\n"
    )


EXAMS = [["No.", "Kind of exam", "Length"], ["1", "written", "60 minutes"], ["2", "oral", "20 minutes"]]
EXAM_WIDTHS = (40, 220, 120)


@pytest.mark.parametrize("count", [1, 2])
def test_names_of_columns_at_the_end_of_a_page_head_the_rows_of_the_next(count: int) -> None:
    def first(sheet: Sheet) -> None:
        sheet.paragraph(PROSE[0])
        sheet.y = 100
        grid(sheet, EXAMS[:1], EXAM_WIDTHS, bold=[((0, 0), (-1, 0))])

    def second(sheet: Sheet) -> None:
        grid(sheet, EXAMS[1 : 1 + count], EXAM_WIDTHS)

    rows = ["- No.: 1; Kind of exam: written; Length: 60 minutes", "- No.: 2; Kind of exam: oral; Length: 20 minutes"]
    assert markdown(first, second) == (
        f"<!-- page 1 -->\n\n{PROSE[0]}\n\n<!-- page 2 -->\n\n" + "\n".join(rows[:count]) + "\n"
    )


def test_a_last_row_alone_on_the_next_page_has_the_names_of_its_columns() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 120
        grid(sheet, EXAMS[:2], EXAM_WIDTHS, bold=[((0, 0), (-1, 0))])

    def second(sheet: Sheet) -> None:
        grid(sheet, EXAMS[2:], EXAM_WIDTHS)
        sheet.y -= 20
        sheet.paragraph(PROSE[0])

    assert f"- No.: 2; Kind of exam: oral; Length: 20 minutes\n\n{PROSE[0]}" in markdown(first, second)


def test_a_row_of_a_form_on_the_next_page_is_no_row_of_the_table_before() -> None:
    def first(sheet: Sheet) -> None:
        sheet.y = 160
        rows = [["Topic", "Aim"], ["Tides", "to know the sea"], ["Harbours", "to build them"]]
        grid(sheet, rows, (120, 300), bold=[((0, 0), (-1, 0))])

    def second(sheet: Sheet) -> None:
        grid(sheet, [["Use in other programmes", "none"]], (120, 300))

    assert "- Use in other programmes: none\n" in markdown(first, second)


def test_rows_without_a_header_have_none() -> None:
    def page(sheet: Sheet) -> None:
        grid(sheet, [["2026", "12", "3"], ["2027", "14", "5"]], (80, 80, 80))

    assert markdown(page).endswith("\n\n- 2026; 12; 3\n- 2027; 14; 5\n")


def test_two_rules_that_cross_in_a_cell_are_a_header_over_one_row() -> None:
    def page(sheet: Sheet) -> None:
        left, top = sheet.x + 34, sheet.y - 30
        grid(sheet, [["4", "Profile of the module:\n" + "\n" * 7], ["5", "Aims: none"]], (30, 400))
        for x, down, font, text in (
            (4, 12, BOLD, "Topics"),
            (204, 12, BOLD, "Aims"),
            (4, 30, BODY, "Tides and the"),
            (4, 41, BODY, "moon"),
            (204, 30, BODY, "To know why the"),
            (204, 41, BODY, "sea rises"),
        ):
            sheet.canvas.setFont(font, 9)
            sheet.canvas.drawString(left + x, top - down, text)
        sheet.canvas.line(left, top - 18, left + 390, top - 18)
        sheet.canvas.line(left + 200, top, left + 200, top - 48)

    assert "- Topics: Tides and the moon; Aims: To know why the sea rises\n" in markdown(page)


def test_two_short_rules_that_cross_are_a_mark() -> None:
    assert not find_grids([Rule(90, 110, 50, 50), Rule(100, 100, 40, 60)])


def test_a_plan_that_is_bold_all_over_has_a_header_of_names() -> None:
    def page(sheet: Sheet) -> None:
        rows = [["Sem.", "Physics", "Methods"], ["1", "Tides 1 (6)", "Algebra (6)"], ["2", "Tides 2 (6)", ""]]
        grid(sheet, rows, (60, 120, 120), bold=[((0, 0), (-1, -1))])

    assert markdown(page).endswith(
        "- Sem.: 1; Physics: Tides 1 (6); Methods: Algebra (6)\n- Sem.: 2; Physics: Tides 2 (6)\n"
    )


def test_a_name_of_a_column_may_have_the_mark_of_a_note() -> None:
    def page(sheet: Sheet) -> None:
        grid(sheet, [["Kind of exam²", "Length"], ["written", "60 minutes"], ["oral", "20 minutes"]], (160, 120))

    assert "- Kind of exam²: written; Length: 60 minutes\n" in markdown(page)


def test_double_borders_are_one_and_open_sides_close_where_the_rules_end() -> None:
    rules = [Rule(0, 200, y, y) for y in (50, 52, 80)] + [Rule(x, x, 30, 110) for x in (60, 120)]
    (found,) = find_grids(rules)
    assert [round(x) for x in found.xs] == [0, 60, 120, 200]
    assert [round(y) for y in found.ys] == [30, 51, 80, 110]
    assert len(found.cells) == 9


@pytest.mark.parametrize(
    "content",
    [
        b"BT /F1 9.5 Tf 1 0 0 -1 .5 -3. Tm [(a\\(b\\)) -12.5 <0041 42> (x(y)z)] TJ ET",
        b"(\\101\\53\\n\\\\ \\\r\nend) Tj /A#20B gs % (a comment)\n0 0 m 10 10 l S",
        b"/Span <</Lang (de) /MCID 3 /A [1 true]>> BDC q 1 g f* Q EMC",
        b"] >> 3 w",
    ],
)
def test_a_content_stream_is_read_as_by_pdfminer(content: bytes) -> None:
    parser = PDFContentParser([PDFStream({}, content)])
    expected = []
    try:
        while True:
            expected.append(parser.nextobject()[1])
    except PSEOF:
        pass
    assert list(read_objects(content)) == expected

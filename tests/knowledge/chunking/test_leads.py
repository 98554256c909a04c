"""The line that a passage goes on from, where the text was cut behind it."""

import pytest

from knowledge.chunking.leads import find_lead

EXAMS = "- 7 Form: written\n\n8 Examinations:\n\n- No.: 1; Type: exam; Share: 75 %"


@pytest.mark.parametrize(
    ("before", "text", "lead"),
    [
        ("The garden is open.\n\n8 Examinations:", "- No.: 1; Type: exam", "8 Examinations:"),
        ("4 Contents: Topics of the module:", "The module is about gardens.", "4 Contents: Topics of the module:"),
        (EXAMS, "- No.: 2; Type: essay; Share: 25 %", "8 Examinations:"),
        ("Bring these papers:\n\n- passport\n- photo", "- certificate\n- form", "Bring these papers:"),
        (EXAMS, "- 9 Course work: none", ""),
        (EXAMS, "The module is about gardens.", ""),
        ("Bring these papers:\n\n- passport", "The office is open.", ""),
        ("The garden is open.", "- passport", ""),
        (f"{'A long sentence that says a lot of things ' * 3}:", "- passport", ""),
        ("| Name: |", "| Garden |", ""),
        ("# Examinations:", "- No.: 1", ""),
        ("", "- passport", ""),
    ],
)
def test_a_passage_goes_on_from_a_line_with_a_colon_right_before_it_or_above_its_list(
    before: str, text: str, lead: str
) -> None:
    assert find_lead(before, text) == lead

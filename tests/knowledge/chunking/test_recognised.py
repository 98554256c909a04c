"""Passages that OCR has read, told from the lines of their pages."""

import pytest

from knowledge.chunking.recognised import has_recognised_line

LINES = ["Im ersten Semester belegen alle Studie-", "renden die Mathematik für Anfänger.", "6 ECTS"]


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("Vorher.\n\nIm ersten Semester belegen alle Studierenden die **Mathematik** für Anfänger.", True),
        ("renden die Mathematik\nfür Anfänger. Danach mehr.", True),
        ("Im zweiten Semester: 6 ECTS", False),
        ("", False),
    ],
)
def test_a_passage_with_a_line_that_was_read_is_told_from_others(passage: str, expected: bool) -> None:
    assert has_recognised_line(passage, LINES) is expected

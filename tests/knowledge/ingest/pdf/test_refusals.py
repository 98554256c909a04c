"""What is said of PDFs that become no text."""

import pytest

from knowledge.ingest.pdf.reader import read_pdf
from knowledge.ingest.pdf.types import BadPdf, Limits
from tests.knowledge import pdfs
from tests.knowledge.pdfs import pdf, text_pages


def reason(source: bytes, **limits: int) -> str:
    with pytest.raises(BadPdf) as bad:
        read_pdf(source, name="handbook.pdf", limits=Limits(**limits))
    return str(bad.value)


@pytest.mark.slow
def test_bad_files_are_named_with_what_is_wrong() -> None:
    whole = pdfs.handbook()
    for source, expected in {
        b"": "handbook.pdf: the file is empty",
        b"<html>": "handbook.pdf: it is not a PDF: it does not begin with %PDF-",
        whole[: len(whole) // 2]: "handbook.pdf: it is cut off: after ",
        pdf(
            *text_pages("secret"), password="opensesame"
        ): "handbook.pdf: it is encrypted and opens with a password only",
        pdfs.scanned(3): "handbook.pdf: it was scanned: 3 of 3 pages are pictures without a text layer",
        pdf(lambda sheet: None): "handbook.pdf: there is no text in it",
        pdfs.raw_pdf(pdfs.stream(b"no zlib stream, but garbage")): "handbook.pdf, page 1: its content is damaged",
        pdfs.raw_pdf(pdfs.stream(b""), count=9): "handbook.pdf, page 2: it is damaged: of 9 pages only 1 can be found",
    }.items():
        assert reason(source).startswith(expected)


def test_too_many_pages_are_refused_before_they_are_read() -> None:
    assert reason(pdfs.handbook(), pages=5) == "handbook.pdf: it has 6 pages; 5 are allowed"


@pytest.mark.slow
def test_a_bomb_of_memory_ends_nothing_but_itself() -> None:
    bomb = pdfs.memory_bomb(800_000_000)
    assert len(bomb) < 10_000
    said = reason(bomb, memory_bytes=400_000_000)
    assert said == "handbook.pdf, page 1: unpacked it needs more than 400 MB of memory"


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_given_up() -> None:
    assert reason(pdfs.time_bomb(), page_seconds=1).startswith("handbook.pdf, page 1: reading it takes longer than 1 s")

"""The process that reads pictures: what it reads, and what a picture that means harm does to it."""

import subprocess
import sys

import pytest

from knowledge.ingest.formats.reader import ROOT
from knowledge.ingest.ocr.reader import read_pictures
from knowledge.ingest.ocr.sandbox import refuse_network
from knowledge.ingest.ocr.types import OcrLimits, PageRead
from tests.knowledge import scans
from tests.knowledge.pdfs import pdf, text_pages


def problem(read: PageRead) -> str:
    assert not read.lines
    return str(read.problem)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_umlauts_figures_and_askew_and_turned_pages_are_read() -> None:
    askew, lying = scans.photographed(*scans.GERMAN, turned=1.2), scans.photographed(*scans.GERMAN, turned=90)
    file = pdf(scans.slip(askew), *text_pages("Text."), scans.slip(lying))
    first, third = read_pictures(file, [1, 3])
    assert (first.page, first.problem, third.page) == (1, None, 3)
    for read in (first, third):
        assert [line.text for line in sorted(read.lines, key=lambda line: line.top)] == list(scans.GERMAN)
    above, below = sorted(first.lines, key=lambda line: line.top)
    assert above.bottom < below.top  # set straight: they would overlap as they lie
    assert abs(above.x0 - below.x0) < 0.005


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_picture_that_means_harm_is_told_of_and_the_next_page_is_read() -> None:
    (bomb,), (broken,) = read_pictures(scans.bomb(), [1]), read_pictures(scans.broken(), [1])
    assert problem(bomb) == "its picture of 50000 × 50000 pixels is damaged or too large"
    assert problem(broken) == "its picture of 1190 × 1684 pixels is damaged or too large"
    # A process that dies of a page: it cannot hold what a page needs.
    file = pdf(*[scans.slip(scans.photographed(*scans.GERMAN))] * 2)
    reads = list(read_pictures(file, [1, 2], limits=OcrLimits(memory_bytes=700_000_000)))
    assert [read.page for read in reads] == [1, 2]
    assert all("memory" in problem(read) or "damaged" in problem(read) for read in reads)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_page_that_takes_too_long_is_given_up() -> None:
    file = pdf(scans.slip(scans.photographed(*scans.GERMAN)))
    (read,) = read_pictures(file, [1], limits=OcrLimits(page_seconds=0))
    assert problem(read).startswith("reading its picture takes longer than")
    (read,) = read_pictures(file, [1], limits=OcrLimits(page_cpu_seconds=0))
    assert problem(read) == "its picture needs more memory or time than a page should"


def test_nothing_is_downloaded_whatever_a_library_would_like() -> None:
    with pytest.raises(PermissionError, match="without a network"):
        refuse_network("socket.connect", ())
    refuse_network("open", ())
    tries = (
        "import sys, urllib.request; from knowledge.ingest.ocr.sandbox import refuse_network; "
        "sys.addaudithook(refuse_network); urllib.request.urlopen('http://127.0.0.1:9/model.onnx')"
    )
    ended = subprocess.run([sys.executable, "-c", tries], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "pictures are read without a network" in ended.stderr


def test_all_models_that_are_named_are_in_the_wheel() -> None:
    """What is not named RapidOCR downloads."""
    import rapidocr

    from knowledge.ingest.ocr.engine import DETECTION, MODELS, RECOGNITION

    assert str(MODELS).startswith(str(next(iter(rapidocr.__path__))))
    assert all(path.stat().st_size > 1_000_000 for path in (DETECTION, RECOGNITION))

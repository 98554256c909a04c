"""Cells that no spreadsheet runs, however it takes the file apart."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tables.cells import neutralise, restore
from tests.growth import grows_linearly

TEXTS = st.text() | st.text(alphabet="=+-@'\"; \t\r\na1,＝＠")
#: A cell that is run: spaces and quotation marks before it do not hinder every spreadsheet.
RUNS = re.compile(r"""[\s"]*[=+\-@＝＋－＠]|[\t\r]""")
ENDS = re.compile(r"[;\t]|\r\n|\r|\n")


@given(TEXTS)
def test_no_part_of_a_cell_is_run_and_it_is_read_as_it_was(text: str) -> None:
    cell = neutralise(text)
    assert not RUNS.match(cell)
    assert not [part for part in ENDS.split(cell) if re.match(r"""[\s"]*[=+\-@＝＋－＠]""", part)]
    assert restore(cell) == text


@pytest.mark.parametrize(
    "formula",
    [*("=1+1", "+1", "-1", "@SUM(1)", " =1", "\t=1", "\r=1", "\n=1", "\u00a0=1", "＝1", "＋1", "－1", "＠1", "'=1")],
)
@pytest.mark.parametrize("before", ["", "a;", "a; ", "a\n", "a\r\n", "a\r", "a\t", 'a;"', "a, b;", ";"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_way_of_reading_the_file_makes_a_formula_of_it(before: str, formula: str, delimiter: str) -> None:
    stream, text = io.StringIO(), f"{before}{formula}"
    csv.writer(stream).writerow(["first", neutralise(text), "last"])
    read = csv.reader(io.StringIO(stream.getvalue(), newline=""), delimiter=delimiter)
    assert not [cell for row in read for cell in row if RUNS.match(cell)]
    assert restore(neutralise(text)) == text


@pytest.mark.parametrize("text", ["Fees", "a - b", "1=1", "from 3 - 5 p.m.", "'quoted'", "a, -b", "O'Neill", ""])
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert neutralise(text) == text


@pytest.mark.parametrize("piece", ["\n", "'", ";", "\t", "=", "\r\n'", " -", "a;=1"])
def test_the_time_grows_with_the_length(piece: str) -> None:
    assert grows_linearly(lambda text: restore(neutralise(text)), lambda size: piece * size)

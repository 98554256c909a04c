"""Tables that OCR has read: their boxes stand in columns and rows, and nothing else does."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import reportlab
from PIL import Image, ImageDraw, ImageFont

from knowledge.ingest.ocr.reader import read_pictures
from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.document import write_text
from knowledge.ingest.pdf.extract import page_read
from knowledge.ingest.pdf.pages import Pages
from tests.knowledge import scans

PLAN = [
    ("Semester", "Modul", "ECTS", "Prüfung"),
    ("1", "Mathematik für Informatik", "9", "Klausur"),
    ("1", "Programmierung in Java", "6", "Klausur"),
    ("2", "Technische Informatik", "6", "mündlich"),
    ("2", "Algorithmen und Datenstrukturen", "9", "Klausur"),
    ("3", "Betriebssysteme", "6", "Klausur"),
    ("3", "Datenbanken", "6", "mündlich"),
    ("4", "Softwaretechnik", "12", "Projekt"),
    ("4", "Bachelorarbeit", "12", "Arbeit"),
]
EDGES = (0.05, 0.2, 0.65, 0.8)
VERA = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
SENTENCE = "Die Anmeldung ist im Prüfungsamt möglich"


def read(lines: Sequence[ReadLine]) -> str:
    pages, pieces = Pages(), list[str]()
    pages.append(page_read(lines, width=595, height=842))
    write_text(pages, pieces.append, leave_pictures=True, marks_pages=False)
    return "".join(pieces).strip()


def cell(text: str, x: float, top: float) -> ReadLine:
    return ReadLine(text, x, top, x + 0.01 * len(text), top + 0.016)


def cells(rows: Sequence[Sequence[str]], *, top: float = 0.2, step: float = 0.04) -> list[ReadLine]:
    places = [(row, top + step * number) for number, row in enumerate(rows)]
    return [cell(text, x, at) for row, at in places for text, x in zip(row, EDGES, strict=False) if text]


def said(row: Sequence[str]) -> str:
    return "- " + "; ".join(f"{name}: {value}" for name, value in zip(PLAN[0], row, strict=True) if value)


def test_a_plan_is_read_row_by_row_between_its_title_and_its_note() -> None:
    title, note = (
        cell("Studienverlaufsplan", 0.05, 0.1),
        cell("Alle Angaben ohne Gewähr, sagt die Beratung.", 0.05, 0.7),
    )
    text = read([note, *cells(PLAN), title])
    assert text.split("\n\n") == [title.text, "\n".join(map(said, PLAN[1:])), note.text]


def test_the_lines_of_a_cell_are_one_and_an_empty_cell_is_none() -> None:
    rows = cells([PLAN[0], ("1", "", "", "Klausur"), ("2", "", "6", ""), ("3", "", "6", "mündlich")], step=0.06)
    for number, (first, second) in enumerate(
        (("Einführung in die", "Informatik"), ("Daten-", "banken"), ("Netze", "I"))
    ):
        top = 0.26 + 0.06 * number
        rows += [cell(first, EDGES[1], top - 0.01), cell(second, EDGES[1], top + 0.01)]
    assert read(rows).split("\n") == [
        "- Semester: 1; Modul: Einführung in die Informatik; Prüfung: Klausur",
        "- Semester: 2; Modul: Datenbanken; ECTS: 6",
        "- Semester: 3; Modul: Netze I; ECTS: 6; Prüfung: mündlich",
    ]


SPANNING = "Wahlpflichtbereich im zweiten Studienjahr (30 Leistungspunkte)"


@pytest.mark.parametrize("header", [[], PLAN[:1]])
def test_a_cell_that_spans_columns_does_not_end_the_table(header: Sequence[Sequence[str]]) -> None:
    lines = [*cells(PLAN[:5]), cell(SPANNING, 0.05, 0.4), *cells([*header, *PLAN[5:]], top=0.44)]
    assert read(lines).split("\n") == [*map(said, PLAN[1:5]), f"- {SPANNING}", *map(said, PLAN[5:])]


def test_a_sentence_below_a_table_and_the_title_of_the_next_one_are_no_cells() -> None:
    other = [("Raum", "Anschrift", "Etage", "Plan"), ("1", "Am Markt", "2", "A"), ("2", "Am Tor", "3", "B")]
    lines = [*cells(PLAN[:4]), cell(SPANNING, 0.05, 0.36), *cells(other, top=0.4), cell(SENTENCE, 0.05, 0.52)]
    rows = [*map(said, PLAN[1:4])], ["- Raum: 1; Anschrift: Am Markt; Etage: 2; Plan: A",
                                     "- Raum: 2; Anschrift: Am Tor; Etage: 3; Plan: B"]  # fmt: skip
    assert read(lines).split("\n\n") == ["\n".join(rows[0]), SPANNING, "\n".join(rows[1]), SENTENCE]


def pairs(rows: Sequence[tuple[str, str]]) -> list[ReadLine]:
    places = [(row, 0.2 + 0.02 * number) for number, row in enumerate(rows)]
    return [cell(text, x, at) for row, at in places for text, x in zip(row, (0.05, 0.6), strict=True) if text]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [("Modul:", "Analysis"), ("Inhalte:", "Folgen und"), ("", "Reihen"), ("ECTS:", "9"), ("Stand 2026", "")],
            ["- Modul: Analysis", "- Inhalte: Folgen und Reihen", "- ECTS: 9", "", "Stand 2026"],
        ),
        (
            [("Montag", "8 bis 20 Uhr"), ("Dienstag", "8 bis 18 Uhr"), ("Samstag", "10 bis 14 Uhr")],
            ["- Montag: 8 bis 20 Uhr", "- Dienstag: 8 bis 18 Uhr", "- Samstag: 10 bis 14 Uhr"],
        ),
        (
            [("Modul", "ECTS"), ("Analysis", "9"), ("Algebra", "6"), ("Netze", "6")],
            ["- Modul: Analysis; ECTS: 9", "- Modul: Algebra; ECTS: 6", "- Modul: Netze; ECTS: 6"],
        ),
    ],
)
def test_labels_and_values_that_clearly_are_such_stay_rows(rows: list[tuple[str, str]], expected: list[str]) -> None:
    assert read(pairs(rows)).split("\n") == expected


@pytest.mark.parametrize(
    "rows",
    [
        [("Inhalt", "Seite"), ("Einleitung", "5"), ("Aufbau", "12"), ("Ende", "19")],
        [("Einleitung", "5"), ("Geschichte", "8"), ("Aufbau", "12"), ("Ende", "19")],
        [("Einleitung..", "..5"), ("Geschichte", ".8"), ("Aufbau...", "..12"), ("Ende", "..19")],
        [("Analysis", "Botanik"), ("Algebra", "Zoologie"), ("Netze", "Genetik"), ("Logik", "Ökologie")],
        [("Wir beraten: seit", "Raum 7 im Haus"), ("dem Jahr 2019 auch", "nebenan. Wer fragt,"),
         ("Lehrende. Kommen Sie", "bekommt Antwort."), ("vorbei, wann immer", "Bis bald.")],
    ],
)  # fmt: skip
def test_other_lines_in_two_columns_are_no_labels_and_values(rows: list[tuple[str, str]]) -> None:
    assert not any(line.startswith("- ") for line in read(pairs(rows)).split("\n"))


def test_a_table_without_names_is_said_plainly() -> None:
    assert read(cells([("Mo", "", "9"), ("Di", "Saal", "10"), ("Mi", "Saal", "11"), ("Do", "Aula", "12")])).split(
        "\n"
    ) == [
        "- Mo: 9",
        "- Di; Saal; 10",
        "- Mi; Saal; 11",
        "- Do; Aula; 12",
    ]


@pytest.mark.parametrize("columns", [2, 3])
def test_prose_in_columns_is_no_table(columns: int) -> None:
    width = 0.9 / columns - 0.03
    lines = [
        ReadLine(f"{SENTENCE} {row}", 0.05 + 0.9 / columns * column, 0.1 + 0.02 * row, 0, 0.116 + 0.02 * row)
        for column in range(columns)
        for row in range(12)
    ]
    text = read([line._replace(x1=line.x0 + width) for line in lines])
    assert "- " not in text
    assert ";" not in text
    assert all(line.text in " ".join(text.split()) for line in lines)


def test_two_columns_of_marked_paragraphs_are_no_table() -> None:
    lines = []
    for x in (0.05, 0.55):
        for row in range(12):
            marker = [ReadLine(f"{row // 3 + 1}.", x, 0.1 + 0.02 * row, x + 0.02, 0.116 + 0.02 * row)]
            lines += marker if row % 3 == 0 else []
            lines.append(ReadLine(f"{SENTENCE} {row}", x + 0.05, 0.1 + 0.02 * row, x + 0.4, 0.116 + 0.02 * row))
    assert ";" not in read(lines)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_drawn_plan_is_read_row_by_row() -> None:
    picture, font = Image.new("RGB", (1400, 900), "white"), ImageFont.truetype(VERA, 22)
    draw = ImageDraw.Draw(picture)
    for number, row in enumerate(PLAN):
        for x, after, text in zip(EDGES, (*EDGES[1:], 0.97), row, strict=True):
            box = (1400 * x, 100 + 70 * number, 1400 * after, 170 + 70 * number)
            draw.rectangle(box, outline="black")
            draw.text((box[0] + 12, box[1] + 22), text, font=font, fill="black")
    (page,) = read_pictures(scans.file_of(picture), [1])
    assert read(page.lines).split("\n") == [said(row) for row in PLAN[1:]]

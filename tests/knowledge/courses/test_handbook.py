"""Modules that a document describes are read as records of courses, whatever form it has."""

from decimal import Decimal

import pytest
from django.utils.translation import override

from knowledge.courses.labels import find_label
from knowledge.courses.modules import ReadModule, read_modules

ADDRESS = "https://uni.example/handbook.pdf"
FORM = """<!-- page 4 -->

# Gärten und Parks

- Modultitel deutsch: Gärten und Parks
- Modultitel englisch: Gardens and Parks
- Studiengang: Bachelor Landschaft
- 1 Modulnummer: LA 1; Status: Pflicht; Unterrichtssprache: deutsch
- 2 Turnus: jedes Wintersemester; Dauer: 1 Semester; Fachsemester: 1 oder 2; LP: 6; Workload (h): 180

3 Modulstruktur:

- Nr.: 1; Typ: Vorlesung; Veranstaltung: Parks; Status: Wahlpflicht; LP: 3
- Nr.: 2; Typ: Übung; Veranstaltung: Begehung; Status: Pflicht; LP: 3

4 Lehrinhalte: Hintergrund:

Parks in Städten.

- Themen: Bäume; Lernziele: Bäume bestimmen

<!-- page 5 -->

5 Erworbene Kompetenzen: Fachliche Kompetenzen:

Die Studierenden planen einen Park.

- 6 Wahlmöglichkeiten: keine
- 7 Leistungsüberprüfung: Modulabschlussprüfung

8 Prüfungsleistungen:

- Anzahl und Art: Klausur; Dauer: 90 Min.

- 9 Modulbezogene Teilnahmevoraussetzungen: keine
- 10 Modulbeauftragte/r: Prof. Ahorn; Einrichtung: Fachbereich Landschaft
"""
OTHERS = """
# Wiesen
- 1 Modulnummer: LA 2; Status: Wahlpflicht
- 2 Turnus: jedes Semester; LP: 4,5; Fachsemester: 1 bis 4

# Wälder
- 1 Modulnummer: LA 3; Status: Pflicht
- 2 Turnus: jedes Semester; LP: 6 - 12
"""


def read(text: str, language: str = "de") -> list[ReadModule]:
    return read_modules(text, url=ADDRESS, language=language)


def test_a_form_of_labels_and_values_becomes_a_record() -> None:
    first, meadows, woods = read(FORM + OTHERS)
    record = first.record
    assert record is not None
    assert (record.code, record.name, record.ects) == ("LA 1", "Gärten und Parks", Decimal(6))
    assert (record.year, record.is_mandatory, record.language) == (1, True, "de")
    assert record.url == f"{ADDRESS}#page=4&module=la1"
    assert record.programme.startswith("- Nr.: 1; Typ: Vorlesung")
    assert record.contents == "Hintergrund:\n\nParks in Städten.\n\n- Themen: Bäume; Lernziele: Bäume bestimmen"
    assert record.objectives == "Fachliche Kompetenzen:\n\nDie Studierenden planen einen Park."
    assert record.assessment == (
        "Leistungsüberprüfung: Modulabschlussprüfung\n\n"
        "Prüfungsleistungen:\n\n- Anzahl und Art: Klausur; Dauer: 90 Min."
    )
    assert record.prerequisites == "keine"
    assert {"Turnus", "Workload (h)", "Wahlmöglichkeiten", "Modulbeauftragte/r", "Einrichtung"} <= set(first.left)
    assert meadows.record
    assert (meadows.record.ects, meadows.record.year) == (Decimal("4.5"), None)
    assert "Fachsemester" in meadows.left
    assert woods.record
    assert woods.record.ects is None
    with override("en"):
        assert read(FORM + OTHERS)[2].remarks == ("“LP” was not read: 6 - 12",)


def test_the_name_is_the_one_in_the_documents_language() -> None:
    english = read(FORM + OTHERS, language="en")[0].record
    assert english
    assert english.name == "Gardens and Parks"


@pytest.mark.parametrize(
    "form",
    [
        "## {name}\n\n**Module code:** {code}\n\n**Credits:** 6\n\n**Lecturer:** N. N.\n\n**Content**\n\nTrees.\n",
        "## {name}\n\n| Module code | {code} |\n| --- | --- |\n| Credits (ECTS) | 6 |\n| Content | Trees. |\n",
        "## {name}\n\n| Module code | Credits | Content |\n| --- | --- | --- |\n| {code} | 6 ECTS | Trees. |\n",
        "## {name}\n\n### General information\n\n- Code: {code}\n- CP: 6\n\n### Content\n\nTrees.\n",
        "## {code} {name}\n\n- Credits: 6\n- Turn: yearly\n- Content: Trees.\n",
        "## 3.1. {name} ({code})\n\nCredits: 6\n\nDuration: one term\n\nContent: Trees.\n",
    ],
)
def test_other_forms_are_read_too(form: str) -> None:
    text = "# Modules\n\nAll of them.\n\n" + "".join(
        form.format(name=name, code=code) for name, code in (("Parks", "LA-1"), ("Meadows", "LA-2"), ("Woods", "LA-3"))
    )
    records = [module.record for module in read(text, language="en")]
    assert [(each.code, each.name, each.ects, each.contents) for each in records if each] == [
        ("LA-1", "Parks", Decimal(6), "Trees."),
        ("LA-2", "Meadows", Decimal(6), "Trees."),
        ("LA-3", "Woods", Decimal(6), "Trees."),
    ]


def test_a_module_without_a_heading_begins_where_its_name_or_code_is_said_again() -> None:
    text = "".join(
        f"- Module title: {name}\n- Module no.: {name[:2]}1\n- CP: 6\n\n" for name in ("Ants", "Bees", "Crows")
    )
    assert [(each.name, each.code) for each in read(f"# Handbook\n\n{text}")] == [
        ("Ants", "An1"),
        ("Bees", "Be1"),
        ("Crows", "Cr1"),
    ]


def test_a_form_that_says_its_code_twice_is_one_module() -> None:
    twice = FORM.replace("3 Modulstruktur", "- 1 Modulnummer: LA 1; Status: Pflicht\n\n3 Modulstruktur") + OTHERS
    assert [module.code for module in read(twice)] == ["LA 1", "LA 2", "LA 3"]


def test_a_row_that_was_taken_for_a_heading_does_not_cut_a_module_in_two() -> None:
    cut = FORM.replace("- 2 Turnus", "# Status\n\n- 2 Turnus") + OTHERS
    assert [module.record.ects for module in read(cut) if module.record] == [Decimal(6), Decimal("4.5"), None]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Fees\n\nCredits: 6 for each course.\n\n# Dates\n\nCode: none.\n",
        "# One\n- Code: A1\n- LP: 6\n- Turnus: jährlich\n\n# Two\n- Code: A2\n- LP: 6\n- Turnus: jährlich\n",
        "| Code | Name | ECTS |\n| --- | --- | --- |\n| A1 | One | 6 |\n| A2 | Two | 6 |\n| A3 | Three | 6 |\n",
    ],
)
def test_what_is_no_handbook_proposes_nothing(text: str) -> None:
    assert read(text) == []


def test_what_cannot_be_told_from_others_is_named_and_not_read() -> None:
    text = FORM + OTHERS.replace("LA 2", "").replace("LA 3", "LA-1")
    with override("en"):
        modules = read(text)
    assert [module.problems for module in modules] == [
        (),
        ("no code is given, so that it cannot be told from others",),
        ("it has the same code as “Gärten und Parks”, which stands before it",),
    ]
    assert [module.record is None for module in modules] == [False, True, True]


@pytest.mark.parametrize(
    ("said", "read_as"),
    [
        ("Pflicht", True),
        ("elective", False),
        ("[ ] Pflicht - [x] Wahlpflichtmodul", False),
        ("[x] P [ ] WP", None),
        ("Pflicht oder Wahlpflicht", None),
    ],
)
def test_whether_it_is_mandatory_is_read_only_where_it_is_clear(said: str, read_as: bool | None) -> None:
    record = read(FORM.replace("Status: Pflicht; Unterr", f"Status: {said}; Unterr") + OTHERS)[0].record
    assert record
    assert record.is_mandatory is read_as


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Modul-Nr.", "code"),
        ("**12) Learning outcomes**", "objectives"),
        ("Modulverantwortliche:r", "left"),
        ("LEISTUNGSPUNKTE (ECTS)", "ects"),
        ("Empfohlene Vorkenntnisse", "prerequisites"),
        ("Weather", None),
    ],
)
def test_labels_are_compared_without_signs_and_numbers(words: str, field: str | None) -> None:
    label = find_label(words)
    assert (label.field if label else None) == field

"""Titles that tell documents apart."""

import pytest

from knowledge.ingest.titles import read_cover, tell_apart
from tests.factories import CollectionFactory, DocumentFactory

COVER = (
    "<!-- page 1 -->\n# Modulhandbuch\n\nBachelorstudiengang **Informatik** (B. Sc.)\n\nPO-Version 2021, "
    "Stand: 1. Oktober 2024\n\n<!-- page 2 -->\n\nMasterstudiengang Biologie\n"
)
SAID = "Bachelorstudiengang Informatik (B. Sc.), PO-Version 2021, Stand: 1. Oktober 2024"


def test_the_cover_names_programme_regulation_and_date() -> None:
    assert ", ".join(read_cover(COVER, "Modulhandbuch")) == SAID
    regulation = "Studien- und Prüfungsordnung für den Masterstudiengang Biologie vom 3. Mai 2019"
    assert read_cover(f"# Universität Lindental\n\n{regulation}\n", "Universität Lindental") == [regulation]
    regulation = "Prüfungsordnung für den Masterstudiengang Biologie vom 3. Mai 2019"
    assert read_cover(f"# Universität Lindental\n\n{regulation}\n", "Universität Lindental") == [regulation]
    assert read_cover("# Parking\n\nPark behind the library.\n", "Parking") == []


@pytest.mark.parametrize(
    ("cover", "expected"),
    [
        (
            "für den Studiengang Betriebswirtschaftslehre der Universität Lindental mit dem Abschluss Bachelor of "
            "Science (Prüfungsordnung 2017) gültig ab dem WS 2018/19",
            [
                "Studiengang Betriebswirtschaftslehre, Bachelor of Science",
                "Prüfungsordnung 2017",
                "gültig ab dem WS 2018/19",
            ],
        ),
        (
            "zur Ordnung für die Prüfungen im Studiengang Informatik mit dem Abschluss Bachelor of Science vom 11. "
            "Januar 2022 (PO 2022) für Studierende ab dem WiSe 2023/24",
            ["Studiengang Informatik, Bachelor of Science", "PO 2022", "WiSe 2023/24"],
        ),
        (
            "für den konsekutiven Masterstudiengang Physik an der Universität Lindental (PO 2010) vom 7. Juli 2010 in "
            "der Fassung vom 29.10.2014",
            ["Masterstudiengang Physik", "PO 2010", "Fassung vom 29.10.2014"],
        ),
        (
            "Modulhandbuch für den B.Sc. Geschichte der Naturwissenschaften an der Universität Lindental, ab "
            "Sommersemester 2020, für alle Studierenden",
            ["B.Sc. Geschichte der Naturwissenschaften", "Sommersemester 2020"],
        ),
        (
            "of the Master of Science in Information Systems of the University of Lindental",
            ["Master of Science in Information Systems"],
        ),
        (
            "for the course program “Business Development” (M.Sc.) at the University of Lindental",
            ["course program “Business Development” (M.Sc.)"],
        ),
        ("Mechatronik (B.Eng.)\n\nStand: 16. Februar 2017", ["Mechatronik (B.Eng.)", "Stand: 16. Februar 2017"]),
        (
            "Master of Science in Physics (PO 2010)\n\nJuly 2015",
            ["Master of Science in Physics", "PO 2010", "July 2015"],
        ),
        (
            "Im Masterstudiengang lernen Sie, wie man Fragen stellt, sie beantwortet und beides so aufschreibt, dass "
            "andere es verstehen und prüfen können.",
            [],
        ),
    ],
)
def test_a_cover_is_read_without_the_institution_and_a_sentence_is_none(cover: str, expected: list[str]) -> None:
    assert read_cover(f"<!-- page 1 -->\n# Modulhandbuch\n\n{cover}\n", "Modulhandbuch") == expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Modulbeschreibungen", COVER, f"Modulbeschreibungen: {SAID}"),
        ("Contents", "Nothing on the cover.", "Contents (mh inf 2021)"),
        ("Universität Lindental", COVER, f"Universität Lindental: {SAID}"),
        ("Universität Lindental", "Nothing on the cover.", "Universität Lindental (mh inf 2021)"),
        ("Parking", COVER, "Parking"),
    ],
)
def test_a_title_that_says_nothing_or_is_taken_gets_more_words(title: str, text: str, expected: str) -> None:
    there = DocumentFactory(title="Universität Lindental", url="https://www.uni.example/other.pdf")
    given = {"text": text, "names": ["mh inf 2021"], "collection": there.collection}
    assert tell_apart(title, url="https://www.uni.example/new.pdf", **given) == expected


@pytest.mark.django_db
def test_a_documents_own_title_is_not_taken() -> None:
    there = DocumentFactory(title="Universität Lindental", url="https://www.uni.example/a.pdf")
    for collection, url in ((there.collection, there.url), (CollectionFactory(), "https://www.uni.example/b.pdf")):
        title = tell_apart(there.title, text=COVER, names=["a"], collection=collection, url=url)
        assert title == "Universität Lindental"


@pytest.mark.django_db
def test_the_file_is_named_too_where_covers_are_alike() -> None:
    there = DocumentFactory(title=f"Modulhandbuch: {SAID}", url="https://www.uni.example/a.pdf")
    title = tell_apart(
        "Modulhandbuch", text=COVER, names=["b"], collection=there.collection, url="https://a.example/b.pdf"
    )
    assert title == f"Modulhandbuch: {SAID} (b)"


@pytest.mark.django_db
def test_the_first_name_counts_that_no_other_document_has() -> None:
    there = DocumentFactory(title="Overview")
    DocumentFactory(title="Overview (News)", collection=there.collection)
    names = ("", "News", "OVERVIEW", "master/overview", "more")
    title = tell_apart("Overview", text="", names=names, collection=there.collection, url="https://a.example/b")
    assert title == "Overview (master/overview)"

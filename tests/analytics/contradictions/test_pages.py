"""What stands on pages of one kind about two subjects, or needs what is around it, contradicts nothing."""

import pytest

from tests.analytics.contradictions.test_detection import kinds, source

QUORUM = "The council has a quorum if {} members of the council of students attend."


@pytest.mark.parametrize(
    ("one", "other", "headings"),
    [
        ("Statutes of the students of biology", "Statutes of the students of law", ()),
        ("Compiling programs on Mahti", "Compiling programs on Puhti", ()),
        ("Course plan with 4 terms (120 credits)", "Course plan with 3 terms (90 credits)", ()),
        ("Statutes of the students of biology in Bonn", "Statutes for students of law", ()),
        ("Handbook of chemistry", "Handbook of forestry", ("Quorum of the council",)),
    ],
)
def test_pages_of_one_kind_about_two_subjects_are_not_compared(one: str, other: str, headings: tuple[str, ...]) -> None:
    first = source("document-1", QUORUM.format(20), one, headings=(one, *headings))
    assert kinds(first, source("document-2", QUORUM.format(30), other, headings=(other, *headings))) == []
    assert kinds(first, source("document-2", QUORUM.format(30), one, headings=(one, *headings))) == ["figure"]


@pytest.mark.parametrize(
    ("one", "other"), [("Quorum", "News of the council"), ("Publishing and open access", "Open access in history")]
)
def test_pages_that_only_share_words_are_compared(one: str, other: str) -> None:
    first = source("document-1", QUORUM.format(20), one, headings=(one,))
    assert kinds(first, source("document-2", QUORUM.format(30), other, headings=(other,))) == ["figure"]


def test_names_tell_two_subjects_apart() -> None:
    one = source("document-1", "Each user of the cluster Roihu has a home directory for up to 15 GB of data.")
    other = source("document-2", "Each user of the cluster Puhti has a home directory for up to 10 GB of data.")
    assert kinds(one, other) == []
    same = source("document-2", "Each user of the cluster Roihu has a home directory for up to 10 GB of data.")
    assert kinds(one, same) == ["figure"]


def test_a_name_on_one_side_differs_from_a_heading_of_the_other_side() -> None:
    text = "Authors of the university receive a discount of {} percent on the publication fee in journals{}."
    named = source("document-1", text.format(20, " of the publisher Gruyter"), headings=("Fees", "Gruyter"))
    plain = text.format(25, "")
    assert kinds(named, source("document-2", plain, headings=("Fees", "Hogrefe"))) == []
    assert kinds(named, source("document-2", plain, headings=("Fees",))) == ["figure"]


def test_parts_of_sentences_are_compared_under_the_same_words_only() -> None:
    one = source("document-1", "- must contain at least 12 characters", headings=("Password",), title="Your account")
    other = source("document-2", "- must contain at least 8 characters", headings=("SSH keys",), title="Connecting")
    assert kinds(one, other) == []


def test_a_master_page_that_mentions_the_bachelor_contradicts_no_bachelor_page() -> None:
    text = "The usual time of study in this applied programme of computer science is {} terms{}."
    one = source("document-1", text.format(7, ""), "Plan of the bachelor")
    other = source("document-2", text.format(4, ", depending on your bachelor"), "Computer science master")
    assert kinds(one, other) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "```\ncd /scratch/archive of the university printers 2000123\n```",
            "```\ncd /scratch/archive of the university printers 2000456\n```",
        ),
        (
            "The rules of the library fees stand in the fee regulations (PDF, 285 KB).",
            "The rules of the library fees stand in the fee regulations (PDF, 880 KB).",
        ),
        (
            "(3) the important points of every debate of the student parliament",
            "(8) the important points of every debate of the student parliament",
        ),
        (
            "The storage of the cluster reaches 50 GB in dedicated tests of the operators.",
            "The storage of the cluster reaches 2 GB per node in dedicated tests of the operators.",
        ),
        (
            "Springer textbook of campus printing services, Wiesbaden 2016",
            "Springer textbook of campus printing services, Wiesbaden 2019",
        ),
        ("At most 12 jobs of a user run on the queue gpu72.", "At most 12 jobs of a user run on the queue gpu80."),
        ("As amended by the student board on April 17, 2017.", "As amended by the student board on June 12, 2017."),
        (
            "The default disk quota of the archive is up to 100 GB for all users.",
            "The default disk quota of the archive is 20 GB for all users.",
        ),
        ("Visit the archive of the faculty in room M 305.", "Visit the archive of the faculty in room M 205."),
        (
            "| Volume | Units of the archive | Package |\n|---|---|---|\n| 200 GB | 8000 | small archive package |",
            "| Volume | Units of the archive | Package |\n|---|---|---|\n| 500 GB | 9000 | small archive package |",
        ),
    ],
)
def test_numbers_of_other_things_are_no_contradiction(one: str, other: str) -> None:
    assert kinds(source("document-1", one), source("document-2", other)) == []


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        (
            "Erhält im ersten Wahlgang kein Kandidat die Mehrheit der Stimmen, so folgt ein zweiter Wahlgang.",
            "Erhält im ersten Wahlgang kein/keine Kandidat*in die Mehrheit der Stimmen, so folgt ein zweiter Wahlgang.",
            "de",
        ),
        (
            "Das Parlament setzt für Untersuchungen ständige und nicht ständige Ausschüsse ein.",
            "Das Parlament setzt für Untersuchungen ständige und nichtständige Ausschüsse ein.",
            "de",
        ),
        (
            "Discharge of the treasurer cannot be refused if the audit finds no faults.",
            "Discharge of the treasurer can be refused if the audit finds faults.",
            "en",
        ),
        (
            "A secret vote of the student parliament is not possible.",
            "A secret vote of the student parliament is prohibited.",
            "en",
        ),
        (
            "The computing service Puhti will be shut down by 31 July 2026.",
            "The computing service Puhti has been shut down since 31 July 2026.",
            "en",
        ),
        ("Open the gateway application of the archive.", "Do not close the gateway application of the archive.", "en"),
    ],
)
def test_the_same_in_other_words_is_no_contradiction(one: str, other: str, language: str) -> None:
    sides = [source(f"document-{n}", text, language=language) for n, text in enumerate((one, other))]
    assert kinds(*sides) == []

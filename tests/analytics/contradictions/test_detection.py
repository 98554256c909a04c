"""What contradicts what: the same matter with another value, and neither another programme, term nor wording."""

import pytest

from analytics.contradictions.candidates import count_words
from analytics.contradictions.comparison.statements import Source, read_statements
from analytics.contradictions.detection import detect

FILLERS = (
    "The library lends laptops at the information desk.",
    "Rehearsals of the university choir take place in the old chapel.",
    "Lockers in the sports hall open with the student card.",
    "The printing shop binds theses within two working days.",
    "Visitors park behind the botanical garden.",
    "Der Hochschulsport bietet Kurse in Rudern und Klettern an.",
)


def source(owner: str, text: str, title: str = "Good to know", **values: object) -> Source:
    given: dict[str, object] = {"headings": (), "language": "en", "groups": frozenset({0})} | values
    return Source(owner, title, text=text, **given)  # type: ignore[arg-type]


def kinds(*sources: Source) -> list[str]:
    """Return the kinds of what is found between these sources, with others around them."""
    others = [source(f"filler-{number}", text, "Campus") for number, text in enumerate(FILLERS)]
    everything = [*sources, *others]
    statements = read_statements(everything)
    return [each.difference.kind for each in detect(everything, statements, count_words(statements), {})]


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (
            "The semester contribution for all students is €318.40.",
            "Please note: the semester contribution for all students is €340.00.",
            "figure",
        ),
        (
            "Applications for the housing lottery must arrive by 15 July.",
            "Applications for the housing lottery must arrive by 15 June.",
            "date",
        ),
        (
            "The reading room of the law faculty opens at 9:00 on weekdays.",
            "The reading room of the law faculty opens at 10:00 on weekdays.",
            "date",
        ),
        (
            "The faculty of forestry was founded in 1868 by the duke.",
            "The faculty of forestry was founded in 1886 by the duke.",
            "date",
        ),
        (
            "Guests can borrow books from the university archive.",
            "Guests cannot borrow books from the university archive.",
            "modality",
        ),
        (
            "The entrance exam for sports science is open to guests.",
            "The entrance exam for sports science is closed to guests.",
            "polarity",
        ),
        (
            "Exchange students need at least 20 credits for the scholarship.",
            "Exchange students need at most 20 credits for the scholarship.",
            "bound",
        ),
        (
            "Students must attend the safety briefing of the laboratory.",
            "Students need not attend the safety briefing of the laboratory.",
            "modality",
        ),
        (
            "Hand in the learning agreement before the exchange semester.",
            "Hand in the learning agreement after the exchange semester.",
            "bound",
        ),
    ],
)
def test_the_same_matter_with_another_value_is_found(one: str, other: str, kind: str) -> None:
    assert kinds(source("document-1", one), source("document-2", other)) == [kind]


def test_a_german_deadline_is_found_and_not_across_languages() -> None:
    one = source("document-1", "Die Rückmeldung zum Sommersemester endet am 15. Februar.", language="de")
    other = source("document-2", "Die Rückmeldung zum Sommersemester endet am 28. Februar.", language="de-DE")
    assert kinds(one, other) == ["date"]
    assert kinds(one, source("document-2", "Die Rückmeldung zum Sommersemester endet am 28. Februar.")) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deadline for bachelor applicants is 15 July.", "The deadline for master applicants is 31 May."),
        ("In the winter semester 2025/26 the fee is €300.", "In the winter semester 2026/27 the fee is €310."),
        ("The term paper has 15 pages in the seminar CS 101.", "The term paper has 20 pages in the seminar CS 204."),
        ("The semester fee of all students is €318.40.", "The semester fee of all students is 318,40 euros."),
        ("The course lasts two weeks for all participants.", "The course lasts 14 days for all participants."),
        ("The swimming hall opens at 8:00 for students.", "The climbing hall opens at 9:00 for students."),
        ("Season 2 of the campus series had good reviews.", "Season 3 of the campus series had good reviews."),
        ("The open day of the university is on 12 May 2025.", "The open day of the university is on 12 May 2026."),
        ("Must students attend the safety briefing?", "Need students not attend the safety briefing?"),
        (
            "For news of the campus printers, see the notes of the service from 2 May 2026.",
            "For news of the campus printers, see the notes of the service from 6 April 2026.",
        ),
        (
            '"The printers of the campus library take 40 minutes for every thesis."',
            '"The printers of the campus library take 20 minutes for every thesis."',
        ),
    ],
)
def test_other_programmes_terms_things_and_notations_are_no_contradiction(one: str, other: str) -> None:
    assert kinds(source("document-1", one), source("document-2", other)) == []


ONE, OTHER = "The tuition deposit for all applicants is €500.", "The tuition deposit for all applicants is €700."


def test_titles_and_headings_name_the_programme_and_the_term_too() -> None:
    assert kinds(source("document-1", ONE, "Bachelor"), source("document-2", OTHER, "Master")) == []
    one, other = (source(f"document-{n}", text, f"M.Sc. {n} Science") for n, text in (("Data", ONE), ("Life", OTHER)))
    assert kinds(one, other) == []
    assert (
        kinds(source("document-1", ONE, headings=("2023/24",)), source("document-2", OTHER, headings=("2024/25",)))
        == []
    )
    dated = "In the winter semester 2025/26, the tuition deposit for all applicants is €500."
    assert kinds(source("document-1", dated), source("document-2", OTHER, "Deposit 2027")) == []
    assert kinds(source("document-1", ONE), source("document-2", OTHER)) == ["figure"]


def test_what_is_true_of_one_course_contradicts_no_other_course_and_no_page_that_names_it_not() -> None:
    programming = source("document-1", "Workload of the module: 240 hours.", "CS-101", course=("CS-101", "Programming"))
    algorithms = source("document-2", "Workload of the module: 270 hours.", "CS-102", course=("CS-102", "Algorithms"))
    same = source("document-3", "Workload of the module: 270 hours.", "CS-101", course=("cs 101", "Programming"))
    assert kinds(programming, algorithms) == []
    assert kinds(programming, same) == ["figure"]
    page = "Workload of the module: 300 hours."
    assert kinds(programming, source("document-4", page)) == []
    assert kinds(programming, source("document-4", page, headings=("CS 101",))) == ["figure"]
    assert kinds(programming, source("document-4", page + " So says the handbook of programming.")) == ["figure"]


FEES = "| Service | Fee |\n|---|---|\n| Late re-registration | {} |\n| Replacement of the card | {} |"
LATE = "In the late period you pay an additional late fee of **{}**, that is {} in total."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((FEES.format("€45.00", "€15.00"), "Other fees"), (LATE.format("€30.00", "€348.40"), "Re-registration")),
        (
            ("The contribution is **€328.40**.", "Semester contribution"),
            ("The semester contribution is €318.40.", ""),
        ),
        (
            ("Every student pays the semester contribution of €328.40 per semester.", "Money"),
            ("The contribution is €318.40 per semester.", "Semester contribution"),
        ),
        (("| Item | Amount |\n|---|---|\n| Deposit of a locker | €20 |", "Money"), ("A locker's deposit is €30.", "L")),
    ],
)
def test_amounts_are_compared_by_their_names(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert kinds(source("document-1", *one), source("document-2", *other)) == ["figure"]


def test_german_amounts_are_compared_by_their_names() -> None:
    one = source("document-1", "Der Beitrag beträgt jeweils **328,40 €**.", "Semesterbeitrag", language="de")
    other = source("document-2", "Der Semesterbeitrag beträgt 318,40 €.", "Rückmeldung", language="de")
    assert kinds(one, other) == ["figure"]
    fee = source("document-2", "Die Verwaltungsgebühr beträgt 50,00 €.", "Semesterbeitrag", language="de")
    assert kinds(one, fee) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The contribution is €318.40 per semester.", "The contribution for guests is €268.40 per semester."),
        ("The fee is €120.00.", "The fee is €540.00."),
        ("The room deposit is €600 (Seeblick: €900).", "The deposit of a room is €900."),
        ("The administrative fee is €50.00.", "The late fee is €30.00, and the administrative office is closed."),
        ("The semester contribution is €318.40.", "The semester contribution is at most €400."),
    ],
)
def test_amounts_of_other_things_and_groups_are_no_contradiction(one: str, other: str) -> None:
    title = "Semester contribution and other fees"
    assert kinds(source("document-1", one, title), source("document-2", other, title)) == []


def test_only_what_is_searched_together_for_the_same_readers_is_compared() -> None:
    one = source("document-1", ONE, audience=frozenset({"programme:law", "degree:llm"}))
    assert kinds(one, source("document-2", OTHER, groups=frozenset({1}))) == []
    assert kinds(one, source("document-2", OTHER, audience=frozenset({"programme:biology"}))) == []
    assert kinds(one, source("document-2", OTHER, audience=frozenset({"programme:law"}))) == ["figure"]
    assert kinds(one, source("document-1", OTHER)) == []


def test_a_sentence_that_each_page_fills_in_for_its_own_subject_is_a_pattern() -> None:
    pages = [
        source(f"document-{n}", f"This study programme offers {n}0 places every year.", f"Page {n}")
        for n in range(2, 6)
    ]
    assert kinds(*pages[:2]) == ["figure"]
    assert kinds(*pages) == []


def test_who_agrees_with_a_page_in_one_sentence_does_not_contradict_it_in_a_similar_one() -> None:
    one = source("document-1", f"{ONE}\n\nThe tuition deposit for all exchange applicants is €700.")
    assert kinds(one, source("document-2", ONE)) == []


def test_of_a_text_on_every_page_the_first_few_are_read() -> None:
    pages = [source(f"document-{n}", FILLERS[0]) for n in range(10)]
    assert len(read_statements(pages)) == 3

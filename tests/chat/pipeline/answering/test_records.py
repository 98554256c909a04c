"""Answers from modules' records, which have labels and values and hardly a sentence, and from plans of studies."""

import pytest

from chat.pipeline.answering.composition import compose
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.sentences.labelled import read_labels
from chat.pipeline.sentences.quotable import quotable
from chat.pipeline.sentences.ranking import rank_parts
from chat.pipeline.tuning import MOST_PROSE_WORDS
from knowledge.retrieval.query_vectors import multilingual_vectors
from tests.chat.candidates import candidate

FORM = """\
- Module title: Gardens and Parks
- Programme: Bachelor Landscape Studies
- 1 Module no.: LA 2; State: compulsory; Language of instruction: English
- 2 Turn: each summer term; Duration: 1 semester; Semester: 4; CP: 7; Workload (h): 210

4 Module contents: Purpose of the module:

The module shows how gardens are planned, and which programmes of planting there are for credits of nature.

8 Examinations:

- No.: 1; Type: written exam on gardens; Share of the mark: 75 %
- No.: 2; Type: essay on parks; Share of the mark: 25 %

- 10 Requirements for credit points (see part 8): All examinations of the module must be passed.
- 12 Weight of the module grade for the overall grade: 7/180
- 13 Module prerequisites: 30 credit points.
- 16 Responsible lecturer: Prof. Dr.-Ing. Emma Noether; Department: Landscape
"""


def record(name: str, number: int = 1, text: str = FORM) -> Candidate:
    return candidate(number, title="Module handbook: B.Sc. Landscape Studies", heading=name, text=text)


def shown(question: str, *candidates: Candidate) -> list[str]:
    rankings = rank_parts(question, candidates, embed=multilingual_vectors, curated={})
    return [piece.text for piece in compose(question, rankings)]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many credits does Gardens and Parks give?", "CP: 7"),
        ("In which semester is Gardens and Parks?", "Semester: 4"),
        ("How often is Gardens and Parks offered?", "Turn: each summer term"),
        ("What are the prerequisites of Gardens and Parks?", "prerequisites: 30 credit points."),
        ("Who is responsible for the module Gardens and Parks?", "Emma Noether"),
        ("In which language is Gardens and Parks?", "Language of instruction: English"),
        ("What is Gardens and Parks about?", "shows how gardens are planned"),
        ("How much does Gardens and Parks count for the overall grade?", "7/180"),
        ("How long is Gardens and Parks?", "Duration: 1 semester"),
        ("Wie viele Leistungspunkte hat Gardens and Parks?", "CP: 7"),
        ("An wen wende ich mich bei Fragen zu Gardens and Parks?", "Emma Noether"),
        ("Was sollte ich vor Gardens and Parks belegt haben?", "prerequisites: 30 credit points."),
        ("What do I need to pass before Gardens and Parks?", "prerequisites: 30 credit points."),
        ("Is Gardens and Parks taught in the summer?", "Turn: each summer term"),
        ("Wer ist Modulverantwortliche von Gardens and Parks?", "Emma Noether"),
    ],
)
def test_what_a_label_of_the_module_says_is_what_is_quoted(question: str, value: str) -> None:
    texts = shown(question, record("Gardens and Parks"))
    assert any(value in text for text in texts)
    assert sum(len(text.split()) for text in texts) <= MOST_PROSE_WORDS


def test_a_label_that_the_question_gives_a_value_of_is_not_asked_for() -> None:
    assert not read_labels("I have 80 ECTS, may I study gardens and parks?").keys
    assert read_labels("How many ECTS are gardens and parks?").keys == {"ects"}


def test_of_several_modules_the_one_that_is_named_answers() -> None:
    others = record("Lakes", 2, FORM.replace("Gardens and Parks", "Lakes").replace("CP: 7", "CP: 9"))
    texts = shown("How many credits does Gardens and Parks give?", others, record("Gardens and Parks"))
    assert "CP: 7" in texts[0]
    assert not any("CP: 9" in text for text in texts)


@pytest.mark.parametrize(
    ("names", "asked"), [(("Parks 1", "Parks 2"), "Parks 2"), (("Parks II", "Parks I"), "Parks I")]
)
def test_numbers_tell_modules_apart(names: tuple[str, str], asked: str) -> None:
    modules = [record(name, number, FORM.replace("CP: 7", f"CP: 1{name[-2:]}")) for number, name in enumerate(names, 1)]
    answer = " ".join(shown(f"Wie viele Leistungspunkte hat das Modul {asked}?", *modules))
    assert f"CP: 1{asked[-2:]};" in answer
    assert answer.count("CP: ") == 1


def test_of_several_things_asked_each_gets_its_row() -> None:
    question = "Which examinations does Gardens and Parks have? And how many credits? I study in Lindental."
    answer = " ".join(shown(question, record("Gardens and Parks")))
    assert "written exam" in answer
    assert "essay" in answer
    assert "CP: 7" in answer


def test_a_label_is_quoted_with_what_stands_under_it_and_never_alone() -> None:
    texts = [quote.shown for quote in quotable(f"{FORM}\n15 Mobility:")]
    assert any(text.startswith("4 Module contents: Purpose of the module: The module shows") for text in texts)
    assert not any(text.endswith(":") for text in texts)


def test_a_list_ends_where_another_one_begins() -> None:
    lead = next(quote for quote in quotable(FORM) if quote.items)
    assert [item.split(";")[0] for item in lead.items] == ["- No.: 1", "- No.: 2"]
    apart = next(quote for quote in quotable("Bring these:\n\n- a passport\n\n- a photo\n\n- a form") if quote.items)
    assert len(apart.items) == 3
    counted = next(quote for quote in quotable("15 Mobility:\n\n- Used in: Biology\n- 16 Lecturer: Noether"))
    assert counted.items == ("- Used in: Biology",)


PLAN = """\
- Year: 1; Semester: 1; Landscape: Soils (9); Mathematics: Calculus (6); Law and Economics: Private law (6)
- Year: 1; Semester: 2; Landscape: Welcome to the garden! (12); Mathematics: Statistics (9); Total: 30
- Year: 2; Semester: 3; Landscape: Lakes (9); Law and Economics: Markets (6); Total: 30
"""


def plan(number: int = 1, text: str = PLAN) -> Candidate:
    return record("Plan of studies", number, text)


def test_of_a_plan_the_areas_that_are_named_are_quoted_with_their_terms() -> None:
    texts = shown(
        "Which modules are there in Mathematics in Landscape Studies?", plan(), record("Gardens and Parks", 2)
    )
    assert texts == [
        "Year: 1; Semester: 1; … Mathematics: Calculus (6)",
        "Year: 1; Semester: 2; … Mathematics: Statistics (9)",
    ]


def test_of_two_plans_the_fuller_one_is_quoted() -> None:
    shorter = plan(1, PLAN.rpartition("- Year: 2")[0])
    texts = shown("Which modules are there in Law and Economics?", shorter, plan(2))
    assert texts == [
        "Year: 1; Semester: 1; … Law and Economics: Private law (6)",
        "Year: 2; Semester: 3; … Law and Economics: Markets (6)",
    ]


def test_a_question_for_one_module_leaves_the_plan_whole() -> None:
    assert any("Landscape: Soils" in text for text in shown("When is Calculus in Mathematics?", plan()))

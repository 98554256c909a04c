"""Passages that are read because a question names their section, and what a passage goes on from."""

import pytest

from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.retrieval.sections import add_named_sections
from chat.pipeline.tuning import MOST_OF_SECTIONS
from knowledge.models import Document, Passage
from knowledge.retrieval.search import RankedPassage, Retrieval
from knowledge.retrieval.types import Query
from tests.factories import DocumentFactory, PassageFactory

pytestmark = pytest.mark.django_db

NOTHING: list[float] = []


def passages(document: Document, heading: str, *texts: str) -> list[Passage]:
    path = [heading] if heading else []
    return [PassageFactory(document=document, heading_path=path, text=text) for text in texts]


def loaded(*found: Passage) -> list[Candidate]:
    return load_candidates([RankedPassage(each.pk, each.document_id, 1, 1.0, {}) for each in found])


def read(question: str, *found: Passage, others: frozenset[int] = frozenset()) -> list[str]:
    retrieval = Retrieval(question, Query(question, NOTHING, 1, ""), [], {}, {}, other_periods=others)  # type: ignore[arg-type]
    added = add_named_sections(question, loaded(*found), retrieval, language="en")
    assert [each.number for each in added] == list(range(1, len(added) + 1))
    return [each.text for each in added]


def test_of_a_section_that_is_named_the_passage_with_the_label_is_read_too() -> None:
    handbook = DocumentFactory()
    about, _, exams = passages(handbook, "Gardens", "About gardens.", "More about gardens.", "- Examination: an essay")
    passages(handbook, "Lakes", "- Examination: an exam on lakes")
    passages(DocumentFactory(), "Gardens", "- Examination: an exam elsewhere")
    question = "Which examination does Gardens have?"
    assert read(question, about) == [about.text, exams.text]
    assert read(question, about, exams) == [about.text, exams.text]
    assert read(question, about, others=frozenset({exams.pk})) == [about.text]
    assert read("Which examination does the module have?", about) == [about.text]
    assert read("Where is Gardens?", about) == [about.text]


def test_a_withheld_passage_is_not_read() -> None:
    handbook = DocumentFactory()
    [about] = passages(handbook, "Gardens", "About gardens.")
    PassageFactory(document=handbook, heading_path=["Gardens"], text="- Examination: an essay", is_withheld=True)
    assert read("Which examination does Gardens have?", about) == [about.text]


def test_no_more_than_some_passages_are_added() -> None:
    rows = [f"- Examination: number {number}" for number in range(MOST_OF_SECTIONS + 3)]
    about, *_ = passages(DocumentFactory(), "Gardens", "About gardens.", *rows)
    assert len(read("Which examination does Gardens have?", about)) == 1 + MOST_OF_SECTIONS


def test_the_plan_of_studies_is_read_for_a_question_about_modules_of_an_area() -> None:
    handbook = DocumentFactory()
    rows = [
        "Plan of studies:\n\n- Semester: 1; Law: Private law; Soils: Sand",
        "- Semester: 2; Law: Public law; Soils: Clay",
    ]
    first, second = passages(handbook, "", *rows)
    [about] = passages(handbook, "Law I", "About law.")
    passages(handbook, "Rooms", "- Semester: 1; Law: room 5")
    texts = read("Which modules are there in law?", about)
    assert texts[0] == about.text
    assert [text.splitlines()[-1] for text in texts[1:]] == [first.text.splitlines()[-1], second.text]
    assert read("When is law?", about) == [about.text]


def test_a_passage_begins_with_the_line_that_the_one_before_it_ends_with() -> None:
    handbook = DocumentFactory()
    first, second, other = passages(handbook, "Gardens", "A form.\n\n8 Examinations:", "- an essay", "The end.")
    [elsewhere] = passages(handbook, "Lakes", "- a boat")
    assert [each.text for each in loaded(first, second, other, elsewhere)] == [
        first.text,
        "8 Examinations:\n\n- an essay",
        other.text,
        elsewhere.text,
    ]

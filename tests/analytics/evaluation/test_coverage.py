"""What the questions of a set cover, against numbers worked out by hand."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from analytics.evaluation.coverage import Coverage, Share, Spread, UnitCoverage, measure_coverage
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from knowledge.models import Collection, Document, Generation, Passage, Unit
from tests.analytics.evaluation.test_datasets import folder
from tests.analytics.evaluation.test_runner import CORPUS, QRELS, QUERIES
from tests.factories import CollectionFactory, DocumentFactory, PassageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    return CollectionFactory()


@pytest.fixture
def own(collection: Collection) -> EvaluationSet:
    found = EvaluationSet.objects.create(name="Ours")
    found.collections.add(collection)
    return found


def ask(own: EvaluationSet, text: str, *documents: Document, **values: Any) -> EvaluationQuestion:
    number = own.questions.count()
    question = EvaluationQuestion.objects.create(evaluation_set=own, external_id=str(number), text=text, **values)
    for document in documents:
        Judgment.objects.create(question=question, document=document)
    return question


def sentences(passage: Passage, *texts: str) -> None:
    for position, text in enumerate(texts):
        Unit.objects.create(
            generation=passage.generation,
            passage=passage,
            granularity="sentence",
            position=position,
            text=text,
            embedding=passage.embedding,
        )


def mark(question: EvaluationQuestion, passage: Passage, *units: str) -> None:
    marked = [{"passage": passage.input_hash, "granularity": "sentence", "text": text} for text in units]
    question.judgments.filter(document=passage.document).update(passages=[passage.input_hash], units=marked)


def test_coverage_is_as_worked_out_by_hand(collection: Collection, own: EvaluationSet) -> None:
    fees, rooms, sports, draft = (
        DocumentFactory(collection=collection, language=language, status=status)
        for language, status in [("en", "published"), ("de", "published"), ("en", "published"), ("en", "draft")]
    )
    elsewhere = DocumentFactory(language="fr")
    first, second, *_rest = (PassageFactory(document=each) for each in (fees, fees, rooms, sports, draft, elsewhere))
    retired = Generation.objects.create(model="old", dimensions=384, passage_tokens=9, state="retired")
    PassageFactory(document=fees, generation=retired)
    sentences(first, "It is 318 euros.", "It is due in May.", "It covers the ticket.")
    sentences(second, "Ask the union.")

    both = ask(own, "How much is it?", fees, rooms, answerable=True, reference="318 euros.")
    one = ask(own, "What is the contribution due in May?", fees, answerable=True, reference="Nobody knows it.")
    ask(own, "Who was first on Mars?", answerable=False)
    ask(own, "Où est la gare?", elsewhere)
    ask(own, "Is swimming free?", sports, status="proposed")
    ask(own, "What?", sports, status="rejected")
    Judgment.objects.create(question=both, document=sports, grade=0)
    mark(both, first, "It is 318 euros.", "It is due in May.")
    mark(one, second)

    assert measure_coverage(own) == Coverage(
        questions=4,
        answerable=2,
        unanswerable=1,
        judged=3,
        proposed=1,
        documents=Share(3, 2),
        passages_of_documents=Share(4, 3),
        passages=Share(4, 2),
        judgments=Spread(3, pytest.approx(4 / 3), 1.0, 2),
        questions_per_document={"0": 1, "1": 1, "2-4": 1, "5+": 0},
        question_words=pytest.approx((4 + 7 + 5 + 4) / 4),
        reference_words=pytest.approx((2 + 3) / 2),
        languages={"de": 1, "en": 2, "fr": 1},
        units={"sentence": UnitCoverage(Share(4, 2), Spread(2, 1.0, 1.0, 2))},
    )


def test_a_unit_that_is_no_longer_there_counts_for_nothing(collection: Collection, own: EvaluationSet) -> None:
    passage = PassageFactory(document__collection=collection)
    sentences(passage, "It costs 3 euros.")
    question = ask(own, "What does it cost?", passage.document)
    mark(question, passage, "It costs 2 euros.")
    units = measure_coverage(own).units["sentence"]
    assert (units.units, units.per_question.most) == (Share(1, 0), 1)


@pytest.mark.parametrize(("questions", "name"), [(1, "1"), (2, "2-4"), (4, "2-4"), (5, "5+"), (9, "5+")])
def test_documents_are_counted_by_their_questions(
    collection: Collection, own: EvaluationSet, questions: int, name: str
) -> None:
    document = DocumentFactory(collection=collection)
    for number in range(questions):
        ask(own, f"Why {number}?", document)
    assert measure_coverage(own).questions_per_document == {"0": 0, "1": 0, "2-4": 0, "5+": 0} | {name: 1}


def test_a_set_with_nothing_in_it_has_no_means(own: EvaluationSet) -> None:
    coverage = measure_coverage(own)
    assert (coverage.questions, coverage.documents.ratio, coverage.question_words) == (0, None, None)
    assert (coverage.judgments, coverage.languages, coverage.units) == (Spread(0, None, None, None), {}, {})


def test_it_takes_as_many_queries_for_a_large_set(
    collection: Collection, own: EvaluationSet, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        passage = PassageFactory(document__collection=collection)
        sentences(passage, "It costs 2 euros.")
        mark(ask(own, f"Why {number}?", passage.document), passage, "It costs 2 euros.")
        if number in {0, 11}:
            with django_assert_num_queries(8):
                assert measure_coverage(own).units["sentence"].units == Share(number + 1, number + 1)


def test_evaluate_prints_it_and_writes_it(tmp_path: Path) -> None:
    dataset = folder(tmp_path, corpus=CORPUS, queries=QUERIES, qrels=QRELS)
    out, file = StringIO(), tmp_path / "results.json"
    call_command("evaluate", str(dataset), "--profile", "bm25", "--json", str(file), stdout=out)
    printed = out.getvalue()
    assert "Coverage\nquestions: 4 (3 answerable, 1 unanswerable, 3 judged); 7.0 words a question, –" in printed
    assert "documents with a question: 3 of 3 (100.0%)" in printed
    assert "documents by questions: 0: 0, 1: 3, 2-4: 0, 5+: 0" in printed
    assert "judgments a question: mean 1.0, median 1.0, most 1" in printed
    found = json.loads(file.read_text())["coverage"]
    assert (found["documents"], found["languages"]) == ({"all": 3, "covered": 3}, {"en": 3})

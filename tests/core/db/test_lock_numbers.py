"""Jobs that have nothing to do with each other run at the same time."""

import pytest

from analytics.counts.refresh import count_changed
from analytics.evaluation.questions.generation import Choice, make_questions
from analytics.models import EvaluationSet
from analytics.retention.run import apply_retention
from knowledge.indexing import propositions
from knowledge.indexing.documents import sync_document
from tests.analytics.gaps.rows import PARKING, ask_in_vain, look
from tests.factories import DocumentFactory
from tests.fakes.llm import FakeLLM

pytestmark = pytest.mark.django_db


def test_gaps_are_looked_for_while_propositions_are_made(llm: FakeLLM) -> None:
    ask_in_vain(PARKING[0])
    document = DocumentFactory(collection__granularities=["proposition"])
    sync_document(document.pk)
    llm.completes(lambda _prompt: '{"propositions": []}')
    looks = []
    propositions.make(progress=lambda _done, _of: looks.append(look()))
    assert [run.state for run in looks] == ["finished"]


def test_days_are_counted_and_old_conversations_deleted_while_questions_are_made(llm: FakeLLM) -> None:
    ask_in_vain(PARKING[0], days_ago=1)
    document = DocumentFactory()
    sync_document(document.pk)
    llm.completes(lambda _prompt: '{"questions": []}')
    evaluation_set = EvaluationSet.objects.create(name="Ours")
    seen = []

    def meanwhile(_done: int, _of: int) -> None:
        if not seen:
            assert count_changed() > 0
            seen.append(apply_retention())

    make_questions(evaluation_set, Choice((document.collection_id,)), progress=meanwhile)
    assert [run is not None for run in seen] == [True]

"""A data set into a scope of its own in the database, once: found again by its content."""

import json
from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from analytics.evaluation.datasets import BadDataset, Dataset
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from faqs.importing import import_faqs, read_faqs
from faqs.indexing import sync_pending as sync_pending_faqs
from faqs.models import FAQ
from knowledge.indexing import sync_pending as sync_pending_documents
from knowledge.ingest.pipeline import import_records
from knowledge.ingest.records import DocumentRecord
from knowledge.models import Collection, Document

BATCH = 1000


def load(dataset: Dataset, *, progress: Callable[[int, int], None] | None = None) -> EvaluationSet:
    """The set with its documents indexed; `progress` gets (done, of) documents. Raises BadDataset."""
    found = EvaluationSet.objects.filter(fingerprint=dataset.fingerprint).first() or _create(dataset)
    sync_pending_documents(progress=progress)
    sync_pending_faqs()
    return found


@transaction.atomic
def _create(dataset: Dataset) -> EvaluationSet:
    slug = f"evaluation-{dataset.fingerprint[:16]}"
    collection = Collection.objects.create(
        slug=slug, name=f"{dataset.name} ({dataset.fingerprint[:8]})", searched_by_default=False, for_evaluation=True
    )
    records = [
        DocumentRecord(url=each.url, title=each.title[:500], text=each.text, external_id=each.id[:500])
        for each in dataset.documents
    ]
    report = import_records(enumerate(records, start=1), collection=collection)
    problems = [f"corpus.jsonl: {reason}" for _line, reason in report.problems]
    if dataset.faqs_file:
        # Ids are unique over all FAQs, and data sets count theirs from 0.
        raws = [
            raw | {"id": f"{slug} {raw.get('id') or number}"} for number, raw in enumerate(read_faqs(dataset.faqs_file))
        ]
        faqs = import_faqs(raws, collection=collection)
        problems += [f"faqs.json: {name}: {reason}" for name, reason in faqs.problems]
    if problems:
        raise BadDataset("\n".join(problems[:20]))
    made = EvaluationSet.objects.create(name=dataset.name, fingerprint=dataset.fingerprint)
    made.collections.set([collection])
    questions = EvaluationQuestion.objects.bulk_create(
        (
            EvaluationQuestion(
                evaluation_set=made,
                external_id=each.id[:200],
                text=each.text,
                history=[list(turn) for turn in each.history],
                answerable=each.answerable,
                reference=each.reference,
                labels=dict(each.labels),
            )
            for each in dataset.queries
        ),
        batch_size=BATCH,
    )
    documents = dict(Document.objects.filter(collection=collection).values_list("external_id", "pk"))
    ids = {question.external_id: question for question in questions}
    Judgment.objects.bulk_create(
        (
            Judgment(question=ids[query[:200]], document_id=documents[document[:500]], grade=grade)
            for query, grades in dataset.qrels.items()
            for document, grade in grades.items()
        ),
        batch_size=BATCH,
    )
    return made


@transaction.atomic
def load_questions(path: Path, collection: Collection) -> EvaluationSet:
    """Questions on a collection that is there, as a set that staff can change; found again by the collection's name.

    Each line is {_id, text, answerable, reference, urls}, the last of documents that answer it. Raises BadDataset.
    """
    own = EvaluationSet.objects.filter(fingerprint="", name=collection.name, collections=collection)
    if found := own.first():
        return found
    made = EvaluationSet.objects.create(name=collection.name)
    made.collections.set([collection])
    documents = dict(collection.documents.values_list("url", "pk"))
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        row = json.loads(line)
        if missing := [url for url in row["urls"] if url not in documents]:
            raise BadDataset(f"{path.name}, line {number}: no document has the address {missing[0]}")
        question = EvaluationQuestion.objects.create(
            evaluation_set=made,
            external_id=row["_id"],
            text=row["text"],
            answerable=row["answerable"],
            reference=row["reference"],
        )
        Judgment.objects.bulk_create(Judgment(question=question, document_id=documents[url]) for url in row["urls"])
    return made


def forget(evaluation_set: EvaluationSet) -> None:
    """Deletes a loaded data set with its collection, documents and FAQs."""
    collections = list(evaluation_set.collections.filter(for_evaluation=True))
    FAQ.objects.filter(documents__collection__in=collections).delete()
    evaluation_set.delete()
    Document.objects.filter(collection__in=collections).delete()
    Collection.objects.filter(pk__in=[collection.pk for collection in collections]).delete()

"""Reads a BEIR-style folder (Thakur et al. 2021) and says what is wrong with it before anything runs; pure.

`corpus.jsonl` {_id, title, text, url?}, `queries.jsonl` {_id, text, history?, answerable?, reference?}, `qrels.tsv`
(query-id, corpus-id, score, with that header), optionally `faqs.json`.
"""

import json
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.db import transaction

from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from core.hashing import fingerprint
from faqs.importexport.files import LOCAL_LIMITS, BadTable, read_table
from faqs.importexport.resource import FAQResource
from faqs.indexing import sync_pending as sync_pending_faqs
from faqs.matching.refit import refit_pending
from faqs.models import FAQ
from faqs.services import import_table
from knowledge.indexing.documents import sync_pending as sync_pending_documents
from knowledge.ingest.importer import DocumentRecord, import_records
from knowledge.models import Collection, Document

#: Further labels of a query, kept for grouping results.
LABELS = ("turn", "label", "domain", "type")
DOCUMENT_FIELDS = frozenset({"_id", "title", "text", "url", "metadata"})
QUERY_FIELDS = frozenset({"_id", "text", "history", "answerable", "reference", "metadata", *LABELS})
ROLES = frozenset({"user", "assistant"})
MOST_PROBLEMS = 20


class BadDataset(ValueError):
    """A data set that cannot be used; the message names file and line of every mistake (the first 20)."""


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    id: str
    title: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class EvaluationQuery:
    """`history` is (role, text), oldest first; `answerable` is None where the data set does not say."""

    id: str
    text: str
    history: tuple[tuple[str, str], ...] = ()
    answerable: bool | None = None
    reference: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """`qrels` maps query ids to document ids to grades above 0; `fingerprint` is of the content of all files."""

    name: str
    documents: Sequence[CorpusDocument]
    queries: Sequence[EvaluationQuery]
    qrels: Mapping[str, Mapping[str, int]]
    faqs_file: Path | None
    fingerprint: str


def read_dataset(folder: Path) -> Dataset:
    """Read a data set. Raise BadDataset, or OSError if a file cannot be read."""
    problems = _Problems()
    documents = list(_lines(folder / "corpus.jsonl", _document, problems))
    queries = list(_lines(folder / "queries.jsonl", _query, problems))
    qrels = _qrels(folder / "qrels.tsv", {each.id for each in queries}, {each.id for each in documents}, problems)
    if not problems.found and not documents:
        problems.add(folder / "corpus.jsonl", 1, "there is no document in it")
    if not problems.found and not queries:
        problems.add(folder / "queries.jsonl", 1, "there is no query in it")
    urls: dict[str, str] = {}
    for each in documents:
        if each.url in urls:
            problems.say(f"corpus.jsonl: {each.id!r} and {urls[each.url]!r} have one url, {each.url}")
        urls[each.url] = each.id
    problems.raise_any()
    faqs = folder / "faqs.json"
    files = [folder / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")] + [faqs] * faqs.exists()
    content = fingerprint(*(path.read_text("utf-8") for path in files))
    return Dataset(folder.resolve().name, documents, queries, qrels, faqs if faqs.exists() else None, content)


class _Problems:
    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, path: Path, line: int, reason: str) -> None:
        self.say(f"{path.name}, line {line}: {reason}")

    def say(self, problem: str) -> None:
        self.found.append(problem)

    def raise_any(self) -> None:
        if self.found:
            more = f"\n… and {len(self.found) - MOST_PROBLEMS} more" if len(self.found) > MOST_PROBLEMS else ""
            raise BadDataset("\n".join(self.found[:MOST_PROBLEMS]) + more)


def _lines(path: Path, read: Callable[[dict[str, Any]], Any], problems: _Problems) -> Iterator[Any]:
    """Yield what `read` makes of each line; its ValueErrors and ids that occur twice become problems."""
    if not path.exists():
        problems.say(f"{path.name} is missing in {path.parent}")
        return
    first: dict[str, int] = {}
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw.decode("utf-8-sig"))
                if not isinstance(row, dict):
                    raise ValueError('it is not an object such as {"_id": …, "text": …}')
                found = read(row)
                if found.id in first:
                    raise ValueError(f"the _id {found.id!r} is that of line {first[found.id]} too")
            except UnicodeDecodeError as error:
                problems.add(path, number, f"it is not UTF-8 (byte {error.start})")
            except json.JSONDecodeError as error:
                problems.add(path, number, f"it is not JSON ({error.msg} at column {error.colno})")
            except ValueError as error:
                problems.add(path, number, str(error))
            else:
                first[found.id] = number
                yield found


def _document(row: dict[str, Any]) -> CorpusDocument:
    _known(row, DOCUMENT_FIELDS)
    text = _text(row, "text")
    if not text.strip():
        raise ValueError('"text" is empty')
    identity = _text(row, "_id", needed=True)
    return CorpusDocument(
        identity, _text(row, "title"), text, _text(row, "url") or f"https://corpus.example/{identity}"
    )


def _query(row: dict[str, Any]) -> EvaluationQuery:
    _known(row, QUERY_FIELDS)
    answerable = row.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        raise ValueError('"answerable" is true or false')
    history = row.get("history") or []
    if not isinstance(history, list):
        raise ValueError('"history" is a list of {"role": …, "text": …}')
    turns = []
    for turn in history:
        if not isinstance(turn, dict) or turn.get("role") not in ROLES or not isinstance(turn.get("text"), str):
            raise ValueError('a turn of "history" is {"role": "user" or "assistant", "text": …}')
        turns.append((turn["role"], turn["text"]))
    return EvaluationQuery(
        id=_text(row, "_id", needed=True),
        text=_text(row, "text", needed=True),
        history=tuple(turns),
        answerable=answerable,
        reference=_text(row, "reference"),
        labels={name: str(row[name]) for name in LABELS if row.get(name) is not None},
    )


def _qrels(path: Path, queries: set[str], documents: set[str], problems: _Problems) -> dict[str, dict[str, int]]:
    if not path.exists():
        problems.say(f"{path.name} is missing in {path.parent}")
        return {}
    qrels: dict[str, dict[str, int]] = {}
    lines = path.read_text("utf-8-sig").splitlines()
    if not lines or lines[0].split("\t")[:2] != ["query-id", "corpus-id"]:
        problems.add(path, 1, "the first line is the header query-id, corpus-id, score, with tabs between")
        return {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) != 3 or not cells[2].strip().lstrip("-").isdigit():
            problems.add(path, number, "it is not query-id, corpus-id and a whole number, with tabs between")
        elif cells[0] not in queries:
            problems.add(path, number, f"no query has the _id {cells[0]!r}")
        elif cells[1] not in documents:
            problems.add(path, number, f"no document has the _id {cells[1]!r}")
        elif cells[1] in qrels.get(cells[0], {}):
            problems.add(path, number, f"{cells[0]!r} and {cells[1]!r} are judged twice")
        elif int(cells[2]) > 0:
            qrels.setdefault(cells[0], {})[cells[1]] = int(cells[2])
    return qrels


def _known(row: dict[str, Any], fields: frozenset[str]) -> None:
    if unknown := sorted(row.keys() - fields):
        raise ValueError(
            f"the field {', '.join(map(repr, unknown))} is not known; there are {', '.join(sorted(fields))}"
        )


def _text(row: dict[str, Any], key: str, *, needed: bool = False) -> str:
    value = row.get(key)
    if value is None or value == "":
        if needed:
            raise ValueError(f'"{key}" is missing')
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is not a text')
    return value


BATCH = 1000


def load(dataset: Dataset, *, progress: Callable[[int, int], None] | None = None) -> EvaluationSet:
    """Return the set with its documents indexed; `progress` gets (done, of) documents. Raise BadDataset."""
    found = EvaluationSet.objects.filter(fingerprint=dataset.fingerprint).first() or _create(dataset)
    sync_pending_documents(progress=progress)
    sync_pending_faqs()
    refit_pending(found.collections.values_list("pk", flat=True))
    return found


def _import_faqs(file: Path, slug: str, collection: Collection) -> list[str]:
    """Import a data set's FAQs; return what is wrong with them."""
    try:
        table = read_table("faqs.json", file.read_bytes(), limits=LOCAL_LIMITS)
        # Ids are unique over all FAQs, and data sets count theirs from 0.
        rows = [
            replace(row, cells=row.cells | {"id": f"{slug} {row.cells.get('id') or row.line}"}) if row.cells else row
            for row in table.rows
        ]
        resource = FAQResource.for_operator(collection=collection)
        planned = import_table(table=replace(table, rows=tuple(rows)), resource=resource)
    except BadTable as error:
        raise BadDataset(f"faqs.json: {error}") from error
    return [
        f"faqs.json: FAQ {row.line} ({row.name}): {message}"
        for row in planned
        for _column, message in (*row.problems, *row.notices)
    ]


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
        problems += _import_faqs(dataset.faqs_file, slug, collection)
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
    """Load questions on an existing collection as a set that staff can change, named after the collection.

    Each line is {_id, text, answerable, reference, urls}, the last of documents that answer it. Raise BadDataset.
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
    """Delete a loaded data set with its collection, documents and FAQs."""
    collections = list(evaluation_set.collections.filter(for_evaluation=True))
    FAQ.objects.filter(documents__collection__in=collections).delete()
    evaluation_set.delete()
    Document.objects.filter(collection__in=collections).delete()
    Collection.objects.filter(pk__in=[collection.pk for collection in collections]).delete()


SEED = 1


def sampled(strata: Sequence[Hashable], count: int | None) -> list[int]:
    """Return the places of `count` members, in order, each stratum in proportion (largest remainders); all where None.

    The same strata give the same places.
    """
    if count is None or count >= len(strata):
        return list(range(len(strata)))
    members: dict[Hashable, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    exact = {stratum: len(places) * count / len(strata) for stratum, places in members.items()}
    shares = {stratum: int(value) for stratum, value in exact.items()}
    by_remainder = sorted(exact, key=lambda stratum: shares[stratum] - exact[stratum])
    for stratum in by_remainder[: count - sum(shares.values())]:
        shares[stratum] += 1
    chooser = random.Random(SEED)  # noqa: S311 (a sample, no secret)
    return sorted(place for stratum, places in members.items() for place in chooser.sample(places, shares[stratum]))

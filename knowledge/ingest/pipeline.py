"""Records into documents: the one way in that every import shares."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from knowledge.ingest.records import BadRecord, DocumentRecord, document_record
from knowledge.models import Collection, Course, Document
from knowledge.storable import storable

BATCH = 200
#: Past this a line is not a page but a mistake.
MAX_LINE_BYTES = 50_000_000


@dataclass(slots=True)
class ImportReport:
    """What an import did; `problems` are (line, reason)."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)


def collection_for(slug: str) -> Collection:
    """The collection of that name, made where it is missing."""
    name = slug.replace("-", " ").replace("_", " ").capitalize()
    return Collection.objects.get_or_create(slug=slug, defaults={"name": name})[0]


def read_jsonl(path: Path) -> Iterator[tuple[int, DocumentRecord | BadRecord]]:
    """(line number, record or what is wrong with it); empty lines are passed over. Raises OSError."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                if len(line) > MAX_LINE_BYTES:
                    raise BadRecord(f"the line has {len(line):,} bytes; {MAX_LINE_BYTES:,} are allowed")
                yield number, document_record(storable(json.loads(line.decode("utf-8-sig"))))
            except UnicodeDecodeError as error:
                yield number, BadRecord(f"it is not UTF-8 (byte {error.start})")
            except json.JSONDecodeError as error:
                yield number, BadRecord(f"it is not JSON ({error.msg} at column {error.colno})")
            except RecursionError:
                yield number, BadRecord("its JSON is nested too deeply")
            except BadRecord as problem:
                yield number, problem


def import_records(
    records: Iterable[tuple[int, DocumentRecord | BadRecord]], *, collection: Collection
) -> ImportReport:
    """Creates or updates one document a URL; the good ones are saved whatever the others are.

    A document that a member of staff archived stays archived, and a course's document is left to its record.
    Indexing is the caller's next step.
    """
    report = ImportReport()
    batch: dict[str, DocumentRecord] = {}
    first_line: dict[str, int] = {}
    for number, record in records:
        if isinstance(record, BadRecord):
            report.problems.append((number, str(record)))
        elif record.url in first_line:
            report.problems.append((number, f"the same url as line {first_line[record.url]}; the first one counts"))
        else:
            first_line[record.url] = number
            batch[record.url] = record
            if len(batch) == BATCH:
                _save(batch, first_line, collection, report)
                batch.clear()
    _save(batch, first_line, collection, report)
    return report


@transaction.atomic
def _save(
    batch: dict[str, DocumentRecord], numbers: dict[str, int], collection: Collection, report: ImportReport
) -> None:
    there = {document.url: document for document in collection.documents.filter(url__in=batch).select_for_update()}
    courses = {course.document_id: course for course in Course.objects.filter(document__in=there.values())}
    for url, record in batch.items():
        values = {
            "external_id": record.external_id,
            "title": record.title,
            "text": record.text,
            "language": record.language,
            "metadata": dict(record.metadata),
            "file": record.file,
        }
        document = there.get(url)
        if document and document.pk in courses:
            reason = f"{url} is the page of the course {courses[document.pk]}; change that course's record instead"
            report.problems.append((numbers[url], reason))
        elif document is None:
            Document.objects.create(collection=collection, url=url, **values)
            report.created += 1
        elif all(getattr(document, name) == value for name, value in values.items()):
            report.unchanged += 1
        else:
            for name, value in values.items():
                setattr(document, name, value)
            document.save()
            report.changed += 1

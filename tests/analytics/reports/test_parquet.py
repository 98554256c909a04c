"""Parquet files: columns with their types, and the versions that programs rely on."""

from datetime import UTC
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from analytics.models import StoredReport
from analytics.reports.admin.form import ReportForm
from analytics.reports.columns import COLUMNS, SCHEMA_VERSION
from analytics.reports.content import make_file
from analytics.reports.definition import Format
from analytics.reports.formats import parquet as columnar
from analytics.reports.run import work_on
from docs.generate import reports as reports_page
from tests.analytics.reports.rows import EVERYTHING, asked, definition, stored
from tests.factories import CitationFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)

#: What a program that reads version 1 relies on. A change here needs another SCHEMA_VERSION, unless it only adds.
VERSION_1 = {
    "asked_at": "timestamp[us, tz=UTC]",
    "assistant": "string",
    "site": "string",
    "language": "string",
    "question": "string",
    "rewritten": "string",
    "answer": "string",
    "sources": "list<item: struct<n: int64, page: int64, title: string, heading: string, url: string>>",
    "faq": "string",
    "status": "string",
    "abstained": "bool",
    "reason": "string",
    "thumbs": "int64",
    "reasons": "list<item: string>",
    "comment": "string",
    "stars": "int64",
    "outcome": "string",
    "contacts": "list<item: string>",
    "verdict": "string",
    "profile": "string",
    "prompt": "string",
    "model": "string",
    "first_token_ms": "double",
    "total_ms": "double",
    "retrieval_ms": "double",
    "conversation": "string",
    "visitor": "string",
}


def made(folder: Path, *columns: str) -> pyarrow.Table:
    wanted = definition(*columns, format=Format.PARQUET)
    path = folder / "report.parquet"
    make_file(path, wanted, wanted.period(), EVERYTHING, lambda _done, _total: None)
    return parquet.read_table(path)


def test_a_file_has_the_documented_columns_with_their_types(tmp_path: Path) -> None:
    answer = asked("What are the fees?", thumbs=-1, timings_ms={"total": 900})
    CitationFactory(message=answer, title="Fees", url="https://www.uni.example/fees", heading="Refunds", page=3)
    table = made(tmp_path, *COLUMNS)
    assert {field.name: str(field.type).replace("element:", "item:") for field in table.schema} == VERSION_1
    assert table.schema.metadata[b"marcelcms"] == str(SCHEMA_VERSION).encode()
    (row,) = table.to_pylist()
    answer.question.refresh_from_db()
    assert row["asked_at"] == answer.question.created_at
    assert row["asked_at"].utcoffset() == UTC.utcoffset(None)
    told = [row[key] for key in ("question", "thumbs", "total_ms", "abstained")]
    assert told == ["What are the fees?", -1, 900.0, False]
    assert row["sources"] == [
        {"n": 1, "page": 3, "title": "Fees", "heading": "Refunds", "url": "https://www.uni.example/fees"}
    ]
    assert (row["site"], row["stars"], row["reasons"]) == (None, None, ["wrong"])


def test_a_long_file_has_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "ROWS_A_GROUP", 3)
    for number in range(8):
        asked(f"Question {number}?")
    read = made(tmp_path, "question")
    assert sorted(read["question"].to_pylist()) == [f"Question {number}?" for number in range(8)]
    assert parquet.ParquetFile(tmp_path / "report.parquet").num_row_groups == 3


def test_without_the_extra_it_is_not_offered_and_a_saved_report_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(visitors=5)
    user = UserFactory(is_superuser=True)
    assert "parquet" in dict(ReportForm(user=user).fields["format"].choices)
    report = stored(user, "question", format="parquet")
    monkeypatch.setattr("analytics.reports.formats.writers.is_installed", lambda: False)
    assert "parquet" not in dict(ReportForm(user=user).fields["format"].choices)
    work_on(report.pk)
    report.refresh_from_db()
    assert report.state == StoredReport.State.FAILED
    assert "choose another file" in report.message


def test_the_documentation_names_every_column_and_code() -> None:
    page = reports_page.page()
    for key, column in COLUMNS.items():
        assert f"| `{key}` |" in page
        for code in column.words or {}:
            assert f"| `{key}` | `{code}` |" in page

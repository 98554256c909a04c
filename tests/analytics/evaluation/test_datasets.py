"""A data set is checked whole, and every mistake named with file and line, before anything runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from analytics.evaluation.datasets import BadDataset, read_dataset

CORPUS = [{"_id": "a", "title": "Fees", "text": "It is 318 euros."}, {"_id": "b", "title": "", "text": "Books."}]
QUERIES: list[dict[str, Any]] = [
    {
        "_id": "1",
        "text": "How much?",
        "history": [{"role": "user", "text": "Hello"}],
        "answerable": True,
        "type": "fee",
    },
    {"_id": "2", "text": "Why?", "reference": "Because."},
]
QRELS = "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n"


def folder(path: Path, *, corpus: Any = CORPUS, queries: Any = QUERIES, qrels: str | None = QRELS) -> Path:
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (path / name).write_text("\n".join(lines))
    if qrels is not None:
        (path / "qrels.tsv").write_text(qrels)
    return path


def test_a_folder_is_read_with_histories_labels_and_grades_above_zero(tmp_path: Path) -> None:
    dataset = read_dataset(folder(tmp_path))
    assert [document.url for document in dataset.documents] == ["https://corpus.example/a", "https://corpus.example/b"]
    one, two = dataset.queries
    assert (one.history, one.answerable, one.labels) == ((("user", "Hello"),), True, {"type": "fee"})
    assert (two.history, two.answerable, two.reference) == ((), None, "Because.")
    assert dataset.qrels == {"1": {"a": 2}}
    assert dataset.faqs_file is None


def test_its_fingerprint_is_of_its_content(tmp_path: Path) -> None:
    before = read_dataset(folder(tmp_path)).fingerprint
    assert read_dataset(folder(tmp_path)).fingerprint == before
    (tmp_path / "faqs.json").write_text("[]")
    assert read_dataset(tmp_path).fingerprint != before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"corpus": [*CORPUS, CORPUS[0]]}, r"corpus.jsonl, line 3: the _id 'a' is that of line 1 too"),
        ({"queries": [*QUERIES, QUERIES[1]]}, r"queries.jsonl, line 3: the _id '2' is that of line 2 too"),
        ({"corpus": [{**CORPUS[0], "body": "x"}]}, r"corpus.jsonl, line 1: the field 'body' is not known"),
        ({"queries": [{**QUERIES[0], "query": "x"}]}, r"queries.jsonl, line 1: the field 'query' is not known"),
        ({"corpus": [{"_id": "a", "text": " "}]}, r'corpus.jsonl, line 1: "text" is empty'),
        ({"corpus": [{"text": "It."}]}, r'corpus.jsonl, line 1: "_id" is missing'),
        ({"corpus": ["{"]}, r"corpus.jsonl, line 1: it is not JSON"),
        ({"corpus": ["[]"]}, r"corpus.jsonl, line 1: it is not an object"),
        ({"corpus": [], "qrels": "query-id\tcorpus-id\tscore\n"}, r"there is no document"),
        ({"queries": [], "qrels": "query-id\tcorpus-id\tscore\n"}, r"there is no query"),
        ({"queries": [{"_id": "1", "text": "A?", "answerable": "yes"}]}, r'line 1: "answerable" is true or false'),
        ({"queries": [{"_id": "1", "text": "A?", "history": ["hi"]}]}, r'line 1: a turn of "history"'),
        ({"queries": [{"_id": "1", "text": ["A?"]}]}, r'line 1: "text" is not a text'),
        ({"qrels": QRELS + "3\ta\t1\n"}, r"qrels.tsv, line 4: no query has the _id '3'"),
        ({"qrels": QRELS + "2\tz\t1\n"}, r"qrels.tsv, line 4: no document has the _id 'z'"),
        ({"qrels": QRELS + "1\ta\t1\n"}, r"qrels.tsv, line 4: '1' and 'a' are judged twice"),
        ({"qrels": QRELS + "2 a 1\n"}, r"qrels.tsv, line 4: it is not query-id"),
        ({"qrels": "1\ta\t1\n"}, r"qrels.tsv, line 1: the first line is the header"),
        ({"qrels": None}, r"qrels.tsv is missing"),
        ({"corpus": [CORPUS[0], {**CORPUS[1], "url": "https://corpus.example/a"}]}, r"'b' and 'a' have one url"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadDataset, match=said):
        read_dataset(folder(tmp_path, **changes))


def test_all_mistakes_are_named_at_once_but_not_thousands(tmp_path: Path) -> None:
    with pytest.raises(BadDataset) as caught:
        read_dataset(folder(tmp_path, corpus=["{"] * 50))
    assert str(caught.value).count("it is not JSON") == 20
    assert "more" in str(caught.value)

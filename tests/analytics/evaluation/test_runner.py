"""`manage.py evaluate`: loads a data set into a scope of its own, measures a profile, says where two differ."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analytics.evaluation.datasets import forget
from analytics.models import EvaluationRun, EvaluationSet
from faqs.models import FAQ
from knowledge.models import Collection, Document
from knowledge.retrieval.scope import build_scope
from tests.analytics.evaluation.test_datasets import folder
from tests.conftest import PAGES, load_pages

pytestmark = pytest.mark.django_db

CORPUS = [{"_id": page["url"].rpartition("/")[2], **page} for page in PAGES]
QUERIES = [
    {"_id": "fee", "text": "How much is the semester contribution?", "answerable": True},
    {"_id": "books", "text": "For how many weeks are books lent?", "answerable": True},
    {"_id": "room", "text": "Where do I apply for a room?", "answerable": True},
    {"_id": "mars", "text": "Who was the first astronaut on planet Mars?", "answerable": False},
]
QRELS = "query-id\tcorpus-id\tscore\nfee\tfees\t1\nbooks\tlibrary\t1\nroom\thousing\t1\n"
FAQS = [{"id": "f0", "question": "Where do I apply for a room?", "sources": ["https://www.uni.example/fees"]}]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return folder(tmp_path, corpus=CORPUS, queries=QUERIES, qrels=QRELS)


def evaluate(dataset: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    out, file = StringIO(), dataset / "results.json"
    call_command("evaluate", str(dataset), "--json", str(file), *arguments, stdout=out)
    return json.loads(file.read_text()), out.getvalue()


def test_a_profile_is_measured(dataset: Path) -> None:
    found, printed = evaluate(dataset, "--profile", "bm25+dense")
    assert (found["dataset"], found["profile"], found["queries"]) == (dataset.name, "bm25+dense", 4)
    assert found["retrieval"]["mrr"] == found["retrieval"]["recall@1"] == 1
    assert {"map@100", "ndcg@10", "recall@100"} <= found["retrieval"].keys()
    assert found["evidence"]["auroc"] == 1
    assert found["seconds_per_query"]["p95"] >= found["seconds_per_query"]["p50"] > 0
    by_id = {each["id"]: each for each in found["per_query"]}
    assert by_id["fee"]["ranking"][0] == "fees"
    assert by_id["fee"]["measures"]["mrr"] == 1
    assert by_id["mars"]["measures"] == {}
    assert "| bm25+dense | 3 | 1.000 |" in printed


def test_it_is_loaded_once_and_answers_nobody(dataset: Path) -> None:
    evaluate(dataset)
    documents = set(Document.objects.values_list("pk", flat=True))
    evaluate(dataset)
    assert set(Document.objects.values_list("pk", flat=True)) == documents
    assert build_scope().collection_ids == ()
    assert EvaluationRun.objects.filter(state="finished").count() == 2
    (dataset / "queries.jsonl").write_text(json.dumps(QUERIES[0]))
    (dataset / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nfee\tfees\t1\n")
    assert evaluate(dataset)[0]["queries"] == 1
    assert EvaluationSet.objects.count() == 2


def test_its_faqs_steer_its_own_questions_and_no_others(dataset: Path) -> None:
    load_pages(PAGES)
    (dataset / "faqs.json").write_text(json.dumps(FAQS))
    found, _ = evaluate(dataset, "--profile", "bm25+faq")
    by_id = {each["id"]: each for each in found["per_query"]}
    assert by_id["room"]["ranking"][0] == "fees"  # as wrong as the FAQ says
    (faq,) = FAQ.objects.all()
    assert faq.documents.get().collection.for_evaluation
    out = StringIO()
    call_command("search", "Where do I apply for a room?", "--json", stdout=out)
    assert json.loads(out.getvalue())[0]["url"].endswith("/housing")


def test_two_profiles_are_compared(dataset: Path) -> None:
    (dataset / "faqs.json").write_text(json.dumps(FAQS))
    found, printed = evaluate(dataset, "--compare", "dense", "bm25+faq")
    assert [each["profile"] for each in found] == ["dense", "bm25+faq"]
    assert "bm25+faq against dense: 0 better, 2 worse" in printed
    assert "-    1 ->    2  Where do I apply for a room?" in printed
    assert "Bonferroni" in printed


@pytest.mark.parametrize("arguments", [["--profile", "best"], ["--compare", "bm25", "best"]])
def test_an_unknown_profile_is_named_before_anything_is_loaded(dataset: Path, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="best"):
        evaluate(dataset, *arguments)
    assert not Collection.objects.exists()


def test_a_bad_data_set_leaves_nothing_behind(dataset: Path) -> None:
    (dataset / "faqs.json").write_text(json.dumps([{"question": "A?", "sources": ["https://nowhere.example/"]}]))
    with pytest.raises(CommandError, match="There is no page with the address"):
        evaluate(dataset)
    assert not Collection.objects.exists()
    assert not Document.objects.exists()
    with pytest.raises(CommandError, match=r"corpus\.jsonl is missing"):
        call_command("evaluate", str(dataset / "nowhere"))


def test_a_data_set_can_be_forgotten(dataset: Path) -> None:
    (dataset / "faqs.json").write_text(json.dumps(FAQS))
    evaluate(dataset)
    forget(EvaluationSet.objects.get())
    for model in (Collection, Document, FAQ, EvaluationRun):
        assert not model.objects.exists()


def test_follow_ups_are_looked_up_as_students_are_served_unless_they_are_wanted_as_asked(tmp_path: Path) -> None:
    history = [{"role": "user", "text": "Are there rooms in a dormitory?"}, {"role": "assistant", "text": "Yes."}]
    query = {"_id": "room", "text": "And how much is it?", "history": history, "answerable": True}
    dataset = folder(tmp_path, corpus=CORPUS, queries=[query], qrels="query-id\tcorpus-id\tscore\nroom\thousing\t1\n")
    rewritten, _printed = evaluate(dataset, "--profile", "bm25")
    as_asked, _printed = evaluate(dataset, "--profile", "bm25", "--as-asked")
    assert (rewritten["rewrites"], rewritten["retrieval"]["mrr"]) == (True, 1)
    assert (as_asked["rewrites"], as_asked["retrieval"]["mrr"]) == (False, 0)
    with pytest.raises(CommandError, match="retrieval alone"):
        evaluate(dataset, "--answers", "--as-asked")

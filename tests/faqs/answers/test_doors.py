"""Answers of staff through files and the staff API; files and programs that know of none go on working."""

import datetime
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from faqs.models import FAQ
from faqs.services import index_saved_faq
from knowledge.models import Document
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory, UserFactory
from tests.faqs.answers.written import ANSWER, CHECKED, GERMAN, QUESTION, written
from tests.staff.api import Program, read_version

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqs.tasks.index_faq.delay", lambda _id: None)
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def imported(folder: Path, *faqs: dict[str, Any]) -> str:
    path, out, err = folder / "faqs.json", io.StringIO(), io.StringIO()
    path.write_text(json.dumps(faqs))
    call_command("import_faqs", str(path), stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def test_an_answer_is_imported_published_and_found_at_once(tmp_path: Path) -> None:
    said = imported(tmp_path, {"question": QUESTION, "answer": ANSWER})
    assert "1 new" in said
    faq = FAQ.objects.get()
    assert (faq.status, faq.answer_en, faq.answer_de) == ("published", ANSWER, "")
    assert Document.objects.get(answer_page__faq=faq).passages.exists()
    assert "1 unchanged" in imported(tmp_path, {"question": QUESTION, "answer": ANSWER})


def test_one_for_each_language_and_one_without_in_the_language_of_its_faq(tmp_path: Path) -> None:
    imported(
        tmp_path,
        {"question": QUESTION, "answer": {"de": GERMAN, "en": ANSWER}, "office_de": "der Bibliothek"},
        {"question": "Gibt es Schließfächer in der Bibliothek?", "answer": GERMAN, "language": "de"},
    )
    both, german = FAQ.objects.order_by("pk")
    assert both.written_answers == {"de": GERMAN, "en": ANSWER}
    assert both.office_de == "der Bibliothek"
    assert german.written_answers == {"de": GERMAN}
    assert Document.objects.filter(is_written_answer=True).count() == 3


@pytest.mark.parametrize("answer", [{"fr": "Oui."}, ["Yes."], {"de": ["Ja."]}, {"de": {"x": 1}}, "x" * 5_001])
def test_an_answer_that_is_none_is_refused_with_what_to_do(tmp_path: Path, answer: Any) -> None:
    assert "answer:" in imported(tmp_path, {"question": QUESTION, "answer": answer})
    assert not FAQ.objects.exists()


def test_a_file_without_answers_is_imported_as_ever(tmp_path: Path) -> None:
    DocumentFactory(url="https://www.uni.example/a")
    imported(tmp_path, {"question": QUESTION, "sources": ["https://www.uni.example/a"], "reference_answer": "20"})
    imported(tmp_path, {"question": "Nothing?"})
    assert list(FAQ.objects.order_by("pk").values_list("status", flat=True)) == ["published", "draft"]
    assert not Document.objects.filter(is_written_answer=True).exists()


@pytest.mark.parametrize("kind", ["json", "csv", "xlsx"])
def test_an_exported_file_holds_the_answers_and_changes_nothing_when_imported(
    admin_client: Client, tmp_path: Path, kind: str
) -> None:
    faq = written(answer_de=GERMAN)
    body = admin_client.get(reverse("admin:faqs_faq_download", args=[kind])).content
    path = tmp_path / f"faqs.{kind}"
    path.write_bytes(body)
    out = io.StringIO()
    call_command("import_faqs", str(path), stdout=out)
    assert "1 unchanged" in out.getvalue()
    if kind == "json":
        (row,) = json.loads(body)
        assert (row["answer_en"], row["office_en"]) == (ANSWER, "the University Library")
        assert row["answer_checked_on"] == "2026-03-03"
        assert "answer" not in row
    faq.refresh_from_db()
    assert (faq.answer_de, faq.answer_checked_on) == (GERMAN, CHECKED)


def test_another_text_without_a_day_was_checked_when_it_was_imported(tmp_path: Path) -> None:
    faq = written()
    imported(tmp_path, {"question": QUESTION, "answer": "Not any more."})
    faq.refresh_from_db()
    assert faq.answer_checked_on != CHECKED


@pytest.fixture
def program() -> Program:
    permissions = [f"faqs.{verb}_faq" for verb in ("view", "add", "change", "delete", "publish")]
    return Program(UserFactory(permissions=[*permissions, "knowledge.whole_university"]))


def test_a_program_writes_publishes_and_reads_one(program: Program) -> None:
    collection = CollectionFactory()
    made = program.post(
        "/faqs/",
        {"question": QUESTION, "answer_en": ANSWER, "office_en": "the Library", "collection": collection.slug},
    )
    assert made.status_code == 201, made.content
    faq = FAQ.objects.get()
    assert made.json()["answer_en"] == ANSWER
    published = program.post(f"/faqs/{faq.pk}/publish/", {"version": read_version(faq)})
    assert published.status_code == 200, published.content
    document = Document.objects.get(answer_page__faq=faq)
    assert (document.status, document.collection) == ("published", collection)
    empty = program.patch(f"/faqs/{faq.pk}/", {"version": read_version(faq), "answer_en": ""})
    assert empty.status_code == 400
    assert program.get(f"/documents/{document.pk}/").status_code in {403, 404}


def test_a_program_and_a_file_are_told_what_to_look_at_again(program: Program, tmp_path: Path) -> None:
    decision = "You are admitted to the programme."
    made = program.post("/faqs/", {"question": QUESTION, "answer_en": decision, "office_en": "us"})
    assert made.status_code == 201, made.content
    (warning,) = made.json()["answer_warnings"]
    assert warning.startswith("answer_en: ")
    faq = FAQ.objects.get()
    assert program.get(f"/faqs/{faq.pk}/").json()["answer_warnings"] == []
    said = imported(tmp_path, {"question": "And I?", "answer": decision})
    assert "answer_en: “You are admitted" in said
    assert "answer_en" not in imported(tmp_path, {"question": "And I?", "answer": decision})


def test_documents_of_answers_keep_to_the_faqs_collection_readers_and_days() -> None:
    first = DocumentFactory(audience=["programme:msc"])
    faq = written(documents=[first], valid_until=datetime.date(2027, 3, 31))
    document = Document.objects.get(answer_page__faq=faq)
    assert document.collection == first.collection
    assert document.audience == ["programme:msc"]
    assert document.valid_until == datetime.date(2027, 3, 31)


def test_the_list_takes_as_many_queries_for_20_answers_as_for_2(admin_client: Client) -> None:
    counts = []
    for more in (2, 18):
        for faq in FAQFactory.create_batch(more, answer_en=ANSWER):
            index_saved_faq(faq=faq)
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(reverse("admin:faqs_faq_changelist"), {"documents": "written"}).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]

"""Any text that a student or a member of staff brings is kept as it is, or refused in words they understand."""

import json
import re
import unicodedata
import uuid
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client as Browser
from django.urls import reverse
from pytest_django import Settings

from chat.models import Visitor
from faqs.importexport.files import read_table
from faqs.importexport.resource import FAQResource
from faqs.models import FAQ, Phrasing
from faqs.services import import_table
from knowledge.ingest.importer import import_records, read_jsonl
from knowledge.models import Document
from tests.chat.api_client import Client
from tests.factories import (
    AnswerFactory,
    CollectionFactory,
    ConversationFactory,
    DocumentFactory,
    QuestionFactory,
    is_indexed,
)
from tests.security.strings import OWN, strings
from tests.sent import as_sent
from tests.servers import Server

pytestmark = pytest.mark.slow

#: Are no characters, says Unicode.
NONE = "\ufffe\uffff"
HALVES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Without what the database or UTF-8 cannot hold."""
    return HALVES.sub("?", text.replace("\x00", ""))


def printable(text: str) -> str:
    """Without controls, which mean nothing in a question, and without outer blanks."""
    lines = text.replace("\r\n", "\n")
    kept = (sign for sign in lines if sign in "\t\n" or (unicodedata.category(sign) != "Cc" and sign not in NONE))
    return storable("".join(kept)).strip()


def sends_words(text: str) -> bool:
    return not HALVES.search(text) and any(unicodedata.category(sign)[0] in "LN" for sign in printable(text))


def batches(texts: list[str], most: int) -> list[str]:
    """Several to a text of at most so many characters, a line each."""
    made = [""]
    for text in texts:
        if len(made[-1]) + len(text) + 1 > most:
            made.append("")
        made[-1] += f"{text}\n"
    return made


def test_questions_and_comments_come_back_in_the_export(server: Server, settings: Settings) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.QUESTIONS_PER_MINUTE_AND_ADDRESS = 100_000
    client = Client.begin(server)
    sent = batches([text for text in strings() if sends_words(text)], 1_900)
    asked = [client.ask(text) for text in sent]
    conversation = ConversationFactory(visitor=Visitor.objects.get())
    commented = {}
    for text in batches([text for text in strings() if not HALVES.search(text)], 990):
        answer = AnswerFactory(question=QuestionFactory(conversation=conversation))
        commented[answer.pk] = text
        said = {"value": -1, "comment": text}
        assert client.put(f"/api/v1/messages/{answer.pk}/feedback", said).status == 204, text
    exported = client.get("/api/v1/my-data").json["conversations"]
    told = {message["id"]: message for each in exported for message in each["messages"]}
    for text, answer in zip(sent, asked, strict=True):
        assert told[answer.start["question"]["id"]]["text"] == printable(text)
    for pk, text in commented.items():
        assert told[pk]["feedback_comment"] == printable(text)


def test_a_question_without_words_is_refused_and_said_why(server: Server) -> None:
    client = Client.begin(server)
    refused = [text for text in strings() if not sends_words(text)]
    assert len(refused) >= 3
    for text in refused:
        reply = client.post(f"/api/v1/conversations/{uuid.uuid4()}/ask", {"client_id": str(uuid.uuid4()), "text": text})
        assert reply.status in {400, 422}, text
        assert reply.json["code"] in {"empty_question", "no_words", "invalid"}, text
        assert reply.json["detail"].strip()
    assert client.get("/api/v1/my-data").json["conversations"] == []


def written(rows: list[dict[str, object]], folder: Path) -> Path:
    file = folder / "documents.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.mark.django_db
def test_documents_keep_their_titles_and_texts(tmp_path: Path) -> None:
    """But for tags in a text, which become breaks, and a title with a percent sign, which is read as a file's name."""
    texts = strings()
    rows = [
        {
            "id": text,
            "url": f"https://www.uni.example/{number}",
            "title": f"About {text}",
            "text": f"Text {number}: {text} .",
            "metadata": {"said": text, text: "said"},
        }
        for number, text in enumerate(texts)
    ]
    report = import_records(read_jsonl(written(rows, tmp_path)), collection=CollectionFactory())
    assert (report.problems, report.created) == ([], len(texts))
    kept = {document.url: document for document in Document.objects.all()}
    for number, text in enumerate(texts):
        document = kept[f"https://www.uni.example/{number}"]
        assert "<" in text or document.text == storable(f"Text {number}: {text} ."), text
        assert "%" in text or document.title == storable(f"About {text}").strip(), text


@pytest.mark.django_db
def test_documents_of_any_text_are_indexed(tmp_path: Path) -> None:
    rows = [
        {"url": f"https://www.uni.example/{number}", "title": text[:400], "text": text}
        for number, text in enumerate(batches(strings(), 3_000))
    ]
    errors = StringIO()
    call_command("import_documents", written(rows, tmp_path), stdout=StringIO(), stderr=errors)
    assert errors.getvalue() == ""
    assert all(map(is_indexed, Document.objects.all()))


@pytest.mark.django_db
def test_faqs_keep_their_questions_and_phrasings() -> None:
    document = DocumentFactory()
    texts = [text for text in [*OWN, *batches(strings(), 900)] if text.replace("\x00", "").strip()]
    rows = [
        {"id": str(number), "question": text, "phrasings": [f"Again: {text}"], "sources": [document.url]}
        for number, text in enumerate(texts)
    ]
    table = read_table("faqs.json", json.dumps(rows).encode())
    planned = import_table(table=table, resource=FAQResource.for_operator())
    assert not [row for row in planned if row.problems]
    # Some are written to be obeyed by a program: they are kept, and staff look at them first.
    assert all("speak to a program" in said for row in planned for _column, said in row.notices)
    assert {faq.external_id: faq.question for faq in FAQ.objects.all()} == {
        str(number): storable(text).strip() for number, text in enumerate(texts)
    }
    assert set(Phrasing.objects.values_list("text", flat=True)) == {
        storable(f"Again: {text}").strip() for text in texts
    }


@pytest.mark.django_db
def test_what_staff_type_is_saved_or_refused_beside_its_field(admin_client: Browser) -> None:
    document = DocumentFactory()
    parts = {
        f"{name}-{part}_FORMS": count
        for name in ("phrasings", "sources")
        for part, count in (("TOTAL", 0), ("INITIAL", 0), ("MIN_NUM", 0), ("MAX_NUM", 1000))
    }
    for text in [text for text in OWN if max(text, default="") < "\ud800" or max(text) > "\udfff"]:
        faq = {"question": text, "language": "en", "status": "draft", **parts}
        page = {"title": text, "text": f"About {text}", "url": document.url, "language": "en", "status": "draft"}
        page |= {"collection": document.collection_id, "metadata": "{}", "audience": ""}
        for name, form in (("faqs_faq", faq), ("knowledge_document", page)):
            change = name == "knowledge_document"
            address = reverse(f"admin:{name}_{'change' if change else 'add'}", args=[document.pk] if change else [])
            shown = as_sent(admin_client.get(address), "document_form") if change else {}
            response = admin_client.post(address, shown | form)
            if response.status_code == 200:
                assert "errorlist" in response.content.decode(), (name, text)
                assert "\x00" in text or not text.strip(), (name, text)
            else:
                assert response.status_code == 302
                saved = FAQ.objects.latest("pk").question if name == "faqs_faq" else Document.objects.get().title
                assert saved.split() == text.split(), (name, text)


@pytest.mark.django_db
def test_what_was_said_can_be_read_and_looked_for_by_staff(admin_client: Browser) -> None:
    conversation = ConversationFactory()
    for text in batches([*map(storable, strings())], 500):
        AnswerFactory(question=QuestionFactory(conversation=conversation, text=text), text=text)
    page = admin_client.get(reverse("admin:chat_conversation_change", args=[conversation.pk]))
    assert page.status_code == 200
    for shown in ("knowledge_document", "faqs_faq", "chat_conversation", "analytics_gap"):
        for text in map(storable, OWN):
            listed = admin_client.get(reverse(f"admin:{shown}_changelist"), {"q": text})
            assert listed.status_code in {200, 302}, (shown, text)

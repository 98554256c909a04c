"""Whoever publishes, restores or merges an answer is warned as in the form, and not stopped."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from faqs.importexport.files import read_table
from faqs.importexport.resource import FAQResource
from faqs.models import FAQ, SimilarPair
from faqs.services import set_faq_status
from knowledge.models import Document
from tests.conftest import load_pages
from tests.factories import FAQFactory, UserFactory
from tests.staff.api import Program, read_version

pytestmark = pytest.mark.django_db
ASKED = "How much is the semester contribution?"
WRONG = "The semester contribution is 299.10 euros each semester."
RIGHT = "The semester contribution is 318.40 euros each semester."


@pytest.fixture(autouse=True)
def _pages(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", lambda *_args: None)
    text = f"# Semester contribution\n\n{RIGHT}"
    load_pages([{"url": "https://www.uni.example/fees", "title": "Fees", "text": text}])


def answered(text: str = WRONG, **values: Any) -> FAQ:
    given = {"question": ASKED, "answer_en": text, "office_en": "the Student Service Centre", **values}
    faq: FAQ = FAQFactory(**given)
    return faq


def warnings(page: Any) -> list[str]:
    return [message.message for message in get_messages(page.wsgi_request) if message.level_tag == "warning"]


def publish(client: Client, *faqs: FAQ) -> list[str]:
    sent = {"action": "publish", "_selected_action": [faq.pk for faq in faqs]}
    return warnings(client.post(reverse("admin:faqs_faq_changelist"), sent))


def test_publishing_in_the_list_warns_of_what_the_pages_contradict(admin_client: Client) -> None:
    faq = answered()
    (warning,) = publish(admin_client, faq)
    assert warning.startswith("Answer in English: “The semester contribution is 299.10 euros")
    assert "the page “Fees” says otherwise" in warning
    faq.refresh_from_db()
    assert faq.status == "published"


def test_of_several_the_question_is_named_and_what_agrees_is_not_warned_of(admin_client: Client) -> None:
    (warning,) = publish(admin_client, answered(RIGHT, question="What is the semester contribution?"), answered())
    assert warning.startswith(f"“{ASKED}”: Answer in English: ")


def test_retiring_warns_of_nothing(admin_client: Client) -> None:
    faq = answered(status="published")
    sent = {"action": "retire", "_selected_action": [faq.pk]}
    assert warnings(admin_client.post(reverse("admin:faqs_faq_changelist"), sent)) == []


def test_of_very_many_the_rest_is_counted(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqs.admin.warnings.MOST_COMPARED", 1)
    first, second = publish(admin_client, answered(), answered(question="How much is the contribution?"))
    assert "299.10 euros" in first
    assert "1 more FAQ was not compared with the pages" in second


def test_restoring_an_earlier_answer_warns(admin_client: Client) -> None:
    faq = answered()
    set_faq_status(faqs=[faq], status="published")
    old = faq.versions.first()
    FAQ.objects.update(answer_en=RIGHT)
    (warning,) = warnings(admin_client.post(reverse("admin:faqs_faq_restore", args=[faq.pk, old.pk])))
    assert "299.10 euros" in warning
    faq.refresh_from_db()
    assert faq.answer_en == WRONG


def test_merging_warns_of_the_answer_that_is_taken(admin_client: Client) -> None:
    keep, other = answered("", status="published"), answered(question="How high is the semester contribution?")
    pair = SimilarPair.objects.create(first=keep, second=other, similarity=0.9)
    sent = {"keep": keep.pk, "answer": "take"}
    (warning,) = warnings(admin_client.post(reverse("admin:faqs_faq_merge", args=[pair.pk]), sent))
    assert "299.10 euros" in warning


def test_a_program_that_publishes_reads_the_warning() -> None:
    permissions = [f"faqs.{verb}_faq" for verb in ("view", "change", "publish")]
    program, faq = Program(UserFactory(permissions=[*permissions, "knowledge.whole_university"])), answered()
    reply = program.post(f"/faqs/{faq.pk}/publish/", {"version": read_version(faq)}).json()
    (warning,) = reply["answer_warnings"]
    assert warning.startswith("answer_en: “The semester contribution is 299.10 euros")
    reply = program.post(f"/faqs/{faq.pk}/retire/", {"version": reply["version"]}).json()
    assert reply["answer_warnings"] == []


GERMAN = "Der Semesterbeitrag beträgt 328,40 Euro in jedem Semester."


@pytest.fixture
def two_languages() -> FAQ:
    """Return an FAQ whose answers say two figures; no page is about it."""
    Document.objects.all().delete()
    return answered(RIGHT, answer_de=GERMAN, office_de="der Studienberatung")


def test_publishing_warns_of_a_figure_that_the_other_language_says_otherwise(
    admin_client: Client, two_languages: FAQ
) -> None:
    (warning,) = publish(admin_client, two_languages)
    assert warning.startswith(f"Answer in German: “{GERMAN}” – the answer in English says otherwise: “{RIGHT}”")


def test_a_program_that_changes_one_language_reads_that_the_other_one_says_otherwise(two_languages: FAQ) -> None:
    program = Program(UserFactory(permissions=["faqs.view_faq", "faqs.change_faq", "knowledge.whole_university"]))
    sent = {"version": read_version(two_languages), "answer_en": RIGHT.replace("318", "388")}
    (warning,) = program.patch(f"/faqs/{two_languages.pk}/", sent).json()["answer_warnings"]
    assert warning.startswith("answer_de: ")
    assert "388.40 euros" in warning


def test_merging_warns_of_two_languages_that_differ(admin_client: Client, two_languages: FAQ) -> None:
    keep = FAQFactory(question="How high is the semester contribution?", status="published")
    pair = SimilarPair.objects.create(first=two_languages, second=keep, similarity=0.9)
    sent = {"keep": keep.pk, "answer": "take"}
    (warning,) = warnings(admin_client.post(reverse("admin:faqs_faq_merge", args=[pair.pk]), sent))
    assert "the answer in English says otherwise" in warning


def test_an_import_remarks_that_the_language_it_changes_says_otherwise_than_the_other_one(
    two_languages: FAQ,
) -> None:
    row = {"number": two_languages.pk, "question": ASKED, "answer_en": RIGHT.replace("318", "388")}
    table = read_table("faqs.json", json.dumps([row]).encode())
    (planned,) = FAQResource.for_operator().plan(table)
    (notice,) = [message for column, message in planned.notices if column == "answer_de"]
    assert "388.40 euros" in notice


def import_file(client: Client, rows: list[dict[str, Any]]) -> list[str]:
    """Import the rows on the import page and return the warnings."""
    address = reverse("admin:faqs_faq_import")
    file = SimpleUploadedFile("faqs.json", json.dumps(rows).encode())
    checked = client.post(address, {"file": file}).context
    sent = {"confirmed": "1", "file_key": checked["file_key"], "fingerprint": checked["fingerprint"]}
    return warnings(client.post(address, sent))


ROW = {"question": ASKED, "answer_en": WRONG, "office_en": "the Student Service Centre"}


def test_an_import_warns_of_answers_that_pages_contradict(admin_client: Client) -> None:
    (warning,) = import_file(admin_client, [ROW])
    assert "the page “Fees” says otherwise" in warning
    assert FAQ.objects.get().answer_en == WRONG


def test_an_import_warns_of_no_answer_that_it_leaves_as_it_is(admin_client: Client) -> None:
    faq = answered()
    assert import_file(admin_client, [{"number": faq.pk, "question": ASKED, "category": "Money"}]) == []


def test_the_command_warns_of_answers_that_pages_contradict(tmp_path: Path) -> None:
    path, errors = tmp_path / "faqs.json", StringIO()
    path.write_text(json.dumps([ROW, {**ROW, "question": "Fee?", "answer_en": RIGHT}]))
    call_command("import_faqs", str(path), stdout=StringIO(), stderr=errors)
    (line,) = [line for line in errors.getvalue().splitlines() if "says otherwise" in line]
    assert line.startswith(f"FAQ 1 ({ASKED}): answer_en: “The semester contribution is 299.10 euros")

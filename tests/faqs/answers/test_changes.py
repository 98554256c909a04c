"""A reworded answer gets a new date of its check, at each door, and an office signs it."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from faqs.models import FAQ
from faqs.services import restore_version, set_faq_status
from tests.factories import FAQFactory, UserFactory
from tests.faqs.answers.written import ANSWER, CHECKED, GERMAN, QUESTION, written
from tests.faqs.forms import build_form
from tests.staff.api import Program, read_version

pytestmark = pytest.mark.django_db
OTHER = "Yes, for a deposit of **30 euros**."
REDATED = "students now read that it was checked today"


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", lambda *_args: None)


@pytest.fixture
def program() -> Program:
    permissions = [f"faqs.{verb}_faq" for verb in ("view", "add", "change", "publish")]
    return Program(UserFactory(permissions=[*permissions, "knowledge.whole_university"]))


def send(client: Client, faq: FAQ, **values: Any) -> str:
    """Save the form with its answer as it is, except for these values; return the page that follows."""
    names = ("answer_de", "office_de", "answer_en", "office_en", "answer_checked_on")
    sent = {name: getattr(faq, name) or "" for name in names} | values
    page = client.post(reverse("admin:faqs_faq_change", args=[faq.pk]), build_form(faq, **sent), follow=True)
    faq.refresh_from_db()
    return page.content.decode()


def imported(folder: Path, capsys: pytest.CaptureFixture[str], **values: Any) -> str:
    path = folder / "faqs.json"
    path.write_text(json.dumps([{"question": QUESTION, **values}]))
    call_command("import_faqs", str(path))
    return capsys.readouterr().err


@pytest.mark.parametrize("field", ["answer_en", "answer_de"])
def test_a_reworded_answer_is_dated_today_in_the_form_and_the_person_reads_it(admin_client: Client, field: str) -> None:
    faq = written(answer_de=GERMAN)
    page = send(admin_client, faq, **{field: OTHER})
    assert (getattr(faq, field), faq.answer_checked_on) == (OTHER, timezone.localdate())
    assert REDATED in page
    assert f"checked on {timezone.localdate().day} " in Client().get(f"/answers/{faq.pk}/en/").content.decode()


def test_other_changes_of_the_form_keep_the_date(admin_client: Client) -> None:
    faq = written()
    page = send(admin_client, faq, question="Are there lockers?", answer_en=ANSWER.replace("\n", "\r\n"))
    assert (faq.question, faq.answer_checked_on) == ("Are there lockers?", CHECKED)
    assert REDATED not in page
    send(admin_client, faq, answer_de=GERMAN)
    FAQ.objects.update(answer_checked_on=CHECKED)
    faq.refresh_from_db()
    send(admin_client, faq, answer_de="")
    assert (faq.written_answers, faq.answer_checked_on) == ({"en": ANSWER}, CHECKED)


def test_another_date_in_the_same_save_counts(admin_client: Client) -> None:
    faq, day = written(), CHECKED + datetime.timedelta(days=9)
    page = send(admin_client, faq, answer_en=OTHER, answer_checked_on=day.isoformat())
    assert faq.answer_checked_on == day
    assert REDATED not in page


def test_a_date_that_cannot_be_read_is_not_replaced(admin_client: Client) -> None:
    faq = written()
    page = send(admin_client, faq, answer_en=OTHER, answer_checked_on="soon")
    assert "Enter a valid date" in page
    assert faq.answer_checked_on == CHECKED


def test_a_program_that_rewords_one_reads_its_new_date(program: Program) -> None:
    faq = written()
    body = {"version": read_version(faq), "answer_en": OTHER, "answer_checked_on": CHECKED.isoformat()}
    reply = program.patch(f"/faqs/{faq.pk}/", body).json()
    assert reply["answer_checked_on"] == timezone.localdate().isoformat()
    (warning,) = [said for said in reply["answer_warnings"] if REDATED in said]
    assert warning.startswith("answer_checked_on: ")
    body = {"version": reply["version"], "answer_en": ANSWER, "answer_checked_on": CHECKED.isoformat()}
    reply = program.patch(f"/faqs/{faq.pk}/", body).json()
    assert (reply["answer_checked_on"], reply["answer_warnings"]) == (CHECKED.isoformat(), [])


def test_a_file_with_another_text_and_the_earlier_date_dates_it_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faq = written()
    said = imported(tmp_path, capsys, answer_en=OTHER, answer_checked_on=CHECKED.isoformat())
    faq.refresh_from_db()
    assert (faq.answer_en, faq.answer_checked_on) == (OTHER, timezone.localdate())
    assert REDATED in said


def test_a_restored_answer_keeps_the_date_of_its_version() -> None:
    faq = written()
    first = faq.versions.first()
    FAQ.objects.update(answer_en=OTHER, answer_checked_on=timezone.localdate())
    restore_version(version=first, by=None)
    faq.refresh_from_db()
    assert (faq.answer_en, faq.answer_checked_on) == (ANSWER, CHECKED)


def test_a_restored_answer_without_a_date_is_dated_when_it_was_saved() -> None:
    faq = FAQFactory(question=QUESTION, answer_en=ANSWER, office_en="the Library")
    set_faq_status(faqs=[faq], status="in_review")
    first = faq.versions.first()
    assert first.content["answer"]["answer_checked_on"] == ""
    saved = timezone.now() - datetime.timedelta(days=40)
    type(first).objects.filter(pk=first.pk).update(made_at=saved)
    first.refresh_from_db()
    restore_version(version=first, by=None)
    faq.refresh_from_db()
    assert faq.answer_checked_on == timezone.localdate(saved)


# --- the office ---


def test_a_program_names_the_office_of_an_answer_that_it_writes(program: Program) -> None:
    reply = program.post("/faqs/", {"question": QUESTION, "answer_en": ANSWER})
    assert reply.status_code == 400
    (error,) = reply.json()["errors"]
    assert error["field"] == "office_en"
    assert "Write which office answers" in str(error)
    assert not FAQ.objects.exists()
    faq = written()
    emptied = program.patch(f"/faqs/{faq.pk}/", {"version": read_version(faq), "office_en": ""})
    assert emptied.status_code == 400
    old = written(question="And at night?")
    FAQ.objects.filter(pk=old.pk).update(office_en="")
    assert program.patch(f"/faqs/{old.pk}/", {"version": read_version(old), "phrasings": ["x"]}).status_code == 200


def test_a_file_of_staff_needs_the_office_and_the_command_warns(
    admin_client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = SimpleUploadedFile("faqs.json", json.dumps([{"question": QUESTION, "answer": ANSWER}]).encode())
    page = admin_client.post(reverse("admin:faqs_faq_import"), {"file": file}).content.decode()
    assert "Write which office answers" in page
    assert "No office signs the answer" in imported(tmp_path, capsys, answer=ANSWER)
    faq = FAQ.objects.get()
    assert faq.status == "published"
    assert "No office signs" not in imported(tmp_path, capsys, answer=ANSWER)


def test_an_answer_that_no_office_signs_is_not_published(admin_user: User) -> None:
    faq = FAQFactory(question=QUESTION, answer_en=ANSWER)
    with pytest.raises(ValidationError, match="No office signs the answer of “Can I rent"):
        set_faq_status(faqs=[faq], status="published", by=admin_user)
    FAQ.objects.update(office_en="the Library")
    assert set_faq_status(faqs=[FAQ.objects.get()], status="published", by=admin_user) == 1

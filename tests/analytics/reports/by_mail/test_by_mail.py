"""Reports by e-mail, through a server that speaks SMTP: the file and the figures that the reader may see that day."""

import datetime
import io
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

import pdfplumber
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook
from pytest_django import Settings

from analytics.counts.refresh import count_changed
from analytics.models import Report, StoredReport, TimelineDate
from analytics.reports.by_mail import figures
from analytics.reports.by_mail.run import mail_due_reports, request_files
from analytics.reports.by_mail.schedule import definition_until, last_day, next_mail
from analytics.reports.definition import Definition, Span
from analytics.reports.files import file_path
from analytics.reports.run import work_on
from analytics.reports.services import save_report
from chat.conversations.visitors import delete_visitor
from chat.models import Conversation, Message, Visitor
from core.access import WHOLE_UNIVERSITY as WHOLE
from marcelcms import env
from tests.analytics.inbox.mail_server import MailServer, mail_server, use
from tests.analytics.reports.rows import asked, definition
from tests.factories import AssistantFactory, DocumentFactory, UserFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

DAY = datetime.timedelta(days=1)
RIGHTS = ["analytics.export_reports", "analytics.view_dashboard", "analytics.see_small_groups"]


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def smtp(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        yield server


def analyst(**values: Any) -> User:
    known = {"username": "ada", "first_name": "Ada", "email": "ada@uni.example", "permissions": RIGHTS}
    made: User = UserFactory(**known | values)
    return made


def monthly(owner: User, *columns: str, **values: Any) -> Report:
    chosen = {"span": Span.LAST_MONTH, "rhythm": "monthly"} | values
    rhythm = chosen.pop("rhythm")
    report = Report(owner=owner, name="Fees")
    return save_report(report=report, definition=definition(*columns, **chosen), rhythm=rhythm)


def first_of_next_month() -> datetime.date:
    return next_mail("monthly", timezone.localdate())


def work() -> None:
    for stored in StoredReport.objects.active():
        work_on(stored.pk)


def mail_on(day: datetime.date) -> int:
    """Run the task until the worker has made the files and they are mailed; return how many mails."""
    request_files(day)
    assert mail_due_reports(day) == 0
    work()
    return mail_due_reports(day)


def text_of(mail: EmailMessage) -> str:
    body = mail.get_body()
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def pdf_of(mail: EmailMessage) -> pdfplumber.PDF:
    (attached,) = mail.iter_attachments()
    assert attached.get_content_type() == "application/pdf"
    return pdfplumber.open(io.BytesIO(attached.get_content()))


def words_of(pdf: pdfplumber.PDF) -> str:
    return " ".join(" ".join(page.extract_text() for page in pdf.pages).split())


# --- when ---


def test_the_first_mail_is_of_the_month_that_runs_now_and_comes_once(smtp: MailServer) -> None:
    report = monthly(analyst(), "question")
    asked("What are the fees?", visitors=2)
    today = timezone.localdate()
    assert request_files(today) == []
    assert not StoredReport.objects.exists()
    assert mail_on(first_of_next_month()) == 1
    assert (request_files(first_of_next_month()), mail_due_reports(first_of_next_month())) == ([], 0)
    report.refresh_from_db()
    assert (report.mailed_until, report.file) == (first_of_next_month() - DAY, None)
    assert smtp.recipients == ["ada@uni.example"]


def test_weeks_end_on_sunday_and_no_mail_holds_a_day_that_has_just_begun() -> None:
    monday = datetime.date(2026, 11, 23)
    assert last_day("weekly", monday) == datetime.date(2026, 11, 22)
    assert next_mail("weekly", monday) == datetime.date(2026, 11, 30)
    report = Report(rhythm="weekly", definition=definition(span=Span.LAST_7).dump())
    found = definition_until(report, last_day("weekly", monday))
    assert (found.first, found.last) == (datetime.date(2026, 11, 16), datetime.date(2026, 11, 22))


def test_last_month_is_the_month_that_is_over() -> None:
    report = Report(rhythm="monthly", definition=definition(span=Span.LAST_MONTH).dump())
    found = definition_until(report, last_day("monthly", datetime.date(2026, 12, 1)))
    assert (found.first, found.last) == (datetime.date(2026, 11, 1), datetime.date(2026, 11, 30))


@pytest.mark.parametrize("change", [{"email": ""}, {"is_active": False}, {"is_staff": False}, {"permissions": ()}])
def test_who_may_not_export_any_more_gets_no_mail(smtp: MailServer, change: dict[str, Any]) -> None:
    owner = analyst()
    monthly(owner)
    asked()
    if "permissions" in change:
        owner.user_permissions.clear()
    else:
        User.objects.filter(pk=owner.pk).update(**change)
    assert request_files(first_of_next_month()) == []
    assert mail_due_reports(first_of_next_month()) == 0
    assert smtp.mails == []


def test_a_mail_server_that_is_away_gets_the_mail_later(smtp: MailServer, settings: Settings) -> None:
    monthly(analyst(), "question")
    asked()
    day = first_of_next_month()
    request_files(day)
    work()
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert mail_due_reports(day) == 0
    settings.EMAIL_PORT = port
    assert mail_due_reports(day) == 1
    assert len(smtp.mails) == 1


# --- what ---


def test_the_mail_leads_to_the_file_and_the_file_has_the_months_answers(smtp: MailServer, client: Client) -> None:
    owner, faculty = analyst(), AssistantFactory(name="Faculty of Law")
    monthly(owner, "question", "answer", "thumbs", assistants=(faculty.pk,))
    asked("What are the fees?", assistant=faculty, thumbs=1, answered="318 euros.")
    asked("Where is the library?", assistant=faculty, answered="In the old mill.")
    asked("Of another faculty?")
    assert mail_on(first_of_next_month()) == 1
    mail, stored = smtp.mails[0], StoredReport.objects.get()
    body = text_of(mail)
    assert body.startswith("Hello Ada,\n")
    assert "This is your report “Fees” of " in body
    assert f"2 answers, Excel (.xlsx):\nhttp://localhost:8000/admin/analytics/report/files/{stored.pk}/\n" in body
    assert f"/admin/analytics/report/{Report.objects.get().pk}/change/" in body
    client.force_login(owner)
    answer = client.get(reverse("admin:analytics_report_download", args=[stored.pk]))
    sheet = load_workbook(io.BytesIO(b"".join(answer))).active  # type: ignore[arg-type]
    assert sheet is not None
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["question", "answer", "thumbs (1 up, −1 down)"],
        ["What are the fees?", "318 euros.", 1],
        ["Where is the library?", "In the old mill.", None],
    ]


def test_no_word_of_a_student_is_in_the_mail(smtp: MailServer) -> None:
    monthly(analyst(), "question", "comment")
    asked("Where does my zebra park?", comment="My zebra is ill")
    count_changed()
    assert mail_on(first_of_next_month()) == 1
    mail = smtp.mails[0]
    assert "zebra" not in text_of(mail).lower()
    assert "zebra" not in words_of(pdf_of(mail)).lower()


def test_the_figures_are_those_that_the_dashboard_shows_the_reader(smtp: MailServer) -> None:
    owner, faculty = analyst(), AssistantFactory(name="Faculty of Law")
    monthly(owner, assistants=(faculty.pk,))
    asked(assistant=faculty, visitors=4)
    asked(visitors=3)
    count_changed()
    assert mail_on(first_of_next_month()) == 1
    pdf = pdf_of(smtp.mails[0])
    words = words_of(pdf)
    assert "Faculty of Law ·" in words
    assert "Questions 4" in words
    assert "Use over time" in words
    assert pdf.metadata["Title"] == "Fees"


def test_the_figures_say_what_changed_since_the_period_before_and_what_happened_in_it(smtp: MailServer) -> None:
    TimelineDate.objects.create(day=timezone.localdate(), text="Lectures begin")
    DocumentFactory(status="published")
    monthly(analyst(), "question")
    monthly(analyst(username="bea", email="bea@uni.example", permissions=[*RIGHTS, "knowledge.view_document", WHOLE]))
    month_before = timezone.localdate().day + 9
    asked(visitors=2, days_ago=month_before)
    Conversation.objects.update(created_at=timezone.now() - month_before * DAY)
    asked(visitors=3)
    count_changed()
    assert mail_on(first_of_next_month()) == 2
    told = {mail["To"]: words_of(pdf_of(mail)) for mail in smtp.mails}
    for words in told.values():
        assert "At a glance This period Change Period before Conversations 3 +50 % 2 3 questions" in words
        assert words.count("What happened") == 1
        assert "Assumed: 5 minutes of staff’s time for each resolved conversation." in words
    assert "Lectures begin Answers over time" in told["ada@uni.example"]
    assert "Lectures begin; 1 page published" in told["bea@uni.example"]


def test_where_nothing_happened_nothing_is_numbered(smtp: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "annotations", lambda _view: {})
    monthly(analyst(), "question")
    asked()
    count_changed()
    assert mail_on(first_of_next_month()) == 1
    assert "What happened" not in words_of(pdf_of(smtp.mails[0]))


def test_without_the_right_to_the_dashboard_there_are_no_figures(smtp: MailServer) -> None:
    monthly(analyst(permissions=["analytics.export_reports", "analytics.see_small_groups"]))
    asked()
    assert mail_on(first_of_next_month()) == 1
    assert list(smtp.mails[0].iter_attachments()) == []


def test_small_groups_are_hidden_in_figures_and_file_and_it_is_said_once(smtp: MailServer) -> None:
    monthly(analyst(permissions=RIGHTS[:2]), "question")
    asked(visitors=2)
    count_changed()
    assert mail_on(first_of_next_month()) == 1
    mail = smtp.mails[0]
    body = text_of(mail)
    assert "There is no file: There is no such answer" in body
    assert body.count("Groups of fewer than 5 visitors are left out for privacy.") == 1
    assert "Too few people asked in this period" in words_of(pdf_of(mail))


def test_a_chart_whose_days_are_all_small_groups_says_why_it_is_not_drawn_and_has_no_empty_axes() -> None:
    for days_ago in (3, 4, 5):
        asked(visitors=4, days_ago=days_ago)
    count_changed()
    made = figures.make_figures("Fees", definition(span=Span.LAST_7), analyst(permissions=RIGHTS[:2]))
    words = words_of(pdfplumber.open(io.BytesIO(made)))
    assert words.count("Hidden for privacy: each day’s figures are from fewer than 5 visitors") == 3
    assert "Use over time 12 questions. Hidden for privacy" in words
    assert words.count("Use over time") == 1  # its table, which would be of nothing, is left out


def test_what_was_erased_before_the_mail_is_not_in_a_file(smtp: MailServer) -> None:
    monthly(analyst(), "question")
    asked("Where does my zebra park?")
    day = first_of_next_month()
    request_files(day)
    work()
    stored = StoredReport.objects.get()
    delete_visitor(visitor=Visitor.objects.get().pk)
    assert not file_path(stored).exists()
    assert not Message.objects.exists()
    assert mail_due_reports(day) == 1
    assert "There is no file: deleted" in text_of(smtp.mails[0])


def test_the_mail_is_in_the_language_of_mails(smtp: MailServer, settings: Settings) -> None:
    settings.MAIL_LANGUAGE = "de"
    TimelineDate.objects.create(day=timezone.localdate(), text="Vorlesungsbeginn")
    monthly(analyst(), "question")
    asked()
    count_changed()
    assert mail_on(first_of_next_month()) == 1
    assert "Dies ist Ihr Bericht „Fees“" in text_of(smtp.mails[0])
    words = words_of(pdf_of(smtp.mails[0]))
    assert "Fragen" in words
    assert "Was geschah Nummeriert wie in den Diagrammen" in words


# --- asking for it ---


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"span": Span.FIXED, "first": datetime.date(2026, 1, 1), "last": datetime.date(2026, 1, 2)}, "stay the same"),
        ({"owner": {"email": ""}}, "no e-mail address"),
    ],
)
def test_what_cannot_be_mailed_is_refused_with_what_to_do(smtp: MailServer, change: dict[str, Any], said: str) -> None:
    owner = analyst(**change.pop("owner", {}))
    with pytest.raises(ValidationError, match=said):
        monthly(owner, **change)
    assert not Report.objects.exists()


def test_without_a_mail_server_it_is_refused(settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    with pytest.raises(ValidationError, match="sends no e-mails"):
        monthly(analyst())


def test_it_is_chosen_where_the_report_is_saved_and_ended_there(smtp: MailServer, client: Client) -> None:
    client.force_login(analyst())
    given = {"name": "Fees", "span": "last_month", "columns": ["question"], "order": ["question"], "format": "xlsx"}
    page = client.post(reverse("admin:analytics_report_add"), given | {"rhythm": "monthly", "save": "1"}, follow=True)
    assert "The first e-mail comes on" in page.content.decode()
    report = Report.objects.get()
    assert report.rhythm == "monthly"
    listed = client.get(reverse("admin:analytics_report_changelist")).content.decode()
    assert "every month, on the first day" in listed
    address = reverse("admin:analytics_report_change", args=[report.pk])
    assert '<option value="monthly" selected>' in client.get(address).content.decode()
    client.post(address, given | {"rhythm": "", "save": "1"})
    assert Report.objects.get().rhythm == ""


def test_a_colleagues_report_saved_as_a_copy_is_mailed_by_ones_own_choice(smtp: MailServer, client: Client) -> None:
    report = monthly(analyst())
    Report.objects.update(is_shared=True)
    client.force_login(analyst(username="ben", email="ben@uni.example"))
    page = client.get(reverse("admin:analytics_report_change", args=[report.pk])).content.decode()
    assert '<option value="monthly" selected>' not in page


def test_a_definition_keeps_its_meaning_on_any_day() -> None:
    assert Definition(columns=("question",), span=Span.LAST_7).period(datetime.date(2026, 3, 7)).first == datetime.date(
        2026, 3, 1
    )

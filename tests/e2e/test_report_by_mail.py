"""An analyst who has read no manual has a faculty's report come every month: in a browser, with a mail server."""

import io
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from tests.analytics.inbox.mail_server import MailServer, mail_server
from tests.e2e.conftest import keep, start, violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
#: From the dashboard to the saved report: what is pressed, chosen and typed into.
MOST_CLICKS = 8
ASKED = """
import uuid
from django.contrib.auth.models import Group, User
from django.utils import timezone
from chat.models import Assistant, Conversation, Feedback, Message, Visitor
from marcelcms.accounts.roles import ANALYST
law, team = Assistant.objects.create(slug="law", name="Faculty of Law"), Group.objects.create(name="Law")
arts = Assistant.objects.create(slug="arts", name="Faculty of Arts")
for assistant in (law, arts):
    assistant.teams.add(team)
analyst = User.objects.create_user("noa", "noa@uni.example", "reports-of-answers", first_name="Noa", is_staff=True)
analyst.groups.set([team, Group.objects.get(name=ANALYST)])
asked = [(law, f"When does hall {number} open?") for number in range(6)] + [(arts, "Where is the studio?")] * 6
for assistant, text in asked:
    said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
    question = Message.objects.create(
        conversation=said, role="user", client_id=uuid.uuid4(), text=text, language="en"
    )
    answer = Message.objects.create(
        conversation=said, role="assistant", question=question, status="complete", language="en",
        finished_at=timezone.now(), text="At eight.", profile="default", strategy="extractive",
    )
    Feedback.objects.create(message=answer, value=1, comment="Good")
"""
#: As the task does on the first of the next month; the stack's own worker makes the file.
DUE = """
import time
from django.utils import timezone
from analytics.counts.refresh import count_changed
from analytics.models import StoredReport
from analytics.reports.by_mail.run import mail_due_reports, request_files
from analytics.reports.by_mail.schedule import next_mail
from analytics.tasks import make_report
count_changed()
day = next_mail("monthly", timezone.localdate())
for stored in request_files(day):
    make_report.delay(stored)
for _ in range(600):
    if not StoredReport.objects.active().exists():
        break
    time.sleep(0.1)
print(mail_due_reports(day))
"""


@pytest.fixture(scope="module")
def smtp() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture(scope="module")
def mailing(smtp: MailServer) -> Iterator[Run]:
    with start(EMAIL_URL=f"smtp://127.0.0.1:{smtp.port}", DEFAULT_FROM_EMAIL="marcel@uni.example") as run:
        yield run


def test_from_the_dashboard_to_a_monthly_mail(page: Page, mailing: Run, smtp: MailServer) -> None:
    mailing.does(ASKED)
    page.goto(f"http://127.0.0.1:{mailing.port}/admin/login/?next=/admin/dashboard/")
    page.get_by_label("Username").fill("noa")
    page.get_by_label("Password").fill("reports-of-answers")
    page.get_by_role("button", name="Log in").click()
    clicks = 0
    for what in (
        page.get_by_role("link", name="Reports", exact=True).first,
        page.get_by_role("link", name="New report"),
        page.get_by_role("checkbox", name="Faculty of Law"),
        page.get_by_role("textbox", name="Name"),
    ):
        what.click()
        clicks += 1
        assert violations(page) == []
    page.keyboard.type("Law")
    for name, value in (("Period", "last_month"), ("By e-mail to me", "monthly")):
        page.get_by_role("combobox", name=name).select_option(value)
        clicks += 1
    page.get_by_role("combobox", name="By e-mail to me").scroll_into_view_if_needed()
    keep(page, "report-by-mail")
    page.get_by_role("button", name="Save", exact=True).click()
    clicks += 1
    expect(page.get_by_text("The first e-mail comes on")).to_be_visible()
    assert violations(page) == []
    assert clicks <= MOST_CLICKS

    assert mailing.does(DUE).strip().endswith("1")
    (mail,) = smtp.mails
    assert mail["To"] == "noa@uni.example"
    body = mail.get_body()
    assert body is not None
    text = body.get_content()
    assert "This is your report “Law”" in text
    assert [each.get_content_type() for each in mail.iter_attachments()] == ["application/pdf"]
    link = next(line for line in text.splitlines() if "/report/files/" in line).strip()
    sheet = load_workbook(
        io.BytesIO(page.request.get(f"http://127.0.0.1:{mailing.port}{urlsplit(link).path}").body())
    ).active
    assert sheet is not None
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    asked, *headings = rows[0]
    assert asked == "asked"
    assert all(isinstance(row[0], datetime) for row in rows[1:])
    usual = {
        "assistant": "Faculty of Law",
        "language": "English",
        "answer": "At eight.",
        "sources": None,
        "what became of the answer": "complete",
        "thumbs (1 up, −1 down)": 1,
        "student’s comment": "Good",
        "verdict of the review": None,
    }
    told = [dict(zip(headings, row[1:], strict=True)) for row in rows[1:]]
    assert told == [usual | {"question": f"When does hall {number} open?"} for number in range(6)]

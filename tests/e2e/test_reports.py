"""An analyst chooses answers, looks at the first rows and gets them as a workbook, in a real browser."""

import pytest
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from tests.e2e.conftest import keep, violations
from tests.runtime.stack import Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
ASKED = """
import uuid
from datetime import timedelta
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone
from analytics.counts.refresh import count_changed
from analytics.models import StoredReport
from analytics.reports.definition import Definition
from chat.models import Assistant, Conversation, Feedback, Message, Visitor
analyst = User.objects.create_user("analyst", password="reports-of-answers", is_staff=True)
analyst.user_permissions.set(Permission.objects.filter(codename="export_reports"))
# Of an assistant that no other test asks, and of no other.
assistant, team = Assistant.objects.create(slug="elsa", name="Elsa"), Group.objects.create(name="Elsa's team")
assistant.teams.add(team)
analyst.groups.add(team)
for number, (text, status) in enumerate([
    ("What does the moon weigh?", "abstained"),
    ("My name is Anna Schmidt, what are the fees?", "complete"),
    ("=HYPERLINK(1)", "complete"),
] * 3):
    said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
    question = Message.objects.create(
        conversation=said, role="user", client_id=uuid.uuid4(), text=text, language="en"
    )
    answer = Message.objects.create(
        conversation=said, role="assistant", question=question, status=status, language="en",
        finished_at=timezone.now(),
        reason="no_evidence" if status == "abstained" else "",
        text="The semester contribution is 318.40 euros [1].",
        timings_ms={"first_token": 120.5, "total": 912.0}, profile="default", strategy="generated",
    )
    Feedback.objects.create(message=answer, value=-1 if number % 2 else 1, comment="of last year" if number % 2 else "")
dumped = Definition(columns=("question",)).dump()
now = timezone.now()
ready = dict(done=12345, total=12345, smallest=5, is_whole=True, size=4_500_000, has_file=True)
for name, values in {
    "Answers of the term": dict(state="finished", expires_at=now + timedelta(days=14), **ready),
    "All that was abstained": dict(state="failed", message="There is no such answer."),
    "Bad ratings": dict(state="erased", expires_at=now + timedelta(days=3), total=20),
}.items():
    StoredReport.objects.create(name=name, definition=dumped, requested_by=analyst, language="en", **values)
StoredReport.objects.create(
    name="Two years", definition=dumped, requested_by=analyst, language="en",
    state="running", done=40, total=100, heartbeat_at=now,
)
# Files follow the counts by day, which are a minute behind.
count_changed()
"""


def looks(page: Page, name: str) -> None:
    """At both widths, light and dark."""
    for width in (360, 1440):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(400)  # links fade into their colour
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert violations(page) == []
            keep(page, f"{name}-{width}-{scheme}")


def test_an_analyst_gets_a_report_as_a_workbook(page: Page, quoting: Run, tmp_path) -> None:
    quoting.does(ASKED)
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/login/?next=/admin/analytics/report/")
    page.get_by_label("Username").fill("analyst")
    page.get_by_label("Password").fill("reports-of-answers")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("None yet. Make a new report")).to_be_visible()
    expect(page.get_by_text("kept until")).to_be_visible()
    looks(page, "reports-list")

    page.get_by_role("link", name="New report").click()
    expect(page.get_by_text("9 rows")).to_be_visible()
    expect(page.locator("#preview")).not_to_contain_text("Schmidt")
    looks(page, "reports-new")

    page.get_by_role("combobox", name="Period").select_option("last_7")
    page.get_by_role("checkbox", name="Whole answer after (ms)").check()
    page.get_by_role("button", name="Move question up").click()
    page.get_by_role("button", name="Move question up").click()
    page.get_by_role("checkbox", name="complete").check()
    page.get_by_role("button", name="Show the first rows").click()
    expect(page.get_by_text("6 rows")).to_be_visible()
    page.locator("#preview").scroll_into_view_if_needed()
    keep(page, "reports-preview")
    page.get_by_role("textbox", name="Name").fill("What was answered")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("“What was answered” is saved.")).to_be_visible()
    with page.expect_download() as sent:
        page.get_by_role("button", name="Export").click()
    path = tmp_path / sent.value.suggested_filename
    sent.value.save_as(path)
    assert path.name.startswith("what-was-answered-")
    sheet = load_workbook(path).active
    rows = [dict(zip([cell.value for cell in sheet[1]], row, strict=True)) for row in sheet.iter_rows(min_row=2)]
    assert len(rows) == 6
    assert {row["question"].value for row in rows} == {"My name is [name], what are the fees?", "'=HYPERLINK(1)"}
    assert rows[0]["asked"].is_date
    assert rows[0]["whole answer after (ms)"].value == 912
    assert sheet.freeze_panes == "A2"
    assert [cell.value for cell in sheet[1]].index("question") < [cell.value for cell in sheet[1]].index("language")

    expect(page.get_by_role("combobox", name="By e-mail to me")).to_be_disabled()
    expect(page.get_by_text("This installation sends no e-mails. Ask whoever runs it.")).to_be_visible()

    page.get_by_role("combobox", name="Period").select_option("fixed")
    page.get_by_role("button", name="Show the first rows").click()
    expect(page.get_by_text("Choose a day, or another period.").first).to_be_visible()
    assert violations(page) == []
    keep(page, "reports-mistake")

    page.context.add_cookies([{"name": "django_language", "value": "de", "url": f"http://127.0.0.1:{quoting.port}"}])
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/analytics/report/")
    looks(page, "reports-list-de")
    page.goto(f"http://127.0.0.1:{quoting.port}/admin/analytics/report/add/")
    looks(page, "reports-new-de")
    said = quoting.does(
        "from django.contrib.admin.models import LogEntry\nprint(LogEntry.objects.first().change_message)"
    )
    assert "exported 6 rows (xlsx); personal data masked" in said

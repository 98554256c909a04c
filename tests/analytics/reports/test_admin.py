"""The pages of reports: who may, what is shown and what is not, and what happens on each button."""

import io
import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook

from analytics.counts.refresh import count_changed
from analytics.models import Report, StoredReport, Topic, TopicQuestion
from analytics.reports import services as reports_services
from analytics.reports.admin import form as admin_form
from analytics.reports.columns import USUAL
from analytics.reports.definition import Definition
from analytics.reports.files import file_path, folder
from analytics.reports.run import work_on
from analytics.topics.counting import count_topics
from tests.analytics.reports.rows import asked, definition, stored
from tests.factories import AssistantFactory, SiteFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)
EXPORT, ALL_TEXT, SMALL = (f"analytics.{name}" for name in ("export_reports", "see_personal_text", "see_small_groups"))
PERSONAL = "My name is Anna Schmidt, anna@uni.example"
NEW, LIST = "admin:analytics_report_add", "admin:analytics_report_changelist"
STATE = StoredReport.State


@pytest.fixture(autouse=True)
def _media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"


def sign_in(*permissions, **values):
    user = UserFactory(permissions=permissions, **values)
    client = Client()
    client.force_login(user)
    client.user = user
    return client


def chosen(*columns, **values):
    """Return what the form sends."""
    sent = {"name": "", "span": "last_30", "format": "jsonl", "columns": columns or USUAL, **values}
    return {"order": admin_form.ordered(list(sent["columns"])), **sent}


def page_text(answer):
    return answer.content.decode()


def body(answer):
    content = b"".join(answer.streaming_content)
    answer.close()
    return content


@pytest.mark.parametrize("name", [NEW, LIST])
def test_only_who_may_export_sees_reports(name):
    assert sign_in().get(reverse(name)).status_code == 403
    assert sign_in(EXPORT).get(reverse(name)).status_code == 200


def test_the_first_rows_and_their_number_are_shown(settings):
    for number in range(22):
        asked(f"Question {number}?")
    page = page_text(sign_in(EXPORT, SMALL).post(reverse(NEW), chosen("question", look="1")))
    assert "22 rows" in page
    assert "Question 0?" in page
    assert "Question 19?" in page
    assert "Question 20?" not in page


def test_the_page_masks_what_the_file_masks():
    asked(PERSONAL)
    masked = page_text(sign_in(EXPORT, SMALL).post(reverse(NEW), chosen(look="1")))
    assert "Schmidt" not in masked
    assert "anna@" not in masked
    assert "are masked" in masked
    assert "Anna Schmidt" in page_text(sign_in(EXPORT, SMALL, ALL_TEXT).post(reverse(NEW), chosen(look="1")))


@pytest.mark.parametrize("button", ["look", "export"])
def test_no_small_group_is_told_on_the_page_or_in_a_file(button):
    asked("Very rare matter", visitors=4)
    page = sign_in(EXPORT).post(reverse(NEW), chosen(**{button: "1"}))
    assert "so few visitors" in page_text(page)
    assert "rare" not in page_text(page)
    assert not LogEntry.objects.exists()


def preview(definition, *permissions):
    """Return the preview and its file's line in the audit log, without what names the filters."""
    client = sign_in(EXPORT, *permissions)
    page = client.post(reverse(NEW), {**chosen("question"), **definition, "look": "1"})
    client.post(reverse(NEW), {**chosen("question"), **definition, "export": "1"}).close()
    logged = [entry.change_message.split("; the last")[0] for entry in LogEntry.objects.filter(user=client.user)[:1]]
    return re.search(r'id="preview".*?</section>', page_text(page), re.S)[0], logged


def test_nothing_says_whether_rows_are_left_out():
    law, arts, sports = (AssistantFactory(name=name) for name in ("Law", "Arts", "Sports"))
    asked("Often asked", visitors=7, assistant=law)
    asked("Often asked too", visitors=6, assistant=arts)
    count_changed()
    of_law = {"assistants": [law.pk]}
    alone = preview(of_law)
    assert "7 rows" in alone[0]
    assert "and so are ratings that fewer than 5 gave." in alone[0]
    asked("Very seldom", visitors=2, assistant=sports, thumbs=-1)
    count_changed()
    assert preview(of_law) == alone
    assert "7 rows" in preview({})[0]  # without those that the sum of all would tell the two by
    nothing = [preview({"assistants": [sports.pk], "thumbs": thumbs}) for thumbs in ("", "up", "down")]
    assert nothing[0] == nothing[1] == nothing[2]
    assert "no such answer, or they went to so few visitors" in nothing[0][0]
    assert "2 rows" in preview({"assistants": [sports.pk]}, SMALL)[0]


def test_a_report_is_narrowed_to_topics_and_outcomes_and_an_address_may_ask_for_them():
    topic = Topic.objects.create(name="Paying", named_by="staff", assistant=AssistantFactory())
    about = asked("What are the fees?", assistant=topic.assistant, thumbs=-1)
    TopicQuestion.objects.create(message=about.question, topic=topic)
    asked("When is the library open?", assistant=topic.assistant)
    client = sign_in(EXPORT, SMALL, "analytics.view_topic")
    for narrow in ({"topics": topic.pk}, {"outcomes": "disliked"}):
        page = page_text(client.get(reverse(NEW), narrow))
        assert "What are the fees?" in page
        assert "library" not in page
    client.post(reverse(NEW), chosen("question", topics=[topic.pk], outcomes=["disliked"], name="Paying", save="1"))
    assert "the last 30 days · Answered, and rated as bad · Paying" in page_text(client.get(reverse(LIST)))
    client.post(reverse(NEW), chosen("question", topics=[topic.pk], export="1")).close()
    said = LogEntry.objects.filter(change_message__contains="exported").get().change_message
    assert f"topic #{topic.pk}" in said
    assert "Paying" not in said


def test_a_topic_of_few_people_is_not_offered_for_its_name_is_a_question_of_theirs():
    assistant = AssistantFactory()
    topic = Topic.objects.create(name="Very rare matter", assistant=assistant)
    TopicQuestion.objects.create(message=asked("Very rare matter", assistant=assistant).question, topic=topic)
    count_topics()
    assert "rare matter" in page_text(sign_in(EXPORT, SMALL, "analytics.view_topic").get(reverse(NEW)))
    client = sign_in(EXPORT, "analytics.view_topic")
    assert "rare matter" not in page_text(client.get(reverse(NEW)))
    assert "Select a valid choice" in page_text(client.post(reverse(NEW), chosen(topics=[topic.pk], look="1")))
    assert 'name="topics"' not in page_text(sign_in(EXPORT, SMALL).get(reverse(NEW)))


def test_who_sees_small_groups_is_told_that_there_is_no_such_answer():
    page, _logged = preview({"language": "de"}, SMALL)
    assert "There is no such answer: choose more days, or fewer filters." in page


def test_who_is_in_no_team_gets_an_empty_report_page():
    asked(visitors=6)
    assert sign_in("analytics.export_reports", teams=[]).get(reverse(NEW)).status_code == 200


def test_a_short_report_is_sent_at_once_and_stands_in_the_audit_log():
    asked("What are the fees?", visitors=2)
    client = sign_in(EXPORT, SMALL)
    answer = client.post(reverse(NEW), chosen("question", format="xlsx", name="My fees", export="1"))
    assert re.fullmatch(r'attachment; filename="my-fees-[\d-]+\.xlsx"', answer.headers["Content-Disposition"])
    assert "no-store" in answer.headers["Cache-Control"]
    page = load_workbook(io.BytesIO(body(answer))).active
    assert [cell.value for cell in page["A"]] == ["question", "What are the fees?", "What are the fees?"]
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_repr) == (client.user, "My fees")
    assert "exported 2 rows (xlsx); personal data masked" in entry.change_message
    assert list(folder().iterdir()) == []


def test_a_download_that_breaks_off_is_in_the_audit_log_too():
    asked(visitors=2)
    answer = sign_in(EXPORT, SMALL).post(reverse(NEW), chosen("question", export="1"))
    answer.close()
    first, second = LogEntry.objects.order_by("pk")
    assert "exported 2 rows" in first.change_message
    assert "broken off: 0 of" in second.change_message


def test_a_long_report_is_left_to_a_worker(monkeypatch, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    queued = []
    monkeypatch.setattr(reports_services.make_report, "delay", queued.append)
    monkeypatch.setattr("analytics.reports.admin.preview.AT_ONCE", 2)
    asked(visitors=3)
    client = sign_in(EXPORT, SMALL)
    answer = client.post(reverse(NEW), chosen("question", name="Fees", export="1"), follow=True)
    assert "is being made" in page_text(answer)
    report = StoredReport.objects.get()
    assert queued == [report.pk]
    progress = client.get(reverse("admin:analytics_report_progress")).json()
    assert progress == {"active": {str(report.pk): {"state": "waiting", "percent": 0}}}
    work_on(report.pk)
    page = page_text(client.get(reverse(LIST)))
    assert "3 rows" in page
    sent = client.get(reverse("admin:analytics_report_download", args=[report.pk]))
    assert body(sent).count(b"\n") == 3
    assert LogEntry.objects.order_by("pk").last().change_message == "downloaded 3 rows"


def made_by(user, *columns, **values):
    report = stored(user, *(columns or ("question",)), format="jsonl", **values)
    work_on(report.pk)
    report.refresh_from_db()
    assert report.state == STATE.FINISHED
    return report


def download(client, report):
    answer = client.get(reverse("admin:analytics_report_download", args=[report.pk]))
    answer.close()
    return answer.status_code


def test_a_file_is_opened_by_its_owner_and_by_who_sees_everything():
    team = Group.objects.create(name="Faculty")
    asked()
    report = made_by(sign_in(EXPORT, SMALL).user)
    assert download(sign_in(EXPORT, SMALL), report) == 200
    assert download(sign_in(EXPORT, SMALL, teams=[team]), report) == 404
    assert download(sign_in(), report) == 403
    assert download(Client(), report) == 302


def test_a_file_with_personal_text_or_small_groups_is_opened_by_who_may_see_them():
    asked()
    report = made_by(sign_in(EXPORT, SMALL, ALL_TEXT).user)
    assert download(sign_in(EXPORT, SMALL), report) == 403
    assert download(sign_in(EXPORT, ALL_TEXT), report) == 403
    assert download(sign_in(EXPORT, SMALL, ALL_TEXT), report) == 200


def test_who_lost_a_right_no_longer_opens_an_old_file():
    team, other = Group.objects.create(name="Faculty"), Group.objects.create(name="Other")
    own = AssistantFactory()
    own.teams.add(team)
    asked(assistant=own)
    client = sign_in(EXPORT, SMALL, ALL_TEXT, teams=[team])
    report = made_by(client.user)
    assert download(client, report) == 200
    client.user.groups.set([other])
    assert download(client, report) == 302  # logged out with it
    client.force_login(client.user)
    assert download(client, report) == 403


def test_a_file_whose_time_is_over_is_not_sent():
    asked()
    client = sign_in(EXPORT, SMALL)
    report = made_by(client.user)
    StoredReport.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert download(client, report) == 403
    assert "expired" in page_text(client.get(reverse(LIST)))


def test_a_file_is_deleted_and_a_report_in_the_making_is_stopped():
    asked()
    client = sign_in(EXPORT, SMALL)
    report, waiting = made_by(client.user), stored(client.user, "question")
    client.post(reverse("admin:analytics_report_delete_file", args=[report.pk]))
    client.post(reverse("admin:analytics_report_stop", args=[waiting.pk]))
    assert not file_path(report).exists()
    assert StoredReport.objects.get().state == STATE.CANCELLED
    messages = [entry.change_message for entry in LogEntry.objects.order_by("pk")]
    assert messages[1:] == ["", "stopped"]


@pytest.mark.parametrize("deed", ["stop", "delete_file"])
def test_nobody_touches_the_files_of_others(deed):
    team = Group.objects.create(name="Faculty")
    report = stored(sign_in(EXPORT).user, "question")
    address = reverse(f"admin:analytics_report_{deed}", args=[report.pk])
    assert sign_in(EXPORT, teams=[team]).post(address).status_code == 404
    assert sign_in().post(address).status_code == 403
    assert sign_in(EXPORT).get(address).status_code == 405
    assert StoredReport.objects.get().state == STATE.QUEUED


def test_a_report_is_saved_under_a_name_and_brings_the_same_again():
    asked("Old", days_ago=20)
    asked("Young")
    client = sign_in(EXPORT, SMALL)
    sent = chosen("answer", "question", name="Weekly", span="last_7", is_shared="on", save="1")
    page = client.post(reverse(NEW), sent, follow=True)
    report = Report.objects.get()
    assert (report.name, report.owner, report.is_shared) == ("Weekly", client.user, True)
    assert Definition.load(report.definition) == definition("answer", "question", span="last_7", format="jsonl")
    assert "Young" in page_text(page)
    assert "Old" not in page_text(page)
    assert LogEntry.objects.get().object_repr == "Weekly"


def test_a_shared_report_brings_colleagues_what_they_may_see():
    team = Group.objects.create(name="Faculty")
    own = AssistantFactory()
    own.teams.add(team)
    asked("Ours", assistant=own)
    asked("Theirs")
    shared = Report.objects.create(
        name="All", owner=UserFactory(), is_shared=True, definition=definition("question", "visitor").dump()
    )
    client = sign_in(EXPORT, SMALL, teams=[team])
    page = page_text(client.get(reverse("admin:analytics_report_change", args=[shared.pk])))
    assert "Ours" in page
    assert "Theirs" not in page
    assert "You may not see these columns, so they are left out: visitor." in page
    client.post(reverse("admin:analytics_report_change", args=[shared.pk]), chosen(name="Mine", save="1"))
    shared.refresh_from_db()
    assert shared.name == "All"
    assert Report.objects.get(owner=client.user).name == "Mine"


def test_nobody_sees_what_a_colleague_keeps_to_themselves():
    private = Report.objects.create(name="Secret", owner=UserFactory(), definition=definition("question").dump())
    client = sign_in(EXPORT)
    assert "Secret" not in page_text(client.get(reverse(LIST)))
    assert client.get(reverse("admin:analytics_report_change", args=[private.pk])).status_code == 404
    address = reverse("admin:analytics_report_delete", args=[private.pk])
    assert client.post(address, {"post": "yes"}).status_code == 302
    assert Report.objects.exists()


def test_an_assistant_of_others_cannot_be_asked_for():
    team = Group.objects.create(name="Faculty")
    answer = asked("Theirs")
    sent = chosen("question", assistants=[answer.conversation.assistant_id], look="1")
    page = sign_in(EXPORT, SMALL, teams=[team]).post(reverse(NEW), sent)
    assert "Select a valid choice." in page_text(page)
    assert "Theirs" not in page_text(page)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"span": "fixed"}, "Choose a day, or another period."),
        ({"span": "fixed", "first": "2026-02-30", "last": "2026-03-01"}, "Enter a valid date."),
        ({"span": "fixed", "first": "2026-03-02", "last": "2026-03-01"}, "ends before it begins"),
        ({"span": "fixed", "first": "0001-01-01", "last": "2026-03-01"}, "There was no assistant in that year."),
        ({"span": "fixed", "first": "2000-01-01", "last": "8999-03-01"}, "Choose ten years at most."),
        ({"span": "ever"}, "Select a valid choice."),
        ({"columns": []}, "Tick at least one column."),
        ({"columns": ["password"]}, "Select a valid choice."),
        ({"site": "x"}, "Select a valid choice."),
        ({"name": " ", "save": "1"}, "Give it a name"),
    ],
)
def test_what_cannot_be_is_said_beside_the_field(wrong, said):
    page = sign_in(EXPORT, SMALL).post(reverse(NEW), {**chosen(), **wrong})
    assert page.status_code == 200
    assert said in page_text(page)


def test_two_reports_of_one_person_have_two_names():
    client = sign_in(EXPORT, SMALL)
    client.post(reverse(NEW), chosen(name="Fees", save="1"))
    page = client.post(reverse(NEW), chosen(name="Fees", save="1"))
    assert "You have a report of this name already" in page_text(page)
    assert Report.objects.count() == 1


def test_columns_are_moved_without_a_script_too():
    page = page_text(sign_in(EXPORT, SMALL).post(reverse(NEW), chosen("question", "answer", move="answer:up")))
    order = re.findall(r'name="order" value="(\w+)"', page)
    assert order[:2] == ["answer", "question"]


def test_a_cell_of_the_preview_is_text_and_no_markup():
    asked("<script>alert(1)</script>")
    page = page_text(sign_in(EXPORT, SMALL).post(reverse(NEW), chosen("question", look="1")))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_sites_of_one_name_are_told_apart_by_their_assistants():
    lindi, otto = AssistantFactory(name="Lindi"), AssistantFactory(name="Otto")
    for assistant in (lindi, otto):
        SiteFactory(name="Main page", assistant=assistant)
    page = page_text(sign_in(EXPORT).get(reverse(NEW)))
    assert ">Main page (Lindi)<" in page
    assert ">Main page (Otto)<" in page


def test_a_site_of_another_assistant_than_the_chosen_ones_is_refused():
    lindi, otto = AssistantFactory(name="Lindi"), AssistantFactory(name="Otto")
    site = SiteFactory(assistant=otto)
    client = sign_in(EXPORT, SMALL)
    said = "This page with the chat belongs to another assistant."
    assert said in page_text(client.post(reverse(NEW), chosen(look="1", site=site.pk, assistants=[lindi.pk])))
    for assistants in ([], [otto.pk], [lindi.pk, otto.pk]):
        assert said not in page_text(client.post(reverse(NEW), chosen(look="1", site=site.pk, assistants=assistants)))


def test_a_name_that_is_taken_is_marked_as_such():
    client = sign_in(EXPORT)
    for _ in range(2):
        page = client.post(reverse(NEW), chosen(name="Fees", save="1"))
    form = page.context["form"]
    assert "another name" in form.errors["name"][0]
    assert not form.non_field_errors()

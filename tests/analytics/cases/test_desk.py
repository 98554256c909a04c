"""Staff read a case, reply, pass it on, merge and close it, and make it of use to the next student."""

from datetime import date, timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.models import Notice
from chat.models import Case, CaseMessage, Office
from faqs.models import FAQ
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import QUESTION, new_case, new_office
from tests.factories import AnswerFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch) -> Mock:
    queued = Mock()
    monkeypatch.setattr("analytics.cases.services.tell_of_case.delay_on_commit", queued)
    return queued


def page_of(case: Case) -> str:
    return reverse("admin:chat_case_change", args=[case.pk])


def send(office: Client, case: Case, text: str = "Yes, if it is **small**.", step: str = "reply", **more: Any) -> Any:
    given = {"version": case.version, "reply": text, "step": step, **more}
    return office.post(page_of(case), given, follow=True)


def do(browser: Client, name: str, case: Case, *more: object, **posted: Any) -> Any:
    address = reverse(f"admin:chat_case_{name}", args=[case.pk, *more])
    return browser.post(address, {"version": case.version, **posted}, follow=True)


def test_the_one_list_begins_with_the_case_that_waits_longest(office: Client) -> None:
    new_case(question="Is there a crèche?")
    shown = office.get(reverse("to-do")).content.decode()
    assert "Is there a crèche?" in shown
    assert "Student Service Centre" in shown


def test_the_page_shows_the_question_and_only_what_the_student_sent_along(office: Client) -> None:
    case = new_case()
    answer = case.about
    assert answer is not None
    case.shared.remove(answer)
    answer.text = "Words that stay private"
    answer.save()
    shown = office.get(page_of(case)).content.decode()
    assert shown.count(QUESTION) >= 2
    assert "Words that stay private" not in shown


def test_a_reply_is_saved_with_its_author_and_the_case_waits_for_the_student(office: Client, ada: User) -> None:
    case = new_case()
    shown = send(office, case).content.decode()
    assert "Your reply was sent." in shown
    assert "<strong>small</strong>" in shown
    case.refresh_from_db()
    assert (case.state, case.version) == (Case.State.REPLIED, 1)
    assert case.first_reply_at is not None
    assert case.messages.get().author == ada


@pytest.mark.parametrize(("step", "state"), [("ask_back", Case.State.REPLIED), ("reply_and_close", Case.State.CLOSED)])
def test_a_reply_asks_back_or_closes(office: Client, step: str, state: str) -> None:
    case = new_case()
    send(office, case, step=step)
    case.refresh_from_db()
    assert case.state == state
    assert case.messages.get().asks_back == (step == "ask_back")


def test_an_empty_reply_is_not_sent(office: Client) -> None:
    case = new_case()
    assert "Please write something first." in send(office, case, "  \n ").content.decode()
    assert not CaseMessage.objects.exists()


def test_a_reply_to_a_case_that_changed_meanwhile_is_kept_and_not_sent(office: Client, bob: User) -> None:
    case = new_case()
    other = Client()
    other.force_login(bob)
    send(other, case, "Bob was faster.")
    response = send(office, case, "Ada's words")
    assert response.status_code == 409
    shown = response.content.decode()
    assert "Bob changed it meanwhile" in shown
    assert "Ada&#x27;s words</textarea>" in shown
    assert [each.text for each in case.messages.all()] == ["Bob was faster."]


def test_a_student_who_writes_while_staff_write_is_read_first(office: Client) -> None:
    case = new_case()
    CaseMessage.objects.create(case=case, by="student", text="One more thing")
    Case.objects.update(version=1)
    assert send(office, case).status_code == 409


def test_markup_of_the_student_is_shown_as_text(office: Client) -> None:
    case = new_case(question="<script>alert(1)</script>")
    CaseMessage.objects.create(case=case, by="student", text="<img src=x onerror=alert(1)>")
    shown = office.get(page_of(case)).content.decode()
    assert "<script>alert(1)" not in shown
    assert "<img src=x" not in shown


def test_a_case_is_passed_on_and_nobody_looks_after_it_there(office: Client, ada: User) -> None:
    case = new_case(assigned_to=None)
    there = new_office(case.assistant, "International Office")
    shown = do(office, "pass_on", case, office=there.pk).content.decode()
    assert "The case is with International Office now." in shown
    case.refresh_from_db()
    assert (case.office, case.assigned_to) == (there, None)


def test_an_office_of_another_assistant_is_none_to_pass_on_to(office: Client) -> None:
    case, other = new_case(), new_case()
    assert other.office is not None
    shown = do(office, "pass_on", case, office=other.office.pk).content.decode()
    assert "Nothing was passed on." in shown


def test_doubles_of_one_student_are_merged(office: Client) -> None:
    case = new_case()
    double = new_case(conversation=case.conversation, office=case.office, question="And my cat?")
    CaseMessage.objects.create(case=double, by="student", text="It is a small cat.")
    shown = do(office, "merge", double, into=case.pk).content.decode()
    assert "And my cat?" in shown
    double.refresh_from_db()
    assert (double.state, double.merged_into) == (Case.State.CLOSED, case)
    assert [each.text for each in case.messages.all()] == ["And my cat?", "It is a small cat."]


def test_a_merged_question_that_waits_is_waited_for_until_the_time_promised(office: Client) -> None:
    case = new_case(state=Case.State.REPLIED, reply_due=timezone.now() - timedelta(days=5))
    double = new_case(conversation=case.conversation, office=case.office)
    do(office, "merge", double, into=case.pk)
    case.refresh_from_db()
    assert (case.state, case.reply_due) == (Case.State.OPEN, double.reply_due)


def test_merging_what_was_replied_to_leaves_the_other_as_it_is(office: Client) -> None:
    case = new_case()
    due, double = case.reply_due, new_case(conversation=case.conversation, state=Case.State.REPLIED)
    do(office, "merge", double, into=case.pk)
    case.refresh_from_db()
    assert (case.state, case.reply_due) == (Case.State.OPEN, due)


def test_merged_with_the_question_of_a_person_in_need_a_case_is_for_those_who_may_read_that(client: Client) -> None:
    case = new_case()
    urgent = new_case(conversation=case.conversation, office=case.office, reason="help", raised_at=timezone.now())
    client.force_login(desk("dora", permissions=[*ANSWERS, "chat.read_help_message"]))
    do(client, "merge", urgent, into=case.pk)
    case.refresh_from_db()
    assert (case.reason, case.is_late) == (Case.Reason.HELP, True)
    client.force_login(desk("carla"))
    assert client.get(page_of(case)).status_code == 302


def test_cases_of_two_students_are_never_merged(office: Client) -> None:
    case, other = new_case(), new_case()
    assert do(office, "merge", case, into=other.pk).status_code == 403


def test_a_case_is_closed_and_opened_again(office: Client) -> None:
    case = new_case()
    assert "The case is closed." in do(office, "state", case, state="closed").content.decode()
    case.refresh_from_db()
    assert case.state == Case.State.CLOSED
    assert "The case is open again." in do(office, "state", case, state="open").content.decode()
    case.refresh_from_db()
    assert (case.state, case.closed_at) == (Case.State.OPEN, None)


def test_a_case_is_taken_with_one_press_and_keeps_its_day(office: Client, ada: User) -> None:
    case = new_case(due_on=date(2099, 3, 1))
    take = f'name="to" value="{ada.pk}">Assign to me'
    assert take in office.get(page_of(case)).content.decode()
    do(office, "assign", case, to=["", ada.pk], due_on="2099-03-01")
    case.refresh_from_db()
    assert (case.assigned_to, case.due_on) == (ada, date(2099, 3, 1))
    assert take not in office.get(page_of(case)).content.decode()


def test_ticked_cases_are_assigned_and_closed_at_once(office: Client, bob: User) -> None:
    cases = [new_case(), new_case()]
    items = [f"case-{case.pk}" for case in cases]
    office.post(reverse("to-do"), {"item": items, "step": "assign", "to": bob.pk, "due_on": "", "keeps_day": "1"})
    assert set(Case.objects.values_list("assigned_to", flat=True)) == {bob.pk}
    office.post(reverse("to-do"), {"item": items, "step": "finish"})
    assert set(Case.objects.values_list("state", flat=True)) == {Case.State.CLOSED}


def test_other_teams_cases_are_not_found(client: Client) -> None:
    team, ours = Group.objects.create(name="Housing"), Group.objects.create(name="Library")
    case = new_case()
    assert case.assistant is not None
    assert case.office is not None
    case.assistant.teams.add(team, ours)
    case.office.teams.add(team)
    member = UserFactory(permissions=["chat.view_case", "chat.change_case"], teams=[ours])
    client.force_login(member)
    assert client.get(page_of(case)).status_code == 302
    member.groups.add(team)
    assert client.get(page_of(case)).status_code == 200


def test_a_case_of_a_person_in_need_is_for_those_who_may_read_it(client: Client) -> None:
    case = new_case(reason=Case.Reason.HELP, raised_at=timezone.now())
    member = desk("carla")
    client.force_login(member)
    assert client.get(page_of(case)).status_code == 302
    reader = desk("dora", permissions=["chat.view_case", "chat.read_help_message", "knowledge.whole_university"])
    client.force_login(reader)
    assert "urgent</strong>" in client.get(page_of(case)).content.decode()
    shown = client.get(reverse("to-do")).content.decode()
    assert "urgent</strong>" in shown
    assert "waits too long" not in shown


def test_a_reply_becomes_a_draft_faq_without_names_and_numbers(client: Client) -> None:
    member = desk(
        "eve",
        permissions=[
            *("chat.view_case", "chat.change_case", "knowledge.whole_university"),
            *("faqs.view_faq", "faqs.add_faq", "faqs.change_faq"),
        ],
    )
    client.force_login(member)
    case = new_case(question="My number is 0171 2345678. May I bring my dog?")
    send(client, case, "Yes, on a lead.")
    do(client, "draft", case)
    faq = FAQ.objects.get()
    assert (faq.status, faq.answer_en, faq.office_en) == ("draft", "Yes, on a lead.", "Student Service Centre")
    assert faq.question == QUESTION
    case.refresh_from_db()
    assert case.faq == faq
    do(client, "draft", case)
    assert FAQ.objects.count() == 1


def test_without_a_question_in_the_chat_the_draft_has_the_case_s_own_without_its_numbers(client: Client) -> None:
    rights = ["chat.view_case", "chat.change_case", "knowledge.whole_university", "faqs.add_faq", "faqs.view_faq"]
    client.force_login(desk("eve", permissions=rights))
    case = new_case(about=None, question="My number is 0171 2345678. May I bring my dog?")
    send(client, case, "Yes, on a lead.")
    page = do(client, "draft", case).content.decode()
    assert FAQ.objects.get().question == "My number is [phone]. May I bring my dog?"
    # Who may not change it is not told to check it.
    assert "Somebody who may change FAQs can now check and publish it." in page
    assert "check it before you publish it" not in page


def test_before_a_reply_there_is_no_faq_to_make(client: Client) -> None:
    member = desk(
        "eve", permissions=["chat.view_case", "chat.change_case", "knowledge.whole_university", "faqs.add_faq"]
    )
    client.force_login(member)
    assert "Reply first" in do(client, "draft", new_case()).content.decode()
    assert not FAQ.objects.exists()


def test_an_office_that_is_deleted_leaves_its_cases(office: Client) -> None:
    case = new_case()
    Office.objects.all().delete()
    assert "the office was deleted" in office.get(page_of(case)).content.decode()


def test_a_case_of_a_person_in_need_stays_urgent_when_it_is_passed_on_or_opened_again(client: Client) -> None:
    case = new_case(reason=Case.Reason.HELP)
    there = new_office(case.assistant, "International Office")
    rights = ["chat.view_case", "chat.change_case", "chat.read_help_message", "knowledge.whole_university"]
    client.force_login(desk("dora", permissions=rights))
    do(client, "pass_on", case, office=there.pk)
    case.refresh_from_db()
    assert case.is_late
    do(client, "state", case, state="closed")
    case.refresh_from_db()
    do(client, "state", case, state="open")
    case.refresh_from_db()
    assert case.is_late


def test_staff_of_the_other_office_are_told_of_what_is_passed_on(office: Client, tell: Mock) -> None:
    case = new_case()
    do(office, "pass_on", case, office=new_office(case.assistant, "International Office").pk)
    tell.assert_called_once_with(case.pk, Notice.Kind.NEW_CASE)


def test_many_messages_sent_along_take_as_many_queries_as_two(office: Client) -> None:
    case, counts = new_case(), []
    for _ in range(2):
        office.get(page_of(case))
        with CaptureQueriesContext(connection) as queries:
            office.get(page_of(case))
        counts.append(len(queries))
        for _more in range(3):
            case.shared.add(AnswerFactory(question__conversation=case.conversation, retrieved=[]))
    assert counts[0] == counts[1]

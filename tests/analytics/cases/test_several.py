"""One reply to several cases that ask alike; nobody learns of another student."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.cases.views import load_view
from chat.models import Case, CaseAddress, CaseMail
from tests.analytics.cases.conftest import ANSWERS, desk
from tests.analytics.cases.rows import new_case, new_office

pytestmark = pytest.mark.django_db
ADDRESS = "/admin/chat/case/reply/"


def send(browser: Client, *cases: Case, text: str = "The library is shut until May.", step: str = "reply") -> Any:
    versions = {f"version-{case.pk}": case.version for case in cases}
    given = {"case": [case.pk for case in cases], "reply": text, "step": step, **versions}
    return browser.post(ADDRESS, given, follow=True)


def said(case: Case) -> list[str]:
    return list(case.messages.values_list("text", flat=True))


def test_ticked_cases_of_the_list_lead_to_a_page_with_their_questions(office: Client) -> None:
    first, second, third = (new_case(question=text) for text in ("Is it shut?", "When does it open?", "My locker?"))
    ticked = {"item": [f"case-{first.pk}", f"case-{second.pk}"], "step": "reply"}
    shown = office.post(reverse("to-do"), ticked, follow=True).content.decode()
    assert "Is it shut?" in shown
    assert "When does it open?" in shown
    assert third.question not in shown
    assert f'name="version-{first.pk}" value="{first.version}"' in shown


def test_each_student_gets_the_reply_in_their_own_thread_and_no_word_of_another(office: Client, ada: User) -> None:
    first, second = new_case(question="I am Ada. Is it shut?"), new_case(question="I am Bob. When does it open?")
    third = new_case()
    shown = send(office, first, second).content.decode()
    assert "Your reply was sent to 2 students." in shown
    assert said(first) == said(second) == ["The library is shut until May."]
    assert said(third) == []
    for case, other in ((first, second), (second, first)):
        case.refresh_from_db()
        assert case.state == Case.State.REPLIED
        assert case.messages.get().author == ada
        assert other.question not in str(load_view(case.pk))
    assert LogEntry.objects.filter(user=ada).count() == 2


def test_each_is_mailed_alone(office: Client) -> None:
    cases = [new_case(), new_case()]
    for case, name in zip(cases, ("ada", "bob"), strict=True):
        CaseAddress.objects.create(case=case, email=f"{name}@students.example", confirmed_at=case.opened_at)
    send(office, *cases, step="reply_and_close")
    mails = CaseMail.objects.select_related("message").order_by("pk")
    assert [(mail.address.case_id, mail.message.case_id) for mail in mails] == [(case.pk, case.pk) for case in cases]
    assert set(Case.objects.values_list("state", flat=True)) == {Case.State.CLOSED}


def test_a_case_that_changed_meanwhile_is_shown_again_and_the_others_get_the_reply(office: Client, ada: User) -> None:
    first, second = new_case(), new_case(question="When does it open?")
    Case.objects.filter(pk=second.pk).update(version=7, changed_by=ada)
    response = send(office, first, second)
    shown = response.content.decode()
    assert response.status_code == 409
    assert (len(said(first)), said(second)) == (1, [])
    assert "Nothing was sent to those below: read first what is new." in shown
    assert f'value="{first.pk}" checked' not in shown
    assert f'name="version-{second.pk}" value="7"' in shown
    assert "The library is shut until May." in shown
    second.refresh_from_db()
    send(office, second)
    assert len(said(second)) == 1


def test_a_reply_without_words_goes_to_nobody(office: Client) -> None:
    cases = [new_case(), new_case()]
    shown = send(office, *cases, text=" ").content.decode()
    assert said(cases[0]) == said(cases[1]) == []
    assert "Cases that get the reply" in shown


def test_a_person_in_need_gets_a_reply_of_their_own(client: Client) -> None:
    client.force_login(desk("grace", permissions=[*ANSWERS, "chat.read_help_message"]))
    case, needy = new_case(), new_case(reason=Case.Reason.HELP, question="I cannot go on.")
    assert needy.question not in client.get(f"{ADDRESS}?case={case.pk}&case={needy.pk}").content.decode()
    send(client, case, needy)
    assert (len(said(case)), said(needy)) == (1, [])


def test_a_case_of_another_team_is_neither_shown_nor_answered(client: Client) -> None:
    own = new_case()
    team, others = Group.objects.create(name="Library"), Group.objects.create(name="Housing")
    own.assistant.teams.add(team)
    own.office.teams.add(team)
    foreign = new_case(assistant=own.assistant, office=new_office(own.assistant, "Housing"), question="Not for you")
    foreign.office.teams.add(others)
    client.force_login(desk("mia", permissions=["chat.view_case", "chat.change_case"], teams=[team]))
    assert "Not for you" not in client.get(f"{ADDRESS}?case={own.pk}&case={foreign.pk}").content.decode()
    send(client, own, foreign)
    assert (len(said(own)), said(foreign)) == (1, [])


def test_who_may_not_answer_cases_may_not_answer_several(client: Client) -> None:
    client.force_login(desk("vic", permissions=["chat.view_case", "knowledge.whole_university"]))
    case = new_case()
    assert client.get(f"{ADDRESS}?case={case.pk}").status_code == 403
    assert send(client, case).status_code == 403
    assert said(case) == []


def test_nothing_ticked_leads_back_to_the_list(office: Client) -> None:
    shown = office.post(reverse("to-do"), {"item": [], "step": "reply"}, follow=True).content.decode()
    assert "Tick the cases first that you mean." in shown


def test_the_page_asks_as_much_for_many_cases_as_for_one(office: Client) -> None:
    counts = []
    for number in (1, 6):
        cases = [new_case() for _case in range(number)]
        address = f"{ADDRESS}?{'&'.join(f'case={case.pk}' for case in cases)}"
        office.get(address)
        with CaptureQueriesContext(connection) as queries:
            office.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[1]

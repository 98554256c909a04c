"""An office as staff set it up: its hours, the days on which it is closed, what comes there, and one for the rest."""

import datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from chat.models import Assistant, Case, Office, OfficeRule
from tests.analytics.cases.rows import new_case
from tests.factories import AssistantFactory, CategoryFactory, UserFactory

pytestmark = pytest.mark.django_db
ADD, LIST = reverse("admin:chat_office_add"), reverse("admin:chat_office_changelist")


@pytest.fixture
def assistant() -> Assistant:
    made: Assistant = AssistantFactory()
    return made


def rows(prefix: str, *values: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """Return what a form sends of rows that are part of their office."""
    sent = {f"{prefix}-TOTAL_FORMS": len(values), f"{prefix}-INITIAL_FORMS": initial}
    return sent | {f"{prefix}-{n}-{name}": value for n, row in enumerate(values) for name, value in row.items()}


def hours(day: int, opens: str, closes: str) -> dict[str, Any]:
    return {"weekday": day, "opens": opens, "closes": closes}


def form(assistant: Assistant, **changes: Any) -> dict[str, Any]:
    values = {"assistant": assistant.pk, "name": "Housing", "reply_days": "2", "is_active": "on"}
    return values | rows("hours") | rows("rules") | changes


def refused(client: Client, sent: dict[str, Any], said: str) -> None:
    """Assert that this is not saved, and that the page says why."""
    shown = client.post(ADD, sent)
    assert shown.status_code == 200
    assert said in shown.content.decode()
    assert not Office.objects.filter(name="Housing").exists()


def test_an_office_is_set_up_with_all_that_students_are_told(admin_client: Client, assistant: Assistant) -> None:
    category = CategoryFactory()
    told = {"name_de": "Wohnen", "reply_days": "1", "closed_on": ["2026-12-31", "", "2026-12-24"], "is_default": "on"}
    told |= rows("hours", hours(1, "09:00", "12:00"), hours(1, "14:00", "16:00"))
    told |= rows("rules", {"category": category.pk, "position": "1"}, {"page": "https://uni.example/", "position": "2"})
    assert admin_client.post(ADD, form(assistant, **told)).status_code == 302
    made = Office.objects.get()
    assert (made.name_in("en"), made.name_in("de"), made.reply_days, made.is_default) == ("Housing", "Wohnen", 1, True)
    assert made.closed_on == [datetime.date(2026, 12, 24), datetime.date(2026, 12, 31)]
    assert [str(each) for each in made.hours.all()] == ["Tuesday 09:00–12:00", "Tuesday 14:00–16:00"]
    assert [(rule.category, rule.page) for rule in made.rules.all()] == [(category, ""), (None, "https://uni.example/")]
    assert LogEntry.objects.filter(object_id=str(made.pk), content_type__model="office").count() == 1


def test_hours_and_rules_are_changed_and_deleted_on_the_office_s_page(
    admin_client: Client, assistant: Assistant
) -> None:
    office = Office.objects.create(assistant=assistant, name="Housing", closed_on=[datetime.date(2026, 12, 24)])
    rule = OfficeRule.objects.create(office=office, audience="programme:law")
    opened = office.hours.create(weekday=0, opens=datetime.time(9), closes=datetime.time(12))
    page = reverse("admin:chat_office_change", args=[office.pk])
    assert 'type="date" name="closed_on" value="2026-12-24"' in admin_client.get(page).content.decode()
    sent = form(assistant, closed_on="")
    sent |= rows("hours", {"id": opened.pk, "office": office.pk, **hours(4, "10:00", "11:00")}, initial=1)
    sent |= rows(
        "rules", {"id": rule.pk, "office": office.pk, "audience": "x", "position": 0, "DELETE": "on"}, initial=1
    )
    assert admin_client.post(page, sent).status_code == 302
    office.refresh_from_db()
    assert [str(each) for each in office.hours.all()] == ["Friday 10:00–11:00"]
    assert (office.closed_on, office.rules.count()) == ([], 0)


@pytest.mark.parametrize("word", ["tomorrow", "24.12.2026", "2026-02-30", "2026-13-01"])
def test_what_is_no_day_is_named_and_stays_in_its_field(admin_client: Client, assistant: Assistant, word: str) -> None:
    sent = form(assistant, closed_on=["2026-12-24", word])
    refused(admin_client, sent, f"“{word}” is no day of the calendar.")
    shown = admin_client.post(ADD, sent).content.decode()
    assert all(f'value="{each}"' in shown for each in ("2026-12-24", word))


@pytest.mark.parametrize(("opens", "closes"), [("12:00", "09:00"), ("09:00", "09:00")])
def test_an_office_does_not_close_before_it_opens(
    admin_client: Client, assistant: Assistant, opens: str, closes: str
) -> None:
    refused(
        admin_client,
        form(assistant, **rows("hours", hours(0, opens, closes))),
        "The end must be later than the beginning.",
    )


@pytest.mark.parametrize("row", [hours(7, "09:00", "12:00"), hours(0, "25:00", "26:00"), hours(0, "09:00", "")])
def test_hours_that_are_none_are_refused(admin_client: Client, assistant: Assistant, row: dict[str, Any]) -> None:
    refused(admin_client, form(assistant, **rows("hours", row)), "errorlist")


def test_a_rule_that_names_nothing_is_refused(admin_client: Client, assistant: Assistant) -> None:
    refused(
        admin_client,
        form(assistant, **rows("rules", {"audience": "  ", "position": "3"})),
        "Name a topic, a programme or group, or a page.",
    )


@pytest.mark.parametrize("days", ["-1", "31", "soon"])
def test_no_student_is_told_days_that_are_none(admin_client: Client, assistant: Assistant, days: str) -> None:
    refused(admin_client, form(assistant, reply_days=days), "errorlist")


def test_one_office_of_an_assistant_takes_the_rest(admin_client: Client, assistant: Assistant) -> None:
    first = Office.objects.create(assistant=assistant, name="Students", is_default=True)
    refused(admin_client, form(assistant, is_default="on"), "Another office takes what no rule leads elsewhere.")
    assert admin_client.post(ADD, form(AssistantFactory(), is_default="on")).status_code == 302
    assert list(Office.objects.filter(is_default=True, assistant=assistant)) == [first]


def test_the_list_counts_the_cases_that_wait(admin_client: Client, assistant: Assistant) -> None:
    office = Office.objects.create(assistant=assistant, name="Housing")
    for state in (Case.State.OPEN, Case.State.OPEN, Case.State.CLOSED):
        new_case(office=office, state=state)
    assert '<td class="field-waiting">2</td>' in admin_client.get(LIST).content.decode()


def test_staff_set_up_the_offices_of_their_own_assistants_alone(client: Client, assistant: Assistant) -> None:
    team = Group.objects.create(name="Library")
    assistant.teams.add(team)
    rights = ["chat.view_office", "chat.add_office", "chat.change_office"]
    client.force_login(UserFactory(permissions=rights, teams=[team]))
    other = Office.objects.create(assistant=AssistantFactory(), name="Theirs")
    assert "Theirs" not in client.get(LIST).content.decode()
    assert client.get(reverse("admin:chat_office_change", args=[other.pk])).status_code == 302
    refused(client, form(other.assistant), "errorlist")
    assert client.post(ADD, form(assistant)).status_code == 302


def test_who_may_only_read_offices_changes_no_hours(client: Client, assistant: Assistant) -> None:
    office = Office.objects.create(assistant=assistant, name="Housing")
    client.force_login(UserFactory(permissions=["chat.view_office", "knowledge.whole_university"]))
    page = reverse("admin:chat_office_change", args=[office.pk])
    assert client.get(page).status_code == 200
    sent = form(assistant, **rows("hours", hours(0, "09:00", "12:00")))
    assert client.post(page, sent).status_code == 403
    assert not office.hours.exists()

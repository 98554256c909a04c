"""The navigation by task and the search over everything: each member of staff finds only what they may open."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from marcelcms.accounts.roles import ADMINISTRATOR, ANALYST, CURATOR, REVIEWER, make_roles
from tests.analytics.gaps.rows import new_gap
from tests.factories import (
    CategoryFactory,
    CollectionFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    QuestionFactory,
    UserFactory,
)
from tests.staff.test_home import Team, make_member

pytestmark = pytest.mark.django_db
SEARCH = reverse("search-everything")


def sign_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def sections(client: Client) -> dict[str, list[str]]:
    found = client.get(reverse("admin:index")).context["available_apps"]
    return {str(section["name"]): [str(screen["name"]) for screen in section["models"]] for section in found}


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (CURATOR, ["To do", "Answers", "Content", "Try it", "Insights", "Settings"]),
        (REVIEWER, ["To do", "Answers", "Content", "Try it", "Insights", "Settings"]),
        (ANALYST, ["To do", "Answers", "Content", "Try it", "Insights", "Settings"]),
    ],
)
def test_each_role_has_its_sections_and_no_machinery(role: str, expected: list[str]) -> None:
    found = sections(sign_in(make_member(Team("Law"), role)))
    assert list(found) == expected
    assert "Periodic tasks" not in str(found)


def test_an_administrator_finds_the_machinery_last() -> None:
    found = sections(sign_in(UserFactory(is_superuser=True)))
    assert list(found)[-1] == "System"
    assert "Periodic tasks" in found["System"]
    assert "Intervals" not in found["System"]


def test_every_screen_stands_in_one_section() -> None:
    found = sections(sign_in(UserFactory(is_superuser=True)))
    screens = [screen for section in found.values() for screen in section]
    assert len(screens) == len(set(screens))
    assert set(found["System"]) == {
        *("Index versions", "Retention log", "Webhook deliveries"),
        *("Audit log", "Periodic tasks"),
    }


def test_the_search_finds_rows_of_all_screens(client: Client) -> None:
    new_gap("Parking permits")
    faq = FAQFactory(question="Where do I get a parking permit?")
    DocumentFactory(title="Parking")
    page = sign_in(UserFactory(is_superuser=True)).get(SEARCH, {"q": "parking"})
    assert [part.title for part in page.context["found"]] == ["Unanswered topics", "FAQs", "Documents"]
    assert reverse("admin:faqs_faq_change", args=[faq.pk]) in page.content.decode()


def test_the_search_leads_to_all_rows_where_there_are_more() -> None:
    for number in range(6):
        DocumentFactory(title=f"Parking {number}")
    (part,) = sign_in(UserFactory(is_superuser=True)).get(SEARCH, {"q": "parking"}).context["found"]
    assert (len(part.rows), part.more) == (5, f"{reverse('admin:knowledge_document_changelist')}?q=parking")


def test_the_search_finds_only_what_the_member_may_open() -> None:
    team = Team("Law")
    DocumentFactory(title="Parking of others", collection=CollectionFactory())
    FAQFactory(question="Parking?", collection=CollectionFactory())
    assert sign_in(make_member(team, CURATOR)).get(SEARCH, {"q": "parking"}).context["found"] == []
    assert sign_in(UserFactory()).get(SEARCH, {"q": "parking"}).context["found"] == []


def test_the_search_names_a_conversation_by_its_first_question_and_its_day() -> None:
    team = Team("Law")
    asked = QuestionFactory(
        conversation=ConversationFactory(assistant=team.assistant), text="Where do I park my cargo bike?"
    )
    QuestionFactory(conversation=asked.conversation, text="And where my car?")
    day = date_format(localtime(asked.conversation.created_at), "SHORT_DATE_FORMAT")
    (part,) = sign_in(make_member(team, CURATOR)).get(SEARCH, {"q": "car"}).context["found"]
    assert [title for title, _address in part.rows] == [f"Where do I park my cargo bike? ({day})"]


def test_the_search_names_no_conversation_by_a_question_that_the_member_may_not_read() -> None:
    team = Team("Law")
    asked = QuestionFactory(
        conversation=ConversationFactory(assistant=team.assistant), text="Nobody would miss me", route="crisis"
    )
    page = sign_in(make_member(team, CURATOR)).get(SEARCH, {"q": "miss"})
    assert "Nobody would" not in page.content.decode()
    QuestionFactory(conversation=asked.conversation, text="Where do I park?")
    page = sign_in(make_member(team, CURATOR)).get(SEARCH, {"q": "park"})
    (part,) = page.context["found"]
    assert part.rows[0][0].startswith("Where do I park?")
    assert "Nobody would" not in page.content.decode()


@pytest.mark.parametrize("text", ["", " ", "\0", "x" * 500, "<script>alert(1)</script>", "%", "'"])
def test_any_text_can_be_searched(text: str) -> None:
    page = sign_in(UserFactory(is_superuser=True)).get(SEARCH, {"q": text})
    assert page.status_code == 200
    assert "<script>alert" not in page.content.decode()


def test_an_administrator_role_sees_what_it_administers() -> None:
    found = sections(sign_in(make_member(Team("Law"), ADMINISTRATOR)))
    assert {"Settings", "System"} <= set(found)


def test_an_empty_list_says_that_nothing_is_there_or_matches() -> None:
    client, uploads = sign_in(UserFactory(is_superuser=True)), reverse("admin:knowledge_pdfupload_changelist")
    assert "Nothing here yet." in client.get(uploads).content.decode()
    found = client.get(uploads, {"q": "handbook"}).content.decode()
    assert "Nothing here matches what you chose." in found
    assert "Nothing here yet." not in found


def test_an_empty_list_tells_who_is_in_no_team_whom_to_ask() -> None:
    make_roles()
    UserFactory(is_superuser=True, first_name="Ada", last_name="Min")
    client = sign_in(UserFactory(teams=[Group.objects.get(name=CURATOR)]))
    shown = client.get(reverse("admin:faqs_faq_changelist")).content.decode()
    assert "You are in no team yet" in shown
    assert "Ada Min" in shown


def test_an_empty_value_can_be_chosen_by_a_name() -> None:
    FAQFactory(category=CategoryFactory())
    rows = sign_in(UserFactory(is_superuser=True)).get(reverse("admin:faqs_faq_changelist")).content.decode()
    assert 'category__isnull=True">Not given</a>' in rows


@pytest.mark.parametrize("page", ["change", "delete", "history"])
def test_the_pages_of_a_row_lead_back_to_its_list_and_to_no_app(page: str) -> None:
    team = Group.objects.create(name="Law")
    shown = sign_in(UserFactory(is_superuser=True)).get(reverse(f"admin:auth_group_{page}", args=[team.pk]))
    way = shown.content.decode().partition('<div class="breadcrumbs">')[2].partition("</div>")[0]
    assert ">Teams and roles</a>" in way
    assert f'"{reverse("admin:app_list", args=["auth"])}"' not in way


def test_lists_of_assistants_say_why_they_are_empty(client: Client) -> None:
    team = Team("Law")
    team.assistant.teams.clear()
    client.force_login(make_member(team, CURATOR))
    why = "Your teams look after no assistant"
    for name in ("chat_assistant", "chat_conversation"):
        assert why in client.get(reverse(f"admin:{name}_changelist")).content.decode()
    faqs = client.get(reverse("admin:faqs_faq_changelist")).content.decode()
    assert "No FAQs yet." in faqs
    assert why not in faqs
    team.assistant.teams.add(team.group)
    page = client.get(reverse("admin:chat_conversation_changelist")).content.decode()
    assert "Nothing here yet." in page
    assert why not in page

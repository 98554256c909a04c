"""A team is made with what it looks after, in its own form or while a colleague is invited."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from marcelcms.accounts.roles import CURATOR
from tests.analytics.inbox.mail_server import MailServer
from tests.factories import AssistantFactory, CollectionFactory, UserFactory
from tests.marcelcms.accounts.test_invitations import EMAIL, invite

pytestmark = pytest.mark.django_db
ADD = reverse("admin:auth_group_add")


def test_a_team_is_named_with_what_it_looks_after(administrator: Client) -> None:
    assistant, collection = AssistantFactory(name="Linde"), CollectionFactory(name="Law pages")
    administrator.post(ADD, {"name": "Law", "assistants": [assistant.pk], "collections": [collection.pk]})
    team = Group.objects.get(name="Law")
    assert (list(team.assistants.all()), list(team.collections.all())) == ([assistant], [collection])
    rows = administrator.get(reverse("admin:auth_group_changelist")).content.decode()
    assert "Linde, Law pages" in rows
    page = reverse("admin:auth_group_change", args=[team.pk])
    administrator.post(page, {"name": "Law", "assistants": [assistant.pk]})
    assert list(team.collections.all()) == []
    assert "collections" in LogEntry.objects.latest("pk").get_change_message()


def test_the_way_to_a_new_team_is_named_as_its_page(administrator: Client) -> None:
    page = administrator.get(ADD).content.decode()
    assert re.search(r"</a>\s*›\s*Add a team\s*</div>", page)


def test_a_role_keeps_its_name_and_shows_its_permissions(administrator: Client) -> None:
    page = reverse("admin:auth_group_change", args=[Group.objects.get(name=CURATOR).pk])
    fields = administrator.get(page).context["adminform"].form.fields
    assert list(fields) == ["permissions"]


def test_an_account_is_given_roles_by_their_titles_and_teams(administrator: Client, law: Group) -> None:
    member = UserFactory(teams=[law])
    page = reverse("admin:auth_user_change", args=[member.pk])
    shown = administrator.get(page, headers={"accept-language": "de"}).content.decode()
    boxes = dict(re.findall(r'<input type="checkbox" name="groups"[^>]*?( checked)?>\s*([^<]+?)</label>', shown))
    assert re.search(r">\s*Redaktion</label>", shown)
    assert boxes[" checked"] == law.name


@pytest.mark.parametrize("name", ["Curator", "whole university", "faculty of law"])
def test_a_name_stands_for_one_team_or_role(administrator: Client, law: Group, name: str) -> None:
    assert (
        "There is a team or a role with this name already." in administrator.post(ADD, {"name": name}).content.decode()
    )
    assert "There is a team or a role" in invite(administrator, new_team=name).content.decode()


def test_a_new_team_is_made_with_the_invitation(administrator: Client, smtp: MailServer) -> None:
    assistant, collection = AssistantFactory(), CollectionFactory()
    duties: dict[str, Any] = {"assistants": [assistant.pk], "collections": [collection.pk]}
    invite(administrator, is_everywhere="", new_team="Law", **duties)
    team = Group.objects.get(name="Law")
    assert team in User.objects.get(username=EMAIL).groups.all()
    assert (list(team.assistants.all()), list(team.collections.all())) == ([assistant], [collection])
    assert LogEntry.objects.filter(object_repr="Law").exists()


def test_a_team_that_looks_after_nothing_is_no_place_to_invite_to(administrator: Client) -> None:
    idle = Group.objects.create(name="Law")
    assert "looks after nothing yet" in administrator.get(reverse("invite")).content.decode()
    for values, said in (
        ({"teams": [idle.pk]}, "These teams look after nothing yet."),
        ({"new_team": "Sports"}, "Choose what the team looks after"),
        ({"assistants": [AssistantFactory().pk]}, "Write the name of the team"),
    ):
        assert said in invite(administrator, is_everywhere="", **values).content.decode()
    assert not User.objects.filter(username=EMAIL).exists()
    assert not Group.objects.filter(name="Sports").exists()

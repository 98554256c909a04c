"""The collection of a new document, course or website is preset if there is only one to choose."""

import re

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from knowledge.models import Collection
from tests.factories import CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db
MAY = [f"knowledge.{do}_{what}" for do in ("view", "add", "change") for what in ("document", "course", "source")]
FORMS = [
    "admin:knowledge_document_add",
    "admin:knowledge_course_add",
    "admin:knowledge_source_add",
    "admin:knowledge_course_import",
]


def teams_collection(team: Group) -> Collection:
    found: Collection = CollectionFactory()
    found.teams.add(team)
    return found


def chosen_on(client: Client, name: str, **address: str) -> list[str]:
    """Return the values of the options that are selected in the field of the collection, which is shown."""
    page = client.get(reverse(name), address).content.decode()
    field = re.search(r'<select[^>]*name="collection".*?</select>', page, re.S)
    assert field, name
    return re.findall(r'<option value="(\d*)" selected', field[0])


@pytest.mark.parametrize("name", FORMS)
def test_the_only_collection_of_ones_teams_is_preset(client: Client, name: str) -> None:
    team = Group.objects.create(name="Law")
    own, _others, _data_set = teams_collection(team), CollectionFactory(), CollectionFactory(for_evaluation=True)
    client.force_login(UserFactory(permissions=MAY, teams=[team]))
    assert chosen_on(client, name) == [str(own.pk)]
    teams_collection(team)
    assert chosen_on(client, name) in ([], [""])


@pytest.mark.parametrize("name", FORMS)
def test_the_only_collection_of_a_university_is_preset_for_who_sees_everything(admin_client: Client, name: str) -> None:
    only = CollectionFactory()
    CollectionFactory(for_evaluation=True)
    assert chosen_on(admin_client, name) == [str(only.pk)]
    CollectionFactory()
    assert chosen_on(admin_client, name) in ([], [""])


def test_a_collection_in_the_address_outweighs_the_only_one(client: Client) -> None:
    team = Group.objects.create(name="Law")
    own, other = teams_collection(team), CollectionFactory()
    client.force_login(UserFactory(permissions=MAY, teams=[team]))
    # That of another team is no choice of the field, so nothing is chosen.
    assert chosen_on(client, "admin:knowledge_document_add", collection=str(other.pk)) in ([], [""])
    assert chosen_on(client, "admin:knowledge_document_add", collection=str(own.pk)) == [str(own.pk)]

"""An empty installation leads an administrator to what students need, step by step."""

import re

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR, make_roles
from marcelcms.admin_index.first_steps import first_steps
from tests.factories import AssistantFactory, CollectionFactory, DocumentFactory, SiteFactory, UserFactory

pytestmark = pytest.mark.django_db


def next_step(client: Client) -> str:
    """Return the address of the step that the home page says is next; empty if it shows no steps."""
    page = client.get(reverse("admin:index")).content.decode()
    (address,) = re.findall(r'aria-current="step">\s*<a class="button" href="([^"]+)"', page) or [""]
    return str(address)


def test_each_step_leads_to_the_next_one_and_the_last_one_ends_them(client: Client) -> None:
    client.force_login(UserFactory(is_superuser=True))
    seen = [next_step(client)]
    for makes in (CollectionFactory, AssistantFactory, SiteFactory, DocumentFactory, UserFactory):
        makes()
        seen.append(next_step(client))
    assert seen == [
        *(reverse(f"admin:{name}_add") for name in ("knowledge_collection", "chat_assistant", "chat_site")),
        reverse("admin:knowledge_document_changelist"),
        reverse("invite"),
        "",
    ]


def test_the_step_of_pages_leads_to_each_way_of_adding_some(client: Client) -> None:
    client.force_login(UserFactory(is_superuser=True))
    page = client.get(reverse("admin:knowledge_document_changelist")).content.decode()
    assert 'class="empty"' in page
    for name in ("knowledge_source_add", "knowledge_pdfupload_add", "knowledge_document_add"):
        assert f'<li>\n          <a href="{reverse(f"admin:{name}")}">' in page


def test_every_step_leads_to_a_page(client: Client) -> None:
    client.force_login(UserFactory(is_superuser=True))
    for step in client.get(reverse("admin:index")).context["steps"]:
        assert client.get(step.url).status_code == 200


@pytest.mark.parametrize(("role", "steps"), [(ADMINISTRATOR, 5), (CURATOR, 0)])
def test_only_who_may_take_them_sees_them_for_one_query(role: str, steps: int) -> None:
    make_roles()
    user = UserFactory(teams=[Group.objects.get(name=role)])
    user.has_perm("any.thing")  # reads the permissions
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(first_steps(user)) == steps
    assert len(queries) == (1 if steps else 0)


def test_who_is_in_no_team_reads_whom_to_ask(client: Client) -> None:
    make_roles()
    administrator = Group.objects.get(name=ADMINISTRATOR)
    UserFactory(first_name="Ada", last_name="Lund", email="ada@uni.example", teams=[administrator])
    client.force_login(UserFactory(teams=[Group.objects.get(name=CURATOR)]))
    assert "Administrators: Ada Lund (ada@uni.example)." in client.get(reverse("admin:index")).content.decode()

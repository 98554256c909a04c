"""Fields that cannot be edited lead to no page that refuses whoever follows them."""

import datetime
import re

import pytest
from django.test import Client
from django.urls import reverse

from marcelcms.accounts.roles import CURATOR, REVIEWER
from tests.analytics.cases.rows import new_office
from tests.factories import CategoryFactory, FAQFactory
from tests.staff.test_home import Team, make_member

pytestmark = pytest.mark.django_db
READONLY = re.compile(r'<div class="readonly">(.*?)</div>', re.DOTALL)


def readonly_fields(client: Client, team: Team, **values: object) -> str:
    faq = FAQFactory(collection=team.collection, status="published", **values)
    page = client.get(reverse("admin:faqs_faq_change", args=[faq.pk]))
    return "\n".join(READONLY.findall(page.content.decode()))


def test_who_may_not_open_a_row_reads_its_name_without_a_link() -> None:
    team, client, category = Team("Law"), Client(), CategoryFactory(name="Deadlines")
    client.force_login(make_member(team, REVIEWER))
    fields = readonly_fields(client, team, category=category)
    assert "Deadlines" in fields
    assert team.collection.name in fields
    assert reverse("admin:faqs_category_change", args=[category.pk]) not in fields
    assert reverse("admin:knowledge_collection_change", args=[team.collection.pk]) not in fields


def test_another_teams_row_is_named_without_a_link() -> None:
    team, other, client = Team("Law"), Team("Medicine"), Client()
    client.force_login(make_member(team, REVIEWER))
    original = FAQFactory(question="Wann?", language="de", collection=other.collection)
    fields = readonly_fields(client, team, translation_of=original)
    assert "Wann?" in fields
    assert reverse("admin:faqs_faq_change", args=[original.pk]) not in fields


def test_who_may_open_a_row_is_led_to_it() -> None:
    team, client = Team("Law"), Client()
    client.force_login(make_member(team, REVIEWER))
    original = FAQFactory(question="Wann?", language="de", collection=team.collection)
    fields = readonly_fields(client, team, translation_of=original)
    assert reverse("admin:faqs_faq_change", args=[original.pk]) in fields


def test_languages_are_called_by_their_names_and_nothing_is_a_dash(client: Client) -> None:
    team = Team("Law")
    client.force_login(make_member(team, REVIEWER))
    assert "English" in readonly_fields(client, team, language="en").split("\n")
    type(team.assistant).objects.filter(pk=team.assistant.pk).update(languages=["en", "de"])
    page = client.get(reverse("admin:chat_assistant_change", args=[team.assistant.pk])).content.decode()
    fields = READONLY.findall(page)
    assert "English, German" in fields
    assert "" not in fields


def test_days_are_written_as_in_the_readers_language(client: Client) -> None:
    team = Team("Law")
    client.force_login(make_member(team, CURATOR))
    office = new_office(team.assistant, closed_on=[datetime.date(2026, 12, 24), datetime.date(2027, 1, 1)])
    address = reverse("admin:chat_office_change", args=[office.pk])
    page = client.get(address, headers={"accept-language": "de"}).content.decode()
    assert "24. Dezember 2026, 1. Januar 2027" in READONLY.findall(page)


def test_a_wrong_address_is_told_to_staff_politely(client: Client) -> None:
    team = Team("Law")
    client.force_login(make_member(team, CURATOR))
    address = reverse("admin:knowledge_document_add")
    page = client.post(address, {"url": "http://["}, headers={"accept-language": "de"}).content.decode()
    assert "Bitte geben Sie eine gültige Webadresse ein." in page

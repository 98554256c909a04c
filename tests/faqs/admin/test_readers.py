"""Two curators who have the form of one FAQ open see each other; those who may not change it are not told."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import Reader
from tests.factories import FAQFactory, UserFactory

pytestmark = pytest.mark.django_db
MAY = ("faqs.view_faq", "faqs.change_faq", "knowledge.whole_university")


def sign_in(name: str, *permissions: str) -> Client:
    client = Client()
    client.force_login(UserFactory(username=name, permissions=permissions))
    return client


def ask(client: Client, faq: Any) -> Any:
    return client.post(reverse("faq-reading", args=[faq.pk]))


def test_two_who_have_the_form_open_see_each_other() -> None:
    faq, anna, ben = FAQFactory(), sign_in("anna", *MAY), sign_in("ben", *MAY)
    assert ask(anna, faq).json()["readers"] == []
    assert ask(ben, faq).json()["readers"] == ["anna"]
    assert ask(anna, faq).json()["readers"] == ["ben"]
    assert ask(anna, FAQFactory()).json()["readers"] == []


def test_the_form_asks_with_the_version_that_it_shows() -> None:
    faq, anna = FAQFactory(), sign_in("anna", *MAY)
    page = anna.get(reverse("admin:faqs_faq_change", args=[faq.pk])).content.decode()
    assert f'data-reading="{reverse("faq-reading", args=[faq.pk])}"' in page
    assert f'data-version="{ask(anna, faq).json()["version"]}"' in page


def test_who_may_only_read_is_not_shown_and_asks_in_vain() -> None:
    faq, reader = FAQFactory(), sign_in("reader", "faqs.view_faq", "knowledge.whole_university")
    assert "data-reading" not in reader.get(reverse("admin:faqs_faq_change", args=[faq.pk])).content.decode()
    assert ask(reader, faq).status_code == 403
    assert not Reader.objects.exists()

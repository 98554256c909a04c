"""A translation is behind its original only while that says something else than it was made from."""

import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from faqs.models import FAQ
from faqs.services import restore_version
from tests.factories import DocumentFactory, FAQFactory
from tests.faqs.forms import build_form

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", lambda *_args: None)


def save(client: Client, faq: FAQ, **changes: Any) -> None:
    page = client.post(reverse("admin:faqs_faq_change", args=[faq.pk]), build_form(faq, **changes))
    assert page.status_code == 302
    faq.refresh_from_db()


def behind() -> list[FAQ]:
    return list(FAQ.objects.behind_their_original())


@pytest.fixture
def original() -> FAQ:
    faq: FAQ = FAQFactory(question="How much?", language="en")
    return faq


@pytest.fixture
def german(original: FAQ) -> FAQ:
    faq: FAQ = FAQFactory(question="Wie viel?", language="de", translation_of=original)
    return faq


def test_an_original_that_is_restored_to_what_was_translated_leaves_nothing_behind(
    admin_client: Client, original: FAQ, german: FAQ
) -> None:
    save(admin_client, original, question="How much is it now?")
    assert behind() == [german]
    restore_version(version=original.versions.last(), by=None)
    assert behind() == []


def test_so_does_one_that_is_typed_back(admin_client: Client, original: FAQ, german: FAQ) -> None:
    save(admin_client, original, question="How much is it now?")
    save(admin_client, original, question="How much?")
    assert behind() == []


def test_a_translation_that_was_made_of_the_later_text_is_behind_the_restored_one(
    admin_client: Client, original: FAQ, german: FAQ
) -> None:
    save(admin_client, original, question="How much is it now?")
    save(admin_client, german, translation_of=original.pk, question="Wie viel ist es jetzt?")
    assert behind() == []
    restore_version(version=original.versions.last(), by=None)
    assert behind() == [german]


def test_one_that_was_behind_before_stays_so(admin_client: Client, original: FAQ, german: FAQ) -> None:
    save(admin_client, original, question="How much is it now?")
    second = original.versions.first()
    save(admin_client, original, question="How much is it today?")
    restore_version(version=second, by=None)
    assert behind() == [german]


def test_a_restored_translation_is_as_old_as_its_version(admin_client: Client, original: FAQ, german: FAQ) -> None:
    save(admin_client, german, translation_of=original.pk, question="Wie viel denn?")
    first = german.versions.last()
    save(admin_client, original, question="How much is it now?")
    save(admin_client, german, translation_of=original.pk, question="Wie viel ist es jetzt?")
    assert behind() == []
    restore_version(version=first, by=None)
    assert behind() == [german]


def test_restoring_says_nothing_of_a_page_that_changed_since_it_was_checked(admin_client: Client) -> None:
    document = DocumentFactory()
    faq = FAQFactory(question="How much?", documents=[document])
    save(admin_client, faq, question="How much is it?")
    faq.sources.update(verified_at=timezone.now() - datetime.timedelta(days=2))
    type(document).objects.update(altered_at=timezone.now() - datetime.timedelta(days=1))
    assert FAQ.objects.with_changed_sources().exists()
    restore_version(version=faq.versions.last(), by=None)
    assert FAQ.objects.with_changed_sources().exists()

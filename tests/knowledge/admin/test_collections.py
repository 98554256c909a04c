"""Collections in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from faqs.models.matching import Matcher
from knowledge.models import Collection, PdfUpload
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db


def test_a_collection_with_documents_cannot_be_deleted(admin_client: Client) -> None:
    collection = DocumentFactory().collection
    page = admin_client.post(reverse("admin:knowledge_collection_delete", args=[collection.pk]), {"post": "yes"})
    assert page.status_code in {200, 403}
    assert Collection.objects.exists()


def test_an_empty_collection_is_deleted_with_what_the_product_made_for_it(admin_client: Client) -> None:
    collection = CollectionFactory()
    Matcher.objects.create(collection=collection)
    PdfUpload.objects.create(name="rules.pdf", collection=collection)
    address = reverse("admin:knowledge_collection_delete", args=[collection.pk])
    assert "uploaded file" in admin_client.get(address).content.decode().lower()
    assert admin_client.post(address, {"post": "yes"}).status_code == 302
    assert not Collection.objects.filter(pk=collection.pk).exists()


def test_collections_say_how_many_documents_they_hold(admin_client: Client) -> None:
    DocumentFactory.create_batch(2, collection=CollectionFactory())
    page = admin_client.get(reverse("admin:knowledge_collection_changelist")).content.decode()
    assert '<td class="field-documents">2</td>' in page

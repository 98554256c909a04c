"""Collections in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.models import Collection
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db


def test_a_collection_with_documents_cannot_be_deleted(admin_client: Client) -> None:
    collection = DocumentFactory().collection
    page = admin_client.post(reverse("admin:knowledge_collection_delete", args=[collection.pk]), {"post": "yes"})
    assert page.status_code in {200, 403}
    assert Collection.objects.exists()


def test_collections_say_how_many_documents_they_hold(admin_client: Client) -> None:
    DocumentFactory.create_batch(2, collection=CollectionFactory())
    page = admin_client.get(reverse("admin:knowledge_collection_changelist")).content.decode()
    assert '<td class="field-documents">2</td>' in page

"""What a data set brings along clutters none of the lists and choices that staff work with."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from faqs.models import FAQ
from knowledge.models import Collection, Document
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory

pytestmark = pytest.mark.django_db


def test_a_data_set_s_documents_and_faqs_stand_in_no_list_and_no_choice(admin_client: Client) -> None:
    data_set = CollectionFactory(name="A data set", slug="data-set", for_evaluation=True)
    hidden, shown = DocumentFactory(title="Hidden page", collection=data_set), DocumentFactory(title="Shown page")
    FAQFactory(question="Hidden question?", documents=[hidden])
    FAQFactory(question="Shown question?", documents=[hidden, shown])
    FAQFactory(question="Bare question?")
    documents = admin_client.get(reverse("admin:knowledge_document_changelist")).content.decode()
    assert "Shown page" in documents
    assert "Hidden page" not in documents
    faqs = admin_client.get(reverse("admin:faqs_faq_changelist")).content.decode()
    assert "Shown question?" in faqs
    assert "Bare question?" in faqs
    assert "Hidden question?" not in faqs
    assert FAQ.objects.count() == 3
    for name in (
        "knowledge_collection_changelist",
        "knowledge_document_changelist",
        "knowledge_document_add",
        "knowledge_source_changelist",
        "knowledge_source_add",
        "knowledge_course_add",
        "knowledge_course_changelist",
        "knowledge_pdfupload_add",
        "chat_assistant_add",
        "analytics_evaluationset_add",
    ):
        assert "A data set" not in admin_client.get(reverse(f"admin:{name}")).content.decode(), name
    found = admin_client.get(
        reverse("admin:autocomplete"),
        {"app_label": "faqs", "model_name": "faqsource", "field_name": "document", "term": "page"},
    ).json()
    assert [each["text"] for each in found["results"]] == ["Shown page"]


def test_a_data_set_s_document_and_collection_can_still_be_opened(admin_client: Client) -> None:
    document = DocumentFactory(collection=CollectionFactory(name="A data set", for_evaluation=True))
    page = admin_client.get(reverse("admin:knowledge_document_change", args=[document.pk])).content.decode()
    assert f'<option value="{document.collection_id}" selected>A data set</option>' in page
    opened = admin_client.get(reverse("admin:knowledge_collection_change", args=[document.collection_id]))
    assert opened.status_code == 200


def test_changes_of_a_data_set_are_not_to_be_verified(admin_client: Client) -> None:
    for collection in (CollectionFactory(for_evaluation=True), CollectionFactory()):
        document = DocumentFactory(collection=collection, title=f"In {collection.name}")
        FAQFactory(documents=[document])
        Document.objects.filter(pk=document.pk).update(altered_at=timezone.now())
    page = admin_client.get(reverse("impact")).content.decode()
    assert [f"In {each.name}" in page for each in Collection.objects.order_by("for_evaluation")] == [True, False]

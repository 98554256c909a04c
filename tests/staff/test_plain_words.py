"""Django's own pages, as staff read them: what is deleted, what was changed, how a password is set."""

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from faqs.models import FAQ
from tests.factories import DocumentFactory, FAQFactory, UserFactory

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}


def read(client: Client, name: str, *arguments: object) -> str:
    return client.get(reverse(f"admin:{name}", args=arguments), headers=GERMAN).content.decode()


def test_a_deletion_names_the_row_and_counts_what_staff_know(admin_client: Client) -> None:
    member = UserFactory(permissions=["faqs.view_faq"])
    page = read(admin_client, "auth_user_delete", member.pk)
    assert f"„{member.username}“ wird endgültig gelöscht" in page
    assert "<li>Benutzer: 1</li>" in page
    assert "relationship" not in page
    document = DocumentFactory()
    assert "Dokument löschen" in read(admin_client, "knowledge_document_delete", document.pk)
    admin_client.post(reverse("admin:knowledge_document_delete", args=[document.pk]), {"post": "yes"})
    assert not type(document).objects.filter(pk=document.pk).exists()


def test_several_rows_are_named_before_they_are_deleted(admin_client: Client) -> None:
    faqs = [FAQFactory(question="What is it?"), FAQFactory(question="What was it?")]
    chosen = {"action": "delete_selected", "_selected_action": [faq.pk for faq in faqs]}
    page = admin_client.post(reverse("admin:faqs_faq_changelist"), chosen).content.decode()
    assert "What is it?" in page
    assert "What was it?" in page
    admin_client.post(reverse("admin:faqs_faq_changelist"), chosen | {"post": "yes"})
    assert not FAQ.objects.exists()


def test_a_row_without_changes_says_so(admin_client: Client) -> None:
    assert "Hier hat noch niemand etwas geändert." in read(admin_client, "faqs_faq_history", FAQFactory().pk)


def test_the_page_of_a_password_is_german(admin_client: Client) -> None:
    page = read(admin_client, "auth_user_password_change", UserFactory().pk)
    assert "Ob sich diese Person mit einem Passwort anmelden kann." in page
    assert "Whether the user" not in page
    assert "Authentifizierung und Autorisierung" not in page


def test_the_audit_log_names_kinds_without_their_apps(admin_client: Client) -> None:
    member, kind = UserFactory(), ContentType.objects.get_for_model(FAQ)
    LogEntry.objects.create(user=member, content_type=kind, object_id="1", object_repr="One", action_flag=ADDITION)
    page = read(admin_client, "admin_logentry_changelist")
    assert "<h1>Protokoll der Änderungen</h1>" in " ".join(page.split()).replace("> ", ">").replace(" <", "<")
    assert '<td class="field-kind">FAQ</td>' in page
    assert "FAQs | FAQ" not in page

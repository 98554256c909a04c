import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import Error, transaction
from django.urls import reverse

from marcelcms.accounts.roles import make_roles
from tests.factories import DocumentFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry():
    by = UserFactory(username="lindi")
    LogEntry.objects.log_actions(by.pk, [DocumentFactory(title="Fees")], CHANGE, "Changed title.")
    return LogEntry.objects.get()


@pytest.fixture
def admin_client(client):
    client.force_login(UserFactory(username="root", is_superuser=True))
    return client


def test_the_database_refuses_to_change_or_delete_what_was_written_down(entry):
    with pytest.raises(Error, match="cannot be changed"), transaction.atomic():
        LogEntry.objects.update(change_message="nothing happened")
    with pytest.raises(Error, match="cannot be changed"), transaction.atomic():
        LogEntry.objects.all().delete()
    assert LogEntry.objects.get().change_message == "Changed title."


def test_administrators_read_who_did_what(admin_client, entry):
    page = admin_client.get(reverse("admin:admin_logentry_changelist")).content.decode()
    assert "lindi" in page
    assert "Fees" in page
    assert "Changed title." in page


def test_nobody_changes_it_through_its_page(admin_client, entry):
    assert admin_client.get(reverse("admin:admin_logentry_add")).status_code == 403
    deleted = admin_client.post(reverse("admin:admin_logentry_delete", args=[entry.pk]), {"post": "yes"})
    assert deleted.status_code == 403
    changed = admin_client.post(reverse("admin:admin_logentry_change", args=[entry.pk]), {"change_message": "else"})
    assert changed.status_code == 403


def test_its_list_costs_the_same_however_long_it_is(admin_client, django_assert_max_num_queries, entry):
    documents = [DocumentFactory() for _ in range(30)]
    LogEntry.objects.log_actions(entry.user_id, documents, CHANGE, "Changed text.")
    with django_assert_max_num_queries(9):
        admin_client.get(reverse("admin:admin_logentry_changelist"))


def test_who_has_a_record_is_deactivated_rather_than_deleted(admin_client, entry):
    new = UserFactory(username="new")
    delete = "admin:auth_user_delete"
    assert admin_client.post(reverse(delete, args=[entry.user_id]), {"post": "yes"}).status_code == 403
    assert admin_client.post(reverse(delete, args=[new.pk]), {"post": "yes"}).status_code == 302


def test_the_log_calls_a_field_as_its_form_does(admin_client):
    changed = [{"changed": {"fields": ["valid_from", "something else"]}}]
    LogEntry.objects.log_actions(UserFactory().pk, [DocumentFactory()], CHANGE, changed)
    page = admin_client.get(reverse("admin:admin_logentry_changelist"), headers={"accept-language": "de"})
    assert "Gültig ab und something else geändert." in page.content.decode()


def test_the_history_of_a_row_is_in_the_language_of_its_reader(admin_client):
    document = DocumentFactory()
    changed = [{"changed": {"fields": ["Valid from", "status"]}}]  # as a form writes it, and as an action does
    LogEntry.objects.log_actions(UserFactory().pk, [document], CHANGE, changed)
    address = reverse("admin:knowledge_document_history", args=[document.pk])
    page = admin_client.get(address, headers={"accept-language": "de"})
    assert "Gültig ab und Status geändert." in page.content.decode()


def test_roles_to_filter_by_are_called_by_their_titles(admin_client):
    make_roles()
    page = admin_client.get(reverse("admin:auth_user_changelist"), headers={"accept-language": "de"}).content.decode()
    assert "Redaktion</a>" in page
    assert "Curator</a>" not in page

"""The page on which staff say which notices and e-mails they want and who stands in for them."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analytics.inbox.mails import mail_notices
from analytics.inbox.services import assign_all
from analytics.models import InboxPreferences
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import away, staff
from tests.analytics.inbox.mail_server import MailServer
from tests.factories import UserFactory
from tests.sent import as_sent, form_on, labels_on

pytestmark = pytest.mark.django_db
FORM = "preferences-form"


@pytest.fixture
def page(client: Client, ada: User) -> Any:
    client.force_login(ada)
    return client


def address() -> str:
    return reverse("inbox-preferences")


def save(client: Client, **changes: Any) -> Any:
    """Change the form as it is shown, and send it; what is None is not ticked."""
    sent = as_sent(client.get(address()), FORM, **changes)
    return client.post(address(), {name: value for name, value in sent.items() if value is not None})


def test_every_page_leads_there_for_who_works_on_the_inbox(page: Client, client: Client) -> None:
    assert "Notices and substitute" in page.get(reverse("admin:marcelcms_apitoken_changelist")).content.decode()
    client.force_login(UserFactory(permissions=["analytics.view_dashboard"]))
    assert "Notices and substitute" not in client.get(reverse("admin:marcelcms_apitoken_changelist")).content.decode()
    assert client.get(address()).status_code == 403


def test_mails_are_on_until_somebody_turns_them_off(page: Client, ada: User) -> None:
    form = form_on(page.get(address()), FORM)
    assert form.fields["mails_assignments"] == form.fields["mails_digest"] == "on"
    assert save(page, mails_digest=None).status_code == 302
    preferences = InboxPreferences.objects.get(user=ada)
    assert (preferences.mails_assignments, preferences.mails_digest) == (True, False)
    entry = LogEntry.objects.get(user=ada)
    assert entry.object_id == str(ada.pk)
    assert "summary every week" in entry.get_change_message()


def test_who_is_away_names_a_colleague_who_works_on_the_inbox(page: Client, ada: User, bob: User) -> None:
    staff("Gone", is_active=False)
    staff("Student", is_staff=False)
    staff("Analyst", permissions=["analytics.view_dashboard"])
    assert labels_on(page.get(address()), "substitute") == ["no substitute", "Bob"]
    today = timezone.localdate()
    said = save(page, away_until=today.isoformat()).content.decode()
    assert "Choose who stands in for you while you are away." in said
    assert not InboxPreferences.objects.exists()
    assert save(page, away_until=today.isoformat(), substitute=bob.pk).status_code == 302
    preferences = InboxPreferences.objects.get(user=ada)
    assert (preferences.away_until, preferences.substitute) == (today, bob)


def test_a_substitute_needs_a_last_day(page: Client, ada: User, bob: User) -> None:
    said = save(page, substitute=bob.pk).content.decode()
    assert "Enter the last day on which you are away too, or choose “no substitute”." in said
    assert not InboxPreferences.objects.exists()
    away(ada, None, bob)  # as it could be saved once
    assert form_on(page.get(address()), FORM).fields["substitute"] == ""
    assert save(page).status_code == 302
    assert InboxPreferences.objects.get(user=ada).substitute is None


def test_nobody_stands_in_for_themselves(page: Client, ada: User) -> None:
    said = save(page, away_until=timezone.localdate().isoformat(), substitute=ada.pk)
    assert said.status_code == 200
    assert not InboxPreferences.objects.exists()


def test_a_day_that_has_passed_is_refused(page: Client, bob: User) -> None:
    yesterday = timezone.localdate() - timedelta(days=1)
    said = save(page, away_until=yesterday.isoformat(), substitute=bob.pk).content.decode()
    assert "This day has passed: choose today or a later day." in said
    assert "Choose who stands in" not in said


def test_who_is_back_can_save_without_saying_so(page: Client, ada: User, bob: User) -> None:
    away(ada, timezone.localdate() - timedelta(days=1), bob)
    assert save(page, mails_digest=None).status_code == 302
    preferences = InboxPreferences.objects.get(user=ada)
    assert (preferences.away_until, preferences.substitute, preferences.mails_digest) == (None, None, False)


def test_everybody_sees_and_changes_their_own_alone(page: Client, ada: User, bob: User) -> None:
    away(bob, None, None, mails_digest=False)
    assert form_on(page.get(address()), FORM).fields["mails_digest"] == "on"
    save(page, mails_assignments=None)
    theirs = InboxPreferences.objects.get(user=bob)
    assert (theirs.mails_assignments, theirs.mails_digest) == (True, False)


def test_the_page_says_where_mails_go_and_when_there_are_none(page: Client, ada: User, settings: Settings) -> None:
    assert "sends no e-mail" in page.get(address()).content.decode()
    settings.EMAIL_HOST = "mail.uni.example"
    assert "They go to ada@uni.example" in page.get(address()).content.decode()
    User.objects.filter(pk=ada.pk).update(email="")
    assert "ask your administrator to enter one" in page.get(address()).content.decode()


def test_a_substitute_whose_account_is_deleted_leaves_nothing_broken(page: Client, ada: User, bob: User) -> None:
    away(ada, timezone.localdate(), bob)
    bob.delete()
    assert page.get(address()).status_code == 200
    assert InboxPreferences.objects.get(user=ada).substitute is None
    ada.delete()
    assert not InboxPreferences.objects.exists()


def test_who_turns_notices_off_sees_none_in_the_admin_and_is_mailed_all_the_same(
    page: Client, ada: User, bob: User, smtp: MailServer
) -> None:
    gap = new_gap("Parking")
    assign_all(items=[gap], to=ada, due_on=None, by=bob)
    home = reverse("admin:index")
    assert "“Parking”, from Bob" in page.get(home).content.decode()
    save(page, shows_notices=None)
    shown = page.get(home).content.decode()
    assert "“Parking”, from Bob" not in shown
    assert "unread-notices" not in shown
    assert "1 topic is assigned to you." in shown  # what there is to do is no notice
    assert mail_notices() == 1
    save(page, shows_notices="on")
    assert "unread-notices" in page.get(home).content.decode()

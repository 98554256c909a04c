"""Staff log in with a real SAML identity provider: account, roles, removal, log out."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NAMEID_FORMAT_TRANSIENT

from marcelcms.accounts.roles import ANALYST, CURATOR, WHOLE_UNIVERSITY
from marcelcms.models import DirectoryIdentity
from tests.fakes.saml import ENTITLEMENT, MAIL, SUBJECT_ID, IdentityProvider, encrypt, key_pair, query_of
from tests.marcelcms.accounts.sign_on.conftest import groups_of
from tests.marcelcms.accounts.sign_on.saml.conftest import BO, Attempt

pytestmark = pytest.mark.django_db


def logged_in(directory: IdentityProvider) -> Attempt:
    attempt = Attempt(directory)
    assert attempt.come_back(attempt.answer()).status_code == 302
    return attempt


def test_the_first_login_makes_the_account_with_role_and_teams(directory: IdentityProvider) -> None:
    attempt = Attempt(directory)
    answer = attempt.come_back(attempt.answer())
    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:index"))
    user = attempt.client.get(reverse("admin:index")).context["user"]
    assert (user.get_username(), user.first_name, user.last_name) == ("bo.berg@uni.example", "Bo", "Berg")
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (True, False, False)
    assert groups_of(user) == {CURATOR, "Faculty of Law"}
    identity = DirectoryIdentity.objects.get(user=user)
    assert (identity.issuer, identity.subject) == (directory.entity_id, "4711@uni.example")


def test_the_login_leads_to_the_page_that_was_wanted(directory: IdentityProvider) -> None:
    wanted = reverse("admin:faqs_faq_changelist")
    login = Client().get(wanted, follow=True).content.decode()
    assert re.findall(r'href="(/sign-on/[^"]*)"', login)
    attempt = Attempt(directory, next=wanted)
    assert attempt.come_back(attempt.answer())["Location"] == wanted


def test_an_encrypted_assertion_is_read(directory: IdentityProvider) -> None:
    attempt = Attempt(directory)
    document = encrypt(attempt.answer(), key_pair("product")[1])
    assert "bo.berg@uni.example" not in document
    assert attempt.come_back(document).status_code == 302
    assert attempt.is_in()


def test_a_signed_response_around_the_signed_assertion_is_read(directory: IdentityProvider) -> None:
    attempt = Attempt(directory)
    assert attempt.come_back(attempt.answer(sign_response=True)).status_code == 302


def test_lost_and_new_groups_change_roles_and_teams_at_the_next_login(directory: IdentityProvider) -> None:
    logged_in(directory)
    directory.attributes[ENTITLEMENT] = ["figures"]
    directory.attributes[MAIL] = ["bo.meier@uni.example"]
    logged_in(directory)
    (user,) = User.objects.all()
    assert user.email == "bo.meier@uni.example"
    assert groups_of(user) == {ANALYST, WHOLE_UNIVERSITY}


def test_what_the_directory_changes_stands_in_the_audit_log(directory: IdentityProvider, admin_client: Client) -> None:
    logged_in(directory)
    directory.attributes[ENTITLEMENT] = ["figures"]
    logged_in(directory)
    logged_in(directory)
    user = DirectoryIdentity.objects.get().user
    entries = LogEntry.objects.filter(object_id=user.pk, content_type__model="user").order_by("pk")
    made, given, changed = [entry.get_change_message() for entry in entries]
    assert made == "Added."
    assert "Added role or team, by the directory, “Faculty of Law”." in given
    assert "Added role or team, by the directory, “Analyst”." in changed
    assert "Deleted role or team, by the directory, “Curator”." in changed
    del directory.attributes[ENTITLEMENT]
    attempt = Attempt(directory)
    assert attempt.come_back(attempt.answer()).status_code == 403
    lost = entries.last()
    assert lost is not None
    assert "Deleted role or team, by the directory, “Analyst”." in lost.get_change_message()
    shown = admin_client.get(reverse("admin:admin_logentry_changelist")).content.decode()
    assert shown.count("by the directory") >= 3


def test_who_lost_all_groups_loses_all_rights_in_open_sessions_too(directory: IdentityProvider) -> None:
    first = logged_in(directory)
    del directory.attributes[ENTITLEMENT]
    attempt = Attempt(directory)
    answer = attempt.come_back(attempt.answer())
    assert answer.status_code == 403
    assert "none of your groups there has a role" in answer.content.decode()
    assert not first.is_in()


def test_logging_out_ends_the_providers_session_too(directory: IdentityProvider) -> None:
    attempt = logged_in(directory)
    page = attempt.client.post(reverse("admin:logout")).content.decode()
    (place,) = set(re.findall(r'href="([^"]+/slo[^"]+)"', page))
    back = directory.log_out(query_of(place.replace("&amp;", "&")))
    assert directory.logged_out == ["a-name-of-bo"]
    assert back.startswith("http://testserver/sign-on/saml/logout/?SAMLResponse=")
    assert attempt.client.get(back)["Location"] == reverse("admin:login")
    assert not attempt.is_in()


def test_a_log_out_at_the_provider_ends_the_session_here(directory: IdentityProvider) -> None:
    attempt = logged_in(directory)
    product, place = (f"http://testserver/sign-on/saml/{page}/" for page in ("metadata", "logout"))
    answer = attempt.client.get(directory.logout_request("a-name-of-bo", product, place))
    assert answer.status_code == 302
    assert answer["Location"].startswith(f"{directory.origin}/slo?SAMLResponse=")
    assert not attempt.is_in()


def test_a_persistent_name_id_can_be_the_identifier(directory: IdentityProvider, settings: Settings) -> None:
    settings.SAML_SUBJECT_ATTRIBUTE = "NameID"
    directory.name_format = NAMEID_FORMAT_PERSISTENT
    del directory.attributes[SUBJECT_ID]
    logged_in(directory)
    assert DirectoryIdentity.objects.get().subject == "a-name-of-bo"
    directory.name_format = NAMEID_FORMAT_TRANSIENT
    attempt = Attempt(directory)
    assert attempt.come_back(attempt.answer()).status_code == 400


def test_two_logins_of_one_browser_on_their_way_both_arrive(directory: IdentityProvider) -> None:
    first = Attempt(directory)
    second = Attempt(directory)
    second.client = first.client
    second.sent = query_of(first.client.get(reverse("sign-on"))["Location"])
    assert first.come_back(first.answer()).status_code == 302


def test_the_metadata_names_addresses_certificates_and_what_is_asked_for(directory: IdentityProvider) -> None:
    answer = Client().get(reverse("sign-on-saml-metadata"))
    page = answer.content.decode()
    assert answer["Content-Type"] == "application/samlmetadata+xml"
    assert 'Location="http://testserver/sign-on/saml/"' in page
    assert 'WantAssertionsSigned="true"' in page
    assert all(f'Name="{name}"' in page for name in BO)
    assert page.count("X509Certificate>") == 4  # for signatures and for encryption
    assert "validUntil" not in page


def test_without_a_provider_nothing_of_it_is_there(client: Client, db: None) -> None:
    assert client.post(reverse("sign-on-saml")).status_code == 404
    for page in ("finish", "logout", "metadata"):
        assert client.get(reverse(f"sign-on-saml-{page}")).status_code == 404


def test_who_cancels_at_the_provider_reads_that_nobody_was_logged_in(directory: IdentityProvider) -> None:
    directory.is_refused = True
    attempt = Attempt(directory)
    answer = attempt.come_back(attempt.answer())
    assert answer.status_code == 400
    assert "It was cancelled" in answer.content.decode()

"""Staff log in with a real provider: account, roles, removal, log out."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from marcelcms.accounts.roles import ANALYST, CURATOR, WHOLE_UNIVERSITY
from marcelcms.models import DirectoryGroup, DirectoryIdentity
from tests.factories import UserFactory
from tests.fakes.oidc import Provider, Visit, path_of
from tests.marcelcms.accounts.sign_on.conftest import BO, groups_of, log_in

pytestmark = pytest.mark.django_db


def messages(user: User) -> list[str]:
    return [entry.get_change_message() for entry in LogEntry.objects.filter(object_id=user.pk).order_by("pk")]


def test_the_first_login_makes_the_account_with_role_and_teams(directory: Provider, law: Group) -> None:
    client = Client()
    answer = log_in(directory, client, groups=["law-web", "choir"])
    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:index"))
    page = client.get(reverse("admin:index"))
    user = page.context["user"]
    assert (user.get_username(), user.first_name, user.last_name) == (BO["email"], "Bo", "Berg")
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (True, False, False)
    assert groups_of(user) == {CURATOR, law.name}
    assert DirectoryIdentity.objects.get(user=user).subject == BO["sub"]


def test_the_login_leads_to_the_page_that_was_wanted(directory: Provider, law: Group) -> None:
    wanted = reverse("admin:faqs_faq_changelist")
    client = Client()
    login = client.get(wanted, follow=True)
    (address,) = re.findall(r'href="(/sign-on/[^"]*)"', login.content.decode())
    directory.set_person(**BO, groups=["law-web"])
    back = Visit().follow(client.get(address)["Location"])
    assert client.get(path_of(back))["Location"] == wanted


def test_the_second_login_finds_the_account_by_its_identifier(directory: Provider, law: Group) -> None:
    log_in(directory, groups=["law-web"])
    log_in(directory, groups=["law-web"], email="bo.meier@uni.example", family_name="Meier")
    (user,) = User.objects.all()
    assert (user.email, user.last_name) == ("bo.meier@uni.example", "Meier")


def test_lost_and_new_groups_change_roles_and_teams_at_the_next_login(directory: Provider, law: Group) -> None:
    log_in(directory, groups=["law-web"])
    log_in(directory, groups=["figures"])
    (user,) = User.objects.all()
    assert groups_of(user) == {ANALYST, WHOLE_UNIVERSITY}
    assert not user.has_perm("faqs.change_faq")


def test_what_the_directory_changes_stands_in_the_audit_log(directory: Provider, law: Group) -> None:
    log_in(directory, groups=["law-web"])
    log_in(directory, groups=["figures"])
    (user,) = User.objects.all()
    made, given, changed = messages(user)
    assert made == "Added."
    assert "Added role or team, by the directory, “Faculty of Law”." in given
    assert "Added role or team, by the directory, “Analyst”." in changed
    assert "Deleted role or team, by the directory, “Curator”." in changed
    log_in(directory, groups=["figures"])
    assert len(messages(user)) == 3


def test_who_is_in_no_group_with_a_role_reads_whom_to_ask_and_gets_no_account(
    directory: Provider, ada: User, law: Group
) -> None:
    client = Client()
    answer = log_in(directory, client, groups=["choir"])
    assert answer.status_code == 403
    assert "none of your groups there has a role" in answer.content.decode()
    assert "Please ask Ada." in answer.content.decode()
    assert not User.objects.exclude(pk=ada.pk).exists()
    assert client.get(reverse("admin:index")).status_code == 302


def test_who_lost_all_groups_loses_all_rights_in_open_sessions_too(directory: Provider, law: Group) -> None:
    client = Client()
    log_in(directory, client, groups=["law-web"])
    assert client.get(reverse("admin:index")).status_code == 200
    assert log_in(directory, groups=[]).status_code == 403
    (user,) = User.objects.all()
    assert (groups_of(user), user.is_staff) == (set(), False)
    assert client.get(reverse("admin:index")).status_code == 302
    assert "is_staff" in messages(user)[-1]
    assert log_in(directory, groups=["law-web"]).status_code == 302


def test_a_row_that_is_gone_gives_nothing_any_more(directory: Provider, law: Group) -> None:
    log_in(directory, groups=["law-web", "figures"])
    DirectoryGroup.objects.get(name="law-web").delete()
    log_in(directory, groups=["law-web", "figures"])
    (user,) = User.objects.all()
    assert groups_of(user) == {ANALYST, WHOLE_UNIVERSITY}


def test_logging_out_ends_the_session_here_and_at_the_directory(directory: Provider, law: Group) -> None:
    client, visit = Client(), Visit()
    directory.set_person(**BO, groups=["law-web"])
    client.get(path_of(visit.follow(client.get(reverse("sign-on"))["Location"])))
    page = client.post(reverse("admin:logout"))
    assert client.get(reverse("admin:index")).status_code == 302
    (address,) = re.findall(r'content="0; url=([^"]+)"', page.content.decode())
    assert visit.log_out(address.replace("&amp;", "&")).startswith("http://testserver/admin/login/")
    directory.set_person()  # whoever has a session there would not be asked
    again = client.get(path_of(visit.follow(client.get(reverse("sign-on"))["Location"])))
    assert again.status_code == 400


def test_who_cancels_at_the_directory_is_not_logged_in(directory: Provider, law: Group) -> None:
    client = Client()
    directory.set_person()
    answer = client.get(path_of(Visit().follow(client.get(reverse("sign-on"))["Location"])))
    assert answer.status_code == 400
    assert "Nobody was logged in" in answer.content.decode()


def test_a_deactivated_account_stays_out(directory: Provider, ada: User, law: Group) -> None:
    log_in(directory, groups=["law-web"])
    User.objects.filter(username=BO["email"]).update(is_active=False)
    answer = log_in(directory, groups=["law-web"])
    assert answer.status_code == 403
    assert "deactivated" in answer.content.decode()


def test_an_account_that_was_here_is_not_taken_over_by_an_address(directory: Provider, ada: User, law: Group) -> None:
    here = UserFactory(username="bo", email=BO["email"], teams=[law])
    answer = log_in(directory, groups=["law-web"])
    assert answer.status_code == 403
    assert "is not linked with the directory" in answer.content.decode()
    assert not DirectoryIdentity.objects.exists()
    assert groups_of(here) == {law.name}


def test_it_is_taken_over_by_a_verified_address_where_the_operator_allows_it(
    directory: Provider, law: Group, settings: Settings
) -> None:
    settings.SIGN_ON_LINK_BY_EMAIL = True
    here = UserFactory(username="bo", email=BO["email"], password="kept", teams=[])
    assert log_in(directory, groups=["law-web"]).status_code == 302
    here.refresh_from_db()
    assert here.directory_identity.subject == BO["sub"]
    assert not here.has_usable_password()


def test_an_administrator_links_an_account(directory: Provider, ada: User, law: Group) -> None:
    here = UserFactory(username="bo", email=BO["email"], teams=[])
    admin = Client()
    admin.force_login(ada)
    sent = {"user": here.pk, "subject": BO["sub"]}
    assert admin.post(reverse("admin:marcelcms_directoryidentity_add"), sent).status_code == 302
    assert messages(here)[-1] == "Added account of the directory “bo”."
    assert log_in(directory, groups=["law-web"]).status_code == 302
    assert groups_of(here) == {CURATOR, law.name}


def test_the_groups_of_a_directorys_account_are_not_changed_by_hand(directory: Provider, ada: User, law: Group) -> None:
    log_in(directory, groups=["law-web"])
    admin = Client()
    admin.force_login(ada)
    user = User.objects.get(username=BO["email"])
    page = admin.get(reverse("admin:auth_user_change", args=[user.pk]))
    assert "groups" not in page.context["adminform"].form.fields


def test_the_session_ends_after_the_hours_that_the_operator_says(
    directory: Provider, law: Group, settings: Settings
) -> None:
    settings.SIGN_ON_SESSION_HOURS = 2
    client = Client()
    log_in(directory, client, groups=["law-web"])
    assert client.session.get_expiry_age() <= 7200


def test_the_login_page_has_the_button_first_and_the_form_below(directory: Provider, settings: Settings) -> None:
    settings.SIGN_ON_LABEL = "your Lindental account"
    page = Client().get(reverse("admin:login")).content.decode()
    assert page.index("Log in with your Lindental account") < page.index('id="login-form"')


def test_without_a_directory_nothing_of_it_is_there(client: Client) -> None:
    assert client.get(reverse("sign-on")).status_code == 404
    assert client.get(reverse("sign-on-return")).status_code == 404
    assert "sign-on" not in client.get(reverse("admin:login")).content.decode()


def test_a_directory_that_does_not_answer_is_said_to(law: Group, settings: Settings) -> None:
    from tests.analytics.inbox.mail_server import free_port
    from tests.marcelcms.accounts.sign_on.conftest import configure

    configure(settings, f"http://127.0.0.1:{free_port()}")
    answer = Client().get(reverse("sign-on"))
    assert answer.status_code == 503
    assert "The directory does not answer" in answer.content.decode()

"""A colleague is invited by e-mail and chooses a password by a link that holds once."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from marcelcms import env
from marcelcms.accounts.roles import ADMINISTRATOR, CURATOR, WHOLE_UNIVERSITY
from tests.analytics.inbox.mail_server import MailServer, free_port, use
from tests.factories import CollectionFactory, UserFactory

pytestmark = pytest.mark.django_db
EMAIL, PASSWORD = "bo.berg@uni.example", "Lindental-7-bridges"


def invite(client: Client, **values: Any) -> Any:
    known = {"first_name": "Bo", "last_name": "Berg", "email": EMAIL, "role": CURATOR, "is_everywhere": "on"}
    return client.post(reverse("invite"), {name: value for name, value in (known | values).items() if value})


def link_in(text: str) -> str:
    """Return the path of the link."""
    (path,) = re.findall(rf"{re.escape(settings.PUBLIC_URL)}(/invitation/[^\s\"]+)", text)
    return str(path)


def choose(link: str, password: str = PASSWORD) -> Any:
    """Follow the link as somebody new does, and type the password twice."""
    visitor = Client()
    form = visitor.get(link, follow=True)
    if not form.context["validlink"]:
        return form
    typed = {"new_password1": password, "new_password2": password}
    return visitor.post(form.request["PATH_INFO"], typed, follow=True)


def test_who_is_invited_gets_a_mail_chooses_a_password_and_is_signed_in(
    administrator: Client, smtp: MailServer, law: Group
) -> None:
    law.collections.add(CollectionFactory())
    assert invite(administrator, teams=[law.pk], is_everywhere="").status_code == 302
    mail = smtp.body_to(EMAIL)
    assert "Your role and teams: Curator, Faculty of Law." in mail
    assert "Ada made you an account" in mail
    user = User.objects.get(username=EMAIL)
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (True, False, False)
    assert set(user.groups.values_list("name", flat=True)) == {CURATOR, law.name}
    page = choose(link_in(mail))
    assert page.request["PATH_INFO"] == reverse("admin:index")
    assert page.context["user"] == user
    signed_in = Client().post(reverse("admin:login"), {"username": EMAIL, "password": PASSWORD}, follow=True)
    assert signed_in.context["user"] == user


def test_a_link_can_be_used_once(administrator: Client, smtp: MailServer) -> None:
    invite(administrator)
    link = link_in(smtp.body_to(EMAIL))
    choose(link)
    page = choose(link, "Another-word-99")
    assert "This link does not hold any more" in page.content.decode()
    assert User.objects.get(username=EMAIL).check_password(PASSWORD)


@pytest.mark.parametrize("changes", [{"is_active": False}, {"is_staff": False}, {"email": "other@uni.example"}])
def test_a_link_ends_with_its_account(administrator: Client, smtp: MailServer, changes: dict[str, Any]) -> None:
    invite(administrator)
    User.objects.filter(username=EMAIL).update(**changes)
    assert not choose(link_in(smtp.body_to(EMAIL))).context["validlink"]


def test_a_link_ends_after_a_week(administrator: Client, smtp: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    invite(administrator)
    link, now = link_in(smtp.body_to(EMAIL)), timezone.now().replace(tzinfo=None)
    clock = "marcelcms.accounts.invitations.links.InvitationTokens._now"
    monkeypatch.setattr(clock, lambda _self: now + timedelta(days=6))
    assert Client().get(link, follow=True).context["validlink"]
    monkeypatch.setattr(clock, lambda _self: now + timedelta(days=8))
    assert not Client().get(link, follow=True).context["validlink"]


def test_a_weak_password_is_refused_and_the_link_holds(administrator: Client, smtp: MailServer) -> None:
    invite(administrator)
    link = link_in(smtp.body_to(EMAIL))
    assert "too common" in choose(link, "password").content.decode()
    assert choose(link).context["user"].username == EMAIL


def test_without_a_mail_server_the_link_is_shown_to_be_handed_over(
    administrator: Client, mailoutbox: list[Any]
) -> None:
    assert "you get the link, to hand it over" in administrator.get(reverse("invite")).content.decode()
    page = invite(administrator)
    assert "This installation sends no e-mail." in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert mailoutbox == []
    assert choose(link_in(page.content.decode())).context["user"].username == EMAIL


def test_if_the_mail_server_is_away_nothing_is_lost(administrator: Client, settings: Settings) -> None:
    use(settings, env.MailServer("127.0.0.1", free_port()))
    page = invite(administrator)
    assert "could not be sent" in page.content.decode()
    assert choose(link_in(page.content.decode())).context["user"].username == EMAIL


def test_an_address_that_the_mail_server_refuses_is_no_error_of_ours(administrator: Client, smtp: MailServer) -> None:
    smtp.refused[EMAIL] = "550 unknown"
    assert "could not be sent" in invite(administrator).content.decode()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"email": "bo.berg"}, "Enter a valid email address."),
        ({"email": f"{'b' * 150}@uni.example"}, "at most 150 characters"),
        ({"email": ""}, "This field is required."),
        ({"role": "Owner"}, "Select a valid choice."),
        ({"is_everywhere": ""}, "Choose a team, name a new one, or choose the whole university"),
        ({"email": "ADA@uni.example"}, "There is an account with this address already."),
    ],
)
def test_what_is_missing_or_wrong_is_said_and_nobody_is_made(
    administrator: Client, admin_user: User, values: dict[str, str], said: str
) -> None:
    User.objects.filter(pk=admin_user.pk).update(email="ada@uni.example")
    page = invite(administrator, **values)
    assert said in page.content.decode()
    assert list(User.objects.all()) == [admin_user]


def test_an_administrator_needs_no_team(administrator: Client, smtp: MailServer) -> None:
    invite(administrator, role=ADMINISTRATOR, is_everywhere="")
    assert list(User.objects.get(username=EMAIL).groups.values_list("name", flat=True)) == [ADMINISTRATOR]


def test_a_group_that_stands_for_a_role_is_no_team(administrator: Client) -> None:
    everywhere = Group.objects.get(name=WHOLE_UNIVERSITY)
    assert (
        "is not one of the available choices"
        in invite(administrator, teams=[everywhere.pk], is_everywhere="").content.decode()
    )


def test_a_lost_password_is_chosen_anew_by_a_link_from_the_account(administrator: Client, smtp: MailServer) -> None:
    invite(administrator)
    choose(link_in(smtp.body_to(EMAIL)))
    smtp.mails.clear()
    user = User.objects.get(username=EMAIL)
    assert (
        "Send a link to choose a password"
        in administrator.get(reverse("admin:auth_user_change", args=[user.pk])).content.decode()
    )
    administrator.post(reverse("invite-again", args=[user.pk]))
    choose(link_in(smtp.body_to(EMAIL)), "Another-word-99")
    user.refresh_from_db()
    assert user.check_password("Another-word-99")


def test_nobody_gets_into_an_account_that_may_do_more(administrator: Client, smtp: MailServer) -> None:
    root = UserFactory(username="root", email="root@uni.example", is_superuser=True)
    assert administrator.post(reverse("invite-again", args=[root.pk])).status_code == 403
    assert smtp.mails == []


def test_an_account_without_an_address_gets_no_link(administrator: Client, smtp: MailServer) -> None:
    user = UserFactory(email="")
    page = administrator.post(reverse("invite-again", args=[user.pk]), follow=True)
    assert "A link needs an active account" in page.content.decode()


def test_who_was_invited_by_whom_stands_in_the_audit_log(
    administrator: Client, admin_user: User, smtp: MailServer
) -> None:
    invite(administrator)
    choose(link_in(smtp.body_to(EMAIL)))
    user = User.objects.get(username=EMAIL)
    entries = LogEntry.objects.filter(object_id=str(user.pk)).order_by("pk")
    assert [(each.user, each.get_change_message()) for each in entries] == [
        (admin_user, "Added."),
        (admin_user, "Changed link to choose a password."),
        (user, "Changed password."),
    ]


def test_a_link_of_nobody_says_what_to_do(db: None) -> None:
    page = Client().get(reverse("invitation", kwargs={"uidb64": "x", "token": "y-z"}))
    assert "ask the colleague who invited you for a new link" in page.content.decode()

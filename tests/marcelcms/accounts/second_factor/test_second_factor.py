"""Names and passwords with a second factor: set up, log in, lose the phone, and what does not get round it."""

import re
import time
from typing import Any

import pyotp
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from core.db.encryption import decrypt, encrypt
from marcelcms.accounts.invitations.links import invitation_link
from marcelcms.accounts.roles import CURATOR
from marcelcms.accounts.second_factor import services
from marcelcms.accounts.second_factor.entry import PENDING
from marcelcms.accounts.second_factor.secrets import matching_step, new_recovery_codes
from marcelcms.models import RecoveryCode, RoleWithSecondFactor, SecondFactor
from tests.factories import UserFactory
from tests.fakes.oidc import path_of

pytestmark = pytest.mark.django_db
PASSWORD = "a long and secret sentence"


@pytest.fixture
def bo() -> User:
    curators, _made = Group.objects.get_or_create(name=CURATOR)
    user: User = UserFactory(username="bo", teams=[curators])
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def codes(bo: User) -> list[str]:
    """Have the second factor set up; return the recovery codes."""
    services.begin(user=bo)
    made = services.confirm(user=bo, code=code_of(bo))
    forget_last(bo)
    return made


def code_of(user: User, *, later: int = 0) -> str:
    return pyotp.TOTP(decrypt(SecondFactor.objects.get(user=user).secret)).at(int(time.time()) + later)


def forget_last(user: User) -> None:
    """Have the codes of this half minute be new ones."""
    SecondFactor.objects.filter(user=user).update(last_step=0)


def type_password(client: Client, **more: str) -> Any:
    return client.post(reverse("admin:login"), {"username": "bo", "password": PASSWORD, **more})


def type_code(client: Client, code: str) -> Any:
    return client.post(reverse("second-factor"), {"code": code})


def is_in(client: Client) -> bool:
    return client.get(reverse("admin:index")).status_code == 200


def deeds(user: User) -> list[str]:
    return [entry.get_change_message() for entry in LogEntry.objects.filter(object_id=user.pk).order_by("pk")]


# --- set up ---


def test_who_has_none_logs_in_with_the_password_alone(bo: User) -> None:
    client = Client()
    assert type_password(client)["Location"] == reverse("admin:index")
    assert is_in(client)


def test_it_is_set_up_with_a_picture_or_the_key_and_a_code(bo: User) -> None:
    client = Client()
    client.force_login(bo)
    page = client.get(reverse("second-factor-setup")).content.decode()
    key = re.search(r"<code>([A-Z2-7 ]+)</code>", page)
    assert key is not None
    assert 'src="data:image/svg+xml' in page
    done = client.post(reverse("second-factor-setup"), {"code": pyotp.TOTP(key[1].replace(" ", "")).now()})
    shown = re.findall(r"<code>([a-z2-7-]{19})</code>", done.content.decode())
    assert len(set(shown)) == 10
    assert services.has_factor(bo)
    assert deeds(bo) == ["Changed second factor set up."]


def test_the_same_key_is_shown_until_it_is_confirmed(bo: User) -> None:
    assert services.begin(user=bo) == services.begin(user=bo)
    assert not services.has_factor(bo)


def test_a_wrong_code_sets_nothing_up(bo: User) -> None:
    client = Client()
    client.force_login(bo)
    client.get(reverse("second-factor-setup"))
    wrong = f"{(int(code_of(bo)) + 1) % 1_000_000:06}"
    page = client.post(reverse("second-factor-setup"), {"code": wrong})
    assert "This code is not right" in page.content.decode()
    assert not services.has_factor(bo)


def test_a_role_that_needs_it_has_it_set_up_before_anything_else(bo: User) -> None:
    RoleWithSecondFactor.objects.create(role=CURATOR)
    client = Client()
    answer = type_password(client, next=reverse("admin:faqs_faq_changelist"))
    assert answer["Location"] == reverse("second-factor-setup")
    assert not is_in(client)
    assert "Your role needs a second factor" in client.get(answer["Location"]).content.decode()
    done = client.post(answer["Location"], {"code": code_of(bo)})
    assert f'href="{reverse("admin:faqs_faq_changelist")}"' in done.content.decode()
    assert is_in(client)


def test_superusers_can_be_asked_for_it_too(bo: User) -> None:
    bo.is_superuser = True
    bo.save()
    assert not services.needs_factor(bo)
    RoleWithSecondFactor.objects.create(role=services.SUPERUSER)
    assert services.needs_factor(bo)


def test_an_administrator_chooses_the_roles(bo: User) -> None:
    root = Client()
    root.force_login(UserFactory(is_superuser=True))
    root.post(reverse("admin:marcelcms_rolewithsecondfactor_add"), {"role": CURATOR})
    assert services.needs_factor(bo)
    assert "Curator" in root.get(reverse("admin:marcelcms_rolewithsecondfactor_changelist")).content.decode()


# --- log in ---


def test_the_password_alone_opens_nothing(bo: User, codes: list[str]) -> None:
    client = Client()
    assert type_password(client)["Location"] == reverse("second-factor")
    assert not is_in(client)
    assert client.get(reverse("my-login")).status_code == 302


def test_password_and_code_log_in(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client, next=reverse("admin:faqs_faq_changelist"))
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:faqs_faq_changelist")
    assert is_in(client)


def test_a_recovery_code_logs_in_once(bo: User, codes: list[str]) -> None:
    for outcome in (302, 200):
        client = Client()
        type_password(client)
        assert type_code(client, f" {codes[0].upper()} ").status_code == outcome
    assert deeds(bo)[-1] == "Changed a recovery code used."


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example"])
def test_a_next_page_elsewhere_is_not_gone_to(bo: User, codes: list[str], wanted: str) -> None:
    client = Client()
    type_password(client, next=wanted)
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:index")


# --- attacks ---


def test_a_code_is_used_once(bo: User, codes: list[str]) -> None:
    code = code_of(bo)
    first, second = Client(), Client()
    type_password(first)
    type_password(second)
    assert type_code(first, code).status_code == 302
    assert type_code(second, code).status_code == 200
    assert not is_in(second)


def test_a_code_that_is_older_than_one_that_was_used_is_refused(bo: User, codes: list[str]) -> None:
    services.check(user=bo, code=code_of(bo))
    with pytest.raises(services.WrongCode):
        services.check(user=bo, code=code_of(bo, later=-30))


@pytest.mark.parametrize("later", [-3600, -90, 90, 3600])
def test_a_code_of_another_time_is_refused(bo: User, codes: list[str], later: int) -> None:
    with pytest.raises(services.WrongCode):
        services.check(user=bo, code=code_of(bo, later=later))


def test_guesses_have_to_wait_and_then_the_right_code_too(bo: User, codes: list[str], settings: Settings) -> None:
    for _guess in range(settings.AXES_FAILURE_LIMIT):
        client = Client()
        type_password(client)
        last = type_code(client, "nonsense")
    assert "Please wait 15 minutes" in last.content.decode()
    client = Client()
    type_password(client)
    assert type_code(client, code_of(bo)).status_code == 200
    assert type_code(client, codes[0]).status_code == 200
    assert not is_in(client)


@pytest.mark.parametrize("code", ["", " ", "000000\x00", "٠١٢٣٤٥", "null", "-1", "9" * 5000])
def test_what_is_no_code(bo: User, codes: list[str], code: str) -> None:
    client = Client()
    type_password(client)
    assert type_code(client, code).status_code == 200
    assert not is_in(client)


def test_the_code_page_without_a_password_leads_to_the_login(bo: User, codes: list[str]) -> None:
    client = Client()
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:login")
    assert client.get(reverse("second-factor-setup"))["Location"] == reverse("admin:login")


def test_the_code_of_another_account_is_refused(bo: User, codes: list[str]) -> None:
    other = UserFactory(username="eve")
    services.begin(user=other)
    services.confirm(user=other, code=code_of(other))
    forget_last(other)
    client = Client()
    type_password(client)
    assert type_code(client, code_of(other)).status_code == 200


def test_the_code_is_owed_for_ten_minutes_only(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client)
    session = client.session
    session[PENDING] = session[PENDING] | {"at": int(time.time()) - 601}
    session.save()
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:login")


def test_a_changed_password_ends_the_way_in(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client)
    bo.set_password("another one")
    bo.save()
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:login")


def test_a_deactivated_account_does_not_get_in_by_a_code(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client)
    User.objects.update(is_active=False)
    assert type_code(client, code_of(bo))["Location"] == reverse("admin:login")


def test_a_link_to_choose_a_password_does_not_pass_by_the_code(bo: User, codes: list[str]) -> None:
    client = Client()
    form = client.get(path_of(invitation_link(bo)), follow=True)
    typed = {"new_password1": "Lindental-7-bridges", "new_password2": "Lindental-7-bridges"}
    answer = client.post(form.request["PATH_INFO"], typed)
    assert answer["Location"] == reverse("second-factor")
    assert not is_in(client)


def test_who_owes_a_code_does_not_set_up_another_app(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client)
    assert client.get(reverse("second-factor-setup")).status_code == 302
    assert SecondFactor.objects.count() == 1
    with pytest.raises(ValueError, match="already"):
        services.begin(user=bo)


def test_the_login_gets_a_new_session(bo: User, codes: list[str]) -> None:
    client = Client()
    type_password(client)
    before = client.session.session_key
    type_code(client, code_of(bo))
    assert client.session.session_key != before


# --- at rest ---


def test_neither_key_nor_recovery_codes_can_be_read_from_the_database(bo: User, codes: list[str]) -> None:
    factor = SecondFactor.objects.get()
    assert decrypt(factor.secret) not in factor.secret
    kept = list(RecoveryCode.objects.values_list("digest", flat=True))
    assert not {code.replace("-", "") for code in codes} & set(kept)


def test_with_another_secret_key_it_is_said_whom_to_ask(bo: User, codes: list[str]) -> None:
    SecondFactor.objects.update(secret="gAAAAA" + encrypt("x")[6:-4] + "AAAA")
    client = Client()
    type_password(client)
    assert "Ask an administrator" in type_code(client, "123456").content.decode()


def test_recovery_codes_are_all_different() -> None:
    made = [code for _time in range(20) for code in new_recovery_codes()]
    assert len(set(made)) == len(made)


def test_codes_are_those_of_the_rfc() -> None:
    """RFC 6238, appendix B, the last six digits of SHA-1's."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for now, code in ((59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")):
        assert matching_step(secret, code, now=now, after=0) == now // 30


# --- change and reset ---


def test_switching_it_off_needs_a_code(bo: User, codes: list[str]) -> None:
    client = Client()
    client.force_login(bo)
    client.post(reverse("my-login"), {"step": "off", "code": "000000"})
    assert services.has_factor(bo)
    client.post(reverse("my-login"), {"step": "off", "code": code_of(bo)})
    assert not services.has_factor(bo)
    assert not RecoveryCode.objects.exists()
    assert deeds(bo)[-1] == "Changed second factor taken away."


def test_who_needs_it_does_not_switch_it_off(bo: User, codes: list[str]) -> None:
    RoleWithSecondFactor.objects.create(role=CURATOR)
    client = Client()
    client.force_login(bo)
    assert "Switch off" not in client.get(reverse("my-login")).content.decode()
    client.post(reverse("my-login"), {"step": "off", "code": code_of(bo)})
    assert services.has_factor(bo)


def test_new_recovery_codes_end_the_old_ones(bo: User, codes: list[str]) -> None:
    client = Client()
    client.force_login(bo)
    page = client.post(reverse("my-login"), {"step": "renew", "code": code_of(bo)}).content.decode()
    assert len(re.findall(r"<code>[a-z2-7-]{19}</code>", page)) == 10
    with pytest.raises(services.WrongCode):
        services.check(user=bo, code=codes[0])


def test_an_administrator_takes_it_away(administrator: Client, admin_user: User, bo: User, codes: list[str]) -> None:
    page = administrator.get(reverse("admin:auth_user_change", args=[bo.pk])).content.decode()
    assert "Take the second factor away" in page
    administrator.post(reverse("second-factor-reset", args=[bo.pk]))
    assert not services.has_factor(bo)
    entry = LogEntry.objects.filter(object_id=bo.pk).order_by("pk").last()
    assert entry is not None
    assert (entry.user, entry.get_change_message()) == (admin_user, "Changed second factor taken away.")


def test_nobody_takes_away_their_own_or_that_of_somebody_above(administrator: Client, admin_user: User) -> None:
    root = UserFactory(is_superuser=True)
    for user in (root, admin_user):
        services.begin(user=user)
        services.confirm(user=user, code=code_of(user))
        assert administrator.post(reverse("second-factor-reset", args=[user.pk])).status_code == 403
        assert services.has_factor(user)


def test_a_curator_takes_away_nobodys(bo: User, codes: list[str]) -> None:
    eve = Client()
    eve.force_login(UserFactory(username="eve", teams=[Group.objects.get(name=CURATOR)]))
    assert eve.post(reverse("second-factor-reset", args=[bo.pk])).status_code == 403
    assert services.has_factor(bo)

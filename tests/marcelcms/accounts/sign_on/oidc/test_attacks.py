"""What somebody may try on the way to the directory and back; none of it logs anybody in."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from joserfc.jwk import OctKey, RSAKey
from pytest_django import Settings

from marcelcms.models import DirectoryIdentity
from tests.factories import UserFactory
from tests.fakes.forger import ACCESS_TOKEN, Forger, key_pair, running_forger
from tests.fakes.oidc import CLIENT_SECRET, Provider, Visit, path_of
from tests.marcelcms.accounts.sign_on.conftest import BO, configure, groups_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def forger(settings: Settings, law: Group) -> Iterator[Forger]:
    with running_forger() as forger:
        configure(settings, forger.issuer)
        yield forger


class Attempt:
    """A browser that has been sent to the provider: what it took along, and how it comes back."""

    def __init__(self, forger: Forger, **start: str) -> None:
        self.forger, self.client = forger, Client()
        place = self.client.get(reverse("sign-on"), start)["Location"]
        self.sent = {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}

    def token(self, *, key: Any = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        return self.forger.sign(self.forger.claims(self.sent["nonce"], **claims), key=key, **header or {})

    def come_back(self, id_token: str | None, *, access_token: str = ACCESS_TOKEN, **query: Any) -> Any:
        tokens = {"access_token": access_token, "token_type": "Bearer", "id_token": id_token}
        self.forger.tokens = {name: value for name, value in tokens.items() if value is not None}
        return self.client.get(reverse("sign-on-return"), {"code": "a-code", "state": self.sent["state"]} | query)

    def is_in(self) -> bool:
        return self.client.get(reverse("admin:index")).status_code == 200


@pytest.fixture
def attempt(forger: Forger) -> Attempt:
    return Attempt(forger)


def assert_refused(attempt: Attempt, answer: Any, status: int = 400) -> None:
    assert answer.status_code == status, answer.content.decode()
    assert not attempt.is_in()
    assert not DirectoryIdentity.objects.exists()


def unsigned(attempt: Attempt, alg: str) -> str:
    parts = {"alg": alg, "kid": "first"}, attempt.forger.claims(attempt.sent["nonce"])
    return ".".join([*(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts), ""])


def test_an_honest_token_logs_in(attempt: Attempt) -> None:
    """Else the refusals below would prove nothing."""
    assert attempt.come_back(attempt.token()).status_code == 302
    assert attempt.is_in()


# --- signatures ---


@pytest.mark.parametrize("alg", ["none", "None", "nOnE", ""])
def test_a_token_without_a_signature(attempt: Attempt, alg: str) -> None:
    assert_refused(attempt, attempt.come_back(unsigned(attempt, alg)))


def test_a_token_without_a_signature_where_the_provider_says_that_it_sends_such(forger: Forger) -> None:
    forger.metadata["id_token_signing_alg_values_supported"] = ["none", "HS256"]
    attempt = Attempt(forger)
    assert_refused(attempt, attempt.come_back(unsigned(attempt, "none")))


def test_a_token_signed_with_the_public_key_as_if_it_were_a_secret(attempt: Attempt) -> None:
    # joserfc refuses to make one of a PEM, so the attacker's library is stood in for.
    import hashlib
    import hmac

    head, payload, _ = unsigned(attempt, "HS256").split(".")
    secret = attempt.forger.key.as_pem(private=False)
    made = hmac.new(secret, f"{head}.{payload}".encode(), hashlib.sha256).digest()
    signature = urlsafe_b64encode(made).rstrip(b"=").decode()
    assert_refused(attempt, attempt.come_back(f"{head}.{payload}.{signature}"))


def test_a_token_signed_with_the_clients_secret(attempt: Attempt) -> None:
    key = OctKey.import_key(CLIENT_SECRET * 2)
    assert_refused(attempt, attempt.come_back(attempt.token(key=key, header={"alg": "HS256"})))


def test_a_token_signed_by_a_stranger_under_the_name_of_the_providers_key(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(key=key_pair("strangers"))))


def test_a_token_that_brings_its_own_key(attempt: Attempt) -> None:
    key = key_pair("strangers")
    header = {"jwk": key.as_dict(private=False), "kid": "own"}
    assert_refused(attempt, attempt.come_back(attempt.token(key=key, header=header)))


def test_a_token_that_says_where_its_key_is(attempt: Attempt) -> None:
    key = key_pair("strangers")
    with running_forger() as elsewhere:
        elsewhere.published = [key]
        header = {"jku": f"{elsewhere.issuer}/keys", "kid": "theirs"}
        assert_refused(attempt, attempt.come_back(attempt.token(key=key, header=header)))
        assert elsewhere.asked == []


def test_a_token_that_was_changed_after_it_was_signed(attempt: Attempt) -> None:
    head, _payload, signature = attempt.token().split(".")
    claims = attempt.forger.claims(attempt.sent["nonce"], groups=["law-web", "figures"])
    payload = urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert_refused(attempt, attempt.come_back(f"{head}.{payload}.{signature}"))


def test_a_key_for_encryption_signs_nothing(attempt: Attempt) -> None:
    numbers = key_pair("other").as_dict(private=True)
    attempt.forger.published.append(RSAKey.import_key(numbers | {"use": "enc"}))
    assert_refused(attempt, attempt.come_back(attempt.token(key=key_pair("other"), header={"kid": "other"})))


@pytest.mark.parametrize("token", ["", "x", "a.b", "a.b.c.d.e", "e30.e30.e30", "\x00", "ü.ü.ü", "." * 200_000])
def test_what_is_no_token(attempt: Attempt, token: str) -> None:
    assert_refused(attempt, attempt.come_back(token))


def test_no_id_token_at_all(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(None))


# --- for whom and when ---


def changed(attempt: Attempt, **claims: Any) -> Any:
    return attempt.come_back(attempt.token(**claims))


@pytest.mark.parametrize("issuer", ["https://evil.example", None, "", ["x"], 7])
def test_a_token_of_another_issuer(attempt: Attempt, issuer: Any) -> None:
    assert_refused(attempt, changed(attempt, iss=issuer))


def test_the_issuer_with_a_slash_more(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, iss=f"{attempt.forger.issuer}/"))


@pytest.mark.parametrize("audience", ["another-client", None, "", [], ["another-client"], {"marcel": 1}, "marcel2"])
def test_a_token_for_another_client(attempt: Attempt, audience: Any) -> None:
    assert_refused(attempt, changed(attempt, aud=audience, azp="marcel"))


def test_a_token_for_others_too(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, aud=["marcel", "another-client"], azp="marcel"))


def test_a_token_that_another_client_asked_for(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, azp="another-client"))


@pytest.mark.parametrize("expiry", [1, -1, None, "never"])
def test_a_token_with_no_sensible_end(attempt: Attempt, expiry: Any) -> None:
    assert_refused(attempt, changed(attempt, exp=expiry))


def test_a_token_that_has_expired(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, exp=int(time.time()) - 120))


def test_a_token_from_the_future(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, iat=int(time.time()) + 3600))


def test_a_token_that_does_not_hold_yet(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, nbf=int(time.time()) + 3600))


def test_a_token_that_somebody_kept(attempt: Attempt) -> None:
    assert_refused(attempt, changed(attempt, iat=int(time.time()) - 3600, exp=int(time.time()) + 3600))


def test_a_token_of_another_login(forger: Forger) -> None:
    """A stolen token is replayed in the thief's own login."""
    stolen = Attempt(forger).token()
    thief = Attempt(forger)
    assert_refused(thief, thief.come_back(stolen))


@pytest.mark.parametrize("nonce", [None, "", 0, [], "wrong"])
def test_a_token_without_the_logins_nonce(attempt: Attempt, nonce: Any) -> None:
    assert_refused(attempt, changed(attempt, nonce=nonce))


def test_an_access_token_of_another_answer(attempt: Attempt) -> None:
    answer = attempt.come_back(attempt.token(), access_token="somebody-elses")
    assert_refused(attempt, answer)


@pytest.mark.parametrize("subject", [None, "", 4711, ["4711"], "4" * 300, "47\x0011"])
def test_a_token_that_names_nobody(attempt: Attempt, subject: Any) -> None:
    assert_refused(attempt, changed(attempt, sub=subject))


# --- the way back ---


def test_a_state_that_was_never_given_out(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(), state="guessed"))


def test_no_state(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(), state=""))


def test_the_state_of_another_browser(forger: Forger) -> None:
    """Somebody has a colleague open the link that ends the attacker's own login."""
    attacker, victim = Attempt(forger), Attempt(forger)
    answer = victim.come_back(attacker.token(), state=attacker.sent["state"])
    assert_refused(victim, answer)


def test_the_way_back_taken_twice(attempt: Attempt) -> None:
    token = attempt.token()
    assert attempt.come_back(token).status_code == 302
    attempt.client.post(reverse("admin:logout"))
    assert attempt.come_back(token).status_code == 400
    assert not attempt.is_in()


def test_a_refused_way_back_taken_again(attempt: Attempt) -> None:
    attempt.come_back(unsigned(attempt, "none"))
    assert_refused(attempt, attempt.come_back(attempt.token()))


def test_a_way_back_taken_too_late(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("marcelcms.accounts.sign_on.entry.time.time", lambda: now + 601)
    assert_refused(attempt, attempt.come_back(attempt.token()))


@pytest.mark.parametrize("issuer", ["https://evil.example", ""])
def test_the_answer_of_another_provider(attempt: Attempt, issuer: str) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(), iss=issuer))
    assert "/token" not in [path for path, _sent in attempt.forger.asked]


def test_an_answer_that_does_not_say_whose_it_is_where_the_provider_always_does(forger: Forger) -> None:
    forger.metadata["authorization_response_iss_parameter_supported"] = True
    attempt = Attempt(forger)
    assert_refused(attempt, attempt.come_back(attempt.token()))


@pytest.mark.parametrize("name", ["state", "code", "iss"])
def test_a_parameter_twice(attempt: Attempt, name: str) -> None:
    values = {"state": attempt.sent["state"], "code": "a-code", "iss": attempt.forger.issuer}
    assert_refused(attempt, attempt.come_back(attempt.token(), **{name: ["evil", values[name]]}))


def test_an_error_with_a_code(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(), error="access_denied"))


def test_a_form_sent_instead_of_coming_back(attempt: Attempt) -> None:
    assert attempt.client.post(reverse("sign-on-return"), {"code": "x"}).status_code == 405


def test_a_code_of_another_browser(directory: Provider, law: Group) -> None:
    """A stolen code, put into the thief's own way back: the provider asks for the verifier of whose it is."""
    directory.set_person(**BO, groups=["law-web"])
    victim, thief = Client(), Client()
    stolen = parse_qs(urlsplit(Visit().follow(victim.get(reverse("sign-on"))["Location"])).query)["code"][0]
    own = thief.get(reverse("sign-on"))["Location"]
    state = parse_qs(urlsplit(own).query)["state"][0]
    sent = {"code": stolen, "state": state, "iss": directory.issuer}
    assert thief.get(reverse("sign-on-return"), sent).status_code == 400
    assert not User.objects.exists()


def test_a_code_that_was_used(directory: Provider, law: Group) -> None:
    directory.set_person(**BO, groups=["law-web"])
    client = Client()
    back = Visit().follow(client.get(reverse("sign-on"))["Location"])
    session = {**client.session.get("sign_on_pending", {})}
    assert client.get(path_of(back)).status_code == 302
    again = Client()
    again.get(reverse("sign-on"))
    kept = again.session
    kept["sign_on_pending"] = session
    kept.save()
    assert again.get(path_of(back)).status_code == 400


def test_the_login_gets_a_new_session(attempt: Attempt) -> None:
    """Whoever planted the old one does not share the new one."""
    before = attempt.client.session.session_key
    attempt.come_back(attempt.token())
    assert attempt.client.session.session_key != before
    assert not attempt.client.session.exists(before)


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "http://testserver@evil.example/",
        "http://testserver.evil.example/",
        "/\t/evil.example",
        " //evil.example",
    ],
)
def test_a_next_page_elsewhere(forger: Forger, wanted: str) -> None:
    attempt = Attempt(forger, next=wanted)
    assert attempt.come_back(attempt.token())["Location"] == reverse("admin:index")


def test_the_address_to_come_back_to_is_the_operators_whatever_host_is_asked(forger: Forger) -> None:
    place = Client(headers={"host": "localhost"}).get(reverse("sign-on"))["Location"]
    assert parse_qs(urlsplit(place).query)["redirect_uri"] == ["http://testserver/sign-on/return/"]


# --- the provider's own documents ---


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": "http://10.0.0.5/keys"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"end_session_endpoint": "http://evil.example/"},
        {"jwks_uri": None},
        {"token_endpoint": ["x"]},
    ],
)
def test_a_discovery_document_that_leads_elsewhere(forger: Forger, changed: dict[str, Any]) -> None:
    forger.metadata |= changed
    assert Client().get(reverse("sign-on")).status_code == 503


def test_a_discovery_document_behind_a_redirect(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forger, "answer", lambda _path: (302, {"Location": "http://127.0.0.1:9/"}))
    assert Client().get(reverse("sign-on")).status_code == 503


def test_a_key_that_the_provider_took_back(attempt: Attempt) -> None:
    attempt.come_back(attempt.token())
    cache.clear()  # an hour later
    attempt.forger.published = [key_pair("second")]
    later = Attempt(attempt.forger)
    assert later.come_back(later.token()).status_code == 400
    assert not later.is_in()


def test_a_new_key_of_the_provider_is_found_at_once(attempt: Attempt) -> None:
    attempt.come_back(attempt.token())
    new = key_pair("second")
    attempt.forger.published.append(new)
    later = Attempt(attempt.forger)
    assert later.come_back(later.token(key=new, header={"kid": "second"})).status_code == 302


def test_tokens_with_unknown_keys_do_not_have_the_keys_fetched_each_time(forger: Forger) -> None:
    for _attempt in range(4):
        attempt = Attempt(forger)
        attempt.come_back(attempt.token(header={"kid": "unknown"}))
    assert [path for path, _sent in forger.asked].count("/keys") == 2


# --- groups and accounts ---


def test_a_group_in_the_address_of_the_way_back(attempt: Attempt) -> None:
    assert_refused(attempt, attempt.come_back(attempt.token(groups=[]), groups="law-web"), 403)


@pytest.mark.parametrize(
    "groups",
    [
        ["LAW-WEB"],
        [" law-web"],
        ["law-web\x00"],
        "figures,law-web",
        "choir law-web",
        [["law-web"]],
        {"law-web": True},
        [{"name": "law-web"}],
        ["/law-web"],
        ["law-web%"],
        7,
        None,
    ],
)
def test_a_group_that_only_looks_like_one_with_a_role(attempt: Attempt, groups: Any) -> None:
    assert_refused(attempt, changed(attempt, groups=groups), 403)


def test_groups_told_of_another_person(forger: Forger) -> None:
    forger.metadata["userinfo_endpoint"] = f"{forger.issuer}/me"
    forger.user_info = {"sub": "somebody-else", "groups": ["law-web"]}
    attempt = Attempt(forger)
    assert_refused(attempt, changed(attempt, groups=None))


def test_details_do_not_overwrite_what_was_signed(forger: Forger, settings: Settings) -> None:
    forger.metadata["userinfo_endpoint"] = f"{forger.issuer}/me"
    forger.user_info = {"sub": "4711", "iss": "https://evil.example", "email": "ada@x.example", "groups": ["law-web"]}
    attempt = Attempt(forger)
    assert changed(attempt, groups=None).status_code == 302
    assert DirectoryIdentity.objects.get().issuer == forger.issuer
    assert User.objects.get().email == "bo.berg@uni.example"


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_nobody_verified_takes_nothing_over(
    attempt: Attempt, settings: Settings, verified: Any
) -> None:
    settings.SIGN_ON_LINK_BY_EMAIL = True
    here = UserFactory(username="bo", email=BO["email"], teams=[])
    assert_refused(attempt, changed(attempt, email_verified=verified), 403)
    assert groups_of(here) == set()


def test_a_verified_address_takes_no_superuser_over(attempt: Attempt, settings: Settings) -> None:
    settings.SIGN_ON_LINK_BY_EMAIL = True
    UserFactory(username="root", email=BO["email"], is_superuser=True)
    assert_refused(attempt, changed(attempt), 403)


def test_a_verified_address_takes_no_break_glass_account_over(attempt: Attempt, settings: Settings) -> None:
    settings.SIGN_ON_LINK_BY_EMAIL, settings.BREAK_GLASS_USER = True, "glass"
    UserFactory(username="glass", email=BO["email"])
    assert_refused(attempt, changed(attempt), 403)


def test_a_name_in_the_directory_takes_no_account_over(attempt: Attempt) -> None:
    UserFactory(username="root", is_superuser=True)
    assert_refused(attempt, changed(attempt, email=None, email_verified=None, preferred_username="ROOT"), 403)


def test_the_same_identifier_in_another_directory_is_another_person(forger: Forger, settings: Settings) -> None:
    here = UserFactory(username="bo", email="other@uni.example", teams=[])
    DirectoryIdentity.objects.create(user=here, issuer="https://old.example", subject="4711")
    attempt = Attempt(forger)
    assert changed(attempt).status_code == 302
    assert groups_of(here) == set()


def test_the_password_of_the_directory_never_passes_here(directory: Provider, law: Group) -> None:
    """The form of names and passwords takes no account of the directory, not even with a right password."""
    here = UserFactory(username="bo", email=BO["email"], teams=[])
    here.set_password("a long and secret sentence")
    here.save()
    DirectoryIdentity.objects.create(user=here, issuer=directory.issuer, subject="4711")
    typed = {"username": "bo", "password": "a long and secret sentence"}
    page = Client().post(reverse("admin:login"), typed)
    assert page.status_code == 200
    assert "Please enter the correct username and password" in page.content.decode()


def test_no_link_to_choose_a_password_goes_round_the_directory(directory: Provider, ada: User, law: Group) -> None:
    from marcelcms.accounts.invitations.links import invitation_link

    here = UserFactory(username="bo", email=BO["email"], teams=[])
    DirectoryIdentity.objects.create(user=here, issuer=directory.issuer, subject="4711")
    page = Client().get(path_of(invitation_link(here)), follow=True)
    assert not page.context["validlink"]
    admin = Client()
    admin.force_login(ada)
    answer = admin.post(reverse("invite-again", args=[here.pk]), follow=True)
    assert "needs no password here" in answer.content.decode()


def test_an_administrator_does_not_link_a_superuser_to_themselves(directory: Provider, ada: User, law: Group) -> None:
    root = UserFactory(username="root", is_superuser=True)
    admin = Client()
    admin.force_login(ada)
    admin.post(reverse("admin:marcelcms_directoryidentity_add"), {"user": root.pk, "subject": "4711"})
    assert not DirectoryIdentity.objects.exists()


def test_with_the_local_login_off_only_the_break_glass_account_logs_in(directory: Provider, settings: Settings) -> None:
    settings.LOCAL_LOGIN, settings.BREAK_GLASS_USER = False, "glass"
    for name in ("glass", "bo"):
        user = UserFactory(username=name)
        user.set_password("a long and secret sentence")
        user.save()
    asked = reverse("admin:login")
    answers = {
        name: Client().post(asked, {"username": name, "password": "a long and secret sentence"}).status_code
        for name in ("glass", "bo")
    }
    assert answers == {"glass": 302, "bo": 200}

import pytest
from django.conf import settings
from django.contrib.auth.hashers import get_hasher, make_password
from django.test import Client
from django.urls import reverse

from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "a long and secret sentence", "a guess"


@pytest.fixture
def lindi():
    return UserFactory(username="lindi", password=make_password(RIGHT), is_superuser=True)


def log_in(name, password, *, address="10.1.2.3"):
    return Client(REMOTE_ADDR=address).post(reverse("admin:login"), {"username": name, "password": password})


def guess_wrong(name, times, **where):
    return [log_in(name, WRONG, **where) for _ in range(times)]


def test_the_right_password_lets_in(lindi):
    assert log_in("lindi", RIGHT).status_code == 302


def test_too_many_wrong_passwords_have_to_wait(lindi):
    last = guess_wrong("lindi", settings.AXES_FAILURE_LIMIT)[-1]
    assert last.status_code == 429
    assert "Please wait 15 minutes" in last.content.decode()
    assert last["Retry-After"] == "900"


def test_sixty_wrong_passwords_are_not_sixty_tries(lindi):
    statuses = [answer.status_code for answer in guess_wrong("lindi", 20)]
    assert statuses.count(200) == settings.AXES_FAILURE_LIMIT - 1
    assert log_in("lindi", RIGHT).status_code == 429


def test_who_is_locked_out_is_locked_out_alone(lindi):
    other = UserFactory(username="alex", password=make_password(RIGHT))
    guess_wrong("lindi", settings.AXES_FAILURE_LIMIT)
    assert log_in(other.username, RIGHT).status_code == 302
    assert log_in("lindi", RIGHT, address="10.9.9.9").status_code == 302


def test_after_the_wait_the_right_password_lets_in_again(lindi, settings):
    guess_wrong("lindi", settings.AXES_FAILURE_LIMIT)
    settings.AXES_COOLOFF_TIME = settings.AXES_COOLOFF_TIME * 0
    assert log_in("lindi", RIGHT).status_code == 302


def test_a_right_password_forgets_the_wrong_ones_before_it(lindi):
    few = settings.AXES_FAILURE_LIMIT - 1
    guess_wrong("lindi", few)
    log_in("lindi", RIGHT)
    assert {answer.status_code for answer in guess_wrong("lindi", few)} == {200}


def test_a_name_that_nobody_has_is_answered_like_one_that_somebody_has(lindi):
    known = guess_wrong("lindi", settings.AXES_FAILURE_LIMIT)
    unknown = guess_wrong("nobody", settings.AXES_FAILURE_LIMIT)
    assert [answer.status_code for answer in known] == [answer.status_code for answer in unknown]
    words = [answers[-1].content.decode() for answers in (known, unknown)]
    assert all("Too many attempts with this name." in page for page in words)


def test_a_name_that_nobody_has_costs_as_much_to_check(monkeypatch):
    """Else the time of an answer would tell who works here."""
    hashed = []
    kind = type(get_hasher())
    monkeypatch.setattr(kind, "encode", lambda self, password, salt: hashed.append(password) or "none$none")
    log_in("nobody", WRONG)
    assert hashed == [WRONG]


def test_passwords_are_kept_as_argon2_makes_them():
    from marcelcms import settings as written

    assert written.PASSWORD_HASHERS == ["django.contrib.auth.hashers.Argon2PasswordHasher"]


def test_after_logging_out_the_old_session_opens_nothing(lindi):
    client = Client()
    client.post(reverse("admin:login"), {"username": "lindi", "password": RIGHT})
    stolen = Client()
    stolen.cookies = client.cookies.copy()
    assert stolen.get(reverse("admin:index")).status_code == 200
    client.post(reverse("admin:logout"))
    assert stolen.get(reverse("admin:index")).status_code == 302


def test_who_was_deactivated_is_out_at_once(lindi):
    client = Client()
    client.post(reverse("admin:login"), {"username": "lindi", "password": RIGHT})
    lindi.is_active = False
    lindi.save()
    assert client.get(reverse("admin:index")).status_code == 302
    assert log_in("lindi", RIGHT).status_code == 200

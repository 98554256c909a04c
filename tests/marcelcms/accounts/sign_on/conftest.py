"""The product set up with a directory, groups that have roles, and a browser that logs in there."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from marcelcms.accounts.roles import ADMINISTRATOR, ANALYST, CURATOR, WHOLE_UNIVERSITY, make_roles
from marcelcms.models import DirectoryGroup
from tests.analytics.inbox.mail_server import free_port
from tests.factories import UserFactory
from tests.fakes.oidc import CLIENT_ID, CLIENT_SECRET, PUBLIC_URL, Provider, Visit, path_of, running_provider

BO = {
    "sub": "4711",
    "email": "bo.berg@uni.example",
    "email_verified": True,
    "given_name": "Bo",
    "family_name": "Berg",
    "preferred_username": "bberg",
}


@pytest.fixture(scope="session")
def _provider() -> Iterator[Provider]:
    with running_provider(free_port()) as provider:
        yield provider


@pytest.fixture
def directory(_provider: Provider, settings: Settings) -> Provider:
    """Provide npm's oidc-provider, configured."""
    configure(settings, _provider.issuer)
    return _provider


def configure(settings: Settings, issuer: str) -> None:
    cache.clear()
    settings.PUBLIC_URL = PUBLIC_URL
    settings.OIDC_ISSUER, settings.OIDC_SCOPES = issuer, "openid profile email"
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def law(db: None) -> Group:
    """Provide a team whose members the directory calls law-web."""
    for role in (CURATOR, ANALYST, WHOLE_UNIVERSITY):
        Group.objects.get_or_create(name=role)
    team = Group.objects.create(name="Faculty of Law")
    DirectoryGroup.objects.create(name="law-web", role=CURATOR).teams.add(team)
    DirectoryGroup.objects.create(name="figures", role=ANALYST, is_everywhere=True)
    return team


@pytest.fixture
def ada(law: Group) -> User:
    """Provide an administrator, who may log in with a password."""
    make_roles()
    made: User = UserFactory(username="ada", first_name="Ada", teams=[Group.objects.get(name=ADMINISTRATOR)])
    return made


def log_in(directory: Provider, client: Client | None = None, *, wanted: str = "", **claims: Any) -> Any:
    """Return the product's answer to who comes back from the directory, and leave `client` logged in."""
    directory.set_person(**BO | claims)
    client = client or Client()
    start = client.get(reverse("sign-on"), {"next": wanted} if wanted else {})
    assert start.status_code == 302, start.content.decode()
    return client.get(path_of(Visit().follow(start["Location"])))


def groups_of(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))

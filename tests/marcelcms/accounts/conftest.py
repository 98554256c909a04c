"""An administrator, a team, and a mail server."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import Settings

from marcelcms import env
from marcelcms.accounts.roles import ADMINISTRATOR, make_roles
from tests.analytics.inbox.mail_server import MailServer, mail_server, use
from tests.factories import UserFactory


@pytest.fixture
def smtp(settings: Settings) -> Iterator[MailServer]:
    """Provide a mail server, configured."""
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        yield server


@pytest.fixture
def law(db: None) -> Group:
    return Group.objects.create(name="Faculty of Law")


@pytest.fixture
def admin_user(db: None) -> User:
    make_roles()
    made: User = UserFactory(username="ada", first_name="Ada", teams=[Group.objects.get(name=ADMINISTRATOR)])
    return made


@pytest.fixture
def administrator(client: Client, admin_user: User) -> Client:
    client.force_login(admin_user)
    return client

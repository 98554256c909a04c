"""Staff who answer cases."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import UserFactory

ANSWERS = ["chat.view_case", "chat.change_case", "knowledge.whole_university"]


def desk(name: str, **values: Any) -> User:
    """Create somebody who answers all cases."""
    made: User = UserFactory(**{"username": name, "first_name": name.title(), "permissions": ANSWERS} | values)
    return made


@pytest.fixture
def ada(db: None) -> User:
    return desk("ada")


@pytest.fixture
def bob(db: None) -> User:
    return desk("bob")


@pytest.fixture
def office(client: Client, ada: User) -> Client:
    """Provide a browser in which Ada is logged in."""
    client.force_login(ada)
    return client

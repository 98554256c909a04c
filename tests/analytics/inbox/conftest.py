"""Staff, items of the inbox, and a mail server."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from analytics.models import InboxPreferences, Review
from marcelcms import env
from tests.analytics.inbox.mail_server import MailServer, mail_server, use
from tests.factories import AnswerFactory, UserFactory

WORKS = ["analytics.view_gap", "analytics.change_gap", "analytics.view_review", "analytics.change_review"]


def staff(first: str, **values: Any) -> User:
    """Create somebody who works on the inbox, with an address."""
    name = first.lower()
    known = {"username": name, "first_name": first, "email": f"{name}@uni.example", "permissions": WORKS}
    made: User = UserFactory(**known | values)
    return made


def away(user: User, until: Any, substitute: User | None, **values: Any) -> None:
    InboxPreferences.objects.update_or_create(
        user=user, defaults={"away_until": until, "substitute": substitute, **values}
    )


@pytest.fixture
def smtp(settings: Settings) -> Iterator[MailServer]:
    """Provide a mail server, configured."""
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        yield server


@pytest.fixture
def ada(db: None) -> User:
    return staff("Ada")


@pytest.fixture
def bob(db: None) -> User:
    return staff("Bob")


@pytest.fixture
def carla(db: None) -> User:
    return staff("Carla")


def new_review(text: str = "Where do I park my zebra?", **values: Any) -> Review:
    answer = AnswerFactory(status="abstained", question__text=text)
    known = {"assistant": answer.conversation.assistant, "asked_at": answer.created_at, "reasons": ["abstained"]}
    review: Review = Review.objects.create(message=answer, **known | values)
    return review


def fresh(item: Any) -> Any:
    return type(item).objects.get(pk=item.pk)

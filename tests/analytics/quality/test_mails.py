"""E-mails about a drop of quality, through a server that speaks SMTP."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from analytics.models import InboxPreferences, QualityDrop
from analytics.quality.mails import mail_drops
from analytics.tasks import mail_notices, notice_quality_drops
from chat.models import Assistant
from marcelcms import env
from tests.analytics.inbox.mail_server import MailServer, mail_server, use
from tests.analytics.quality.rows import sampled, yesterday
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
VIEW = "analytics.view_sampledanswer"
PREFERENCES = "/admin/inbox/preferences/"


@pytest.fixture
def smtp(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        yield server


def analyst(name: str = "ada", **values: Any) -> User:
    known = {"username": name, "email": f"{name}@uni.example", "permissions": [VIEW]}
    made: User = UserFactory(**known | values)
    return made


def dropped(assistant: Assistant | None = None) -> QualityDrop:
    of = assistant or AssistantFactory(name="Info desk")
    made: QualityDrop = QualityDrop.objects.create(assistant=of, share=0.3, share_before=0.9, first_day=yesterday())
    return made


def test_a_drop_is_mailed_once_the_morning_it_is_noticed(smtp: MailServer) -> None:
    analyst()
    assistant, members = AssistantFactory(name="Info desk"), [UserFactory(), UserFactory()]
    for days in range(20, 0, -1):
        verdict = "wrong_answer" if days <= 2 else "correct_answer"
        for _each in range(5):
            day = timezone.localdate() - datetime.timedelta(days=days)
            sampled(assistant, verdict, verdict, day=day, by=members)
    notice_quality_drops()
    assert smtp.recipients == ["ada@uni.example"]
    body = smtp.body_to("ada@uni.example")
    assert "Clearly fewer answers of an assistant are right than before" in body
    assert "- Info desk, since" in body
    assert f"http://localhost:8000/admin/quality/?assistant={assistant.pk}" in body
    assert f"http://localhost:8000{PREFERENCES}" in body
    assert "%" not in body  # of few people no share is told
    notice_quality_drops()
    mail_notices()
    assert len(smtp.mails) == 1


def test_a_drop_is_mailed_to_who_may_see_it_and_wants_to_know(smtp: MailServer) -> None:
    drop = dropped()
    law = Group.objects.create(name="Law")
    analyst("bob", permissions=[])
    analyst("carla", teams=[law])
    InboxPreferences.objects.create(user=analyst("dora"), mails_quality=False)
    analyst("emil", email="")
    analyst("fritz")
    assert mail_drops() == 1
    assert smtp.recipients == ["fritz@uni.example"]
    drop.assistant.teams.add(law)
    assert mail_drops() == 1
    assert smtp.recipients == ["fritz@uni.example", "carla@uni.example"]


def test_what_is_over_or_old_is_no_news(smtp: MailServer) -> None:
    analyst()
    over, old = dropped(), dropped(AssistantFactory())
    QualityDrop.objects.filter(pk=over.pk).update(ended_at=timezone.now())
    QualityDrop.objects.filter(pk=old.pk).update(noticed_at=timezone.now() - datetime.timedelta(days=4))
    assert mail_drops() == 0
    assert smtp.mails == []


def test_an_analyst_turns_these_mails_off_on_a_page_with_that_alone(smtp: MailServer) -> None:
    member, client = analyst(), Client()
    client.force_login(member)
    assert PREFERENCES in client.get("/admin/").content.decode()
    page = client.get(PREFERENCES).content.decode()
    assert "E-mail me when clearly fewer answers are right" in page
    assert "new cases" not in page
    assert "Away until" not in page
    assert client.post(PREFERENCES, {}).status_code == 302
    dropped()
    assert mail_drops() == 0
    client.post(PREFERENCES, {"mails_quality": "on"})
    assert mail_drops() == 1

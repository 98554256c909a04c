"""E-mails about what was assigned, through a server that speaks SMTP."""

import asyncio
import logging
import ssl
import subprocess
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from analytics import tasks
from analytics.cases.news import tell_of_case
from analytics.inbox.mails import mail_notices
from analytics.inbox.notices import mark_read
from analytics.inbox.services import assign, assign_all, set_topic_state
from analytics.models import Notice
from chat.models import Case
from marcelcms import env
from tests.analytics.cases.rows import new_case
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import WORKS, away, fresh, new_review, staff
from tests.analytics.inbox.mail_server import MailServer, mail_server, use

pytestmark = pytest.mark.django_db


def give(to: User, by: User, *items: Any, due_on: date | None = None) -> None:
    assign_all(items=list(items), to=to, due_on=due_on, by=by)


def test_one_mail_tells_of_everything_that_was_assigned(smtp: MailServer, ada: User, bob: User) -> None:
    gap, review = new_gap("Zebra parking"), new_review()
    give(ada, bob, gap, review, new_review(), due_on=date(2099, 3, 1))
    assert mail_notices() == 1
    assert smtp.recipients == ["ada@uni.example"]
    body = smtp.body_to("ada@uni.example")
    assert body.startswith("Hello Ada,")
    assert "1 unanswered topic, 2 answers to review" in body
    assert f"- A topic, from Bob, due on {date_format(date(2099, 3, 1))}\n" in body
    assert f"http://localhost:8000/admin/analytics/gap/{gap.pk}/change/" in body
    assert f"http://localhost:8000/admin/analytics/review/{review.pk}/change/" in body
    assert "http://localhost:8000/admin/inbox/preferences/" in body
    assert smtp.mails[0]["From"] == "MarcelCMS <marcel@uni.example>"
    assert smtp.mails[0]["Auto-Submitted"] == "auto-generated"
    assert mail_notices() == 0


def test_a_topic_is_named_where_staff_named_it(smtp: MailServer, ada: User, bob: User) -> None:
    give(ada, bob, new_gap("Zebra parking"), new_gap("Parking permits", named_by="staff"))
    mail_notices()
    body = smtp.body_to("ada@uni.example")
    assert "- The topic “Parking permits”, from Bob\n" in body
    assert "- A topic, from Bob\n" in body
    assert "Zebra" not in body


def test_a_mail_holds_no_word_of_a_student(smtp: MailServer, ada: User, bob: User) -> None:
    give(ada, bob, new_gap("Zebra parking", texts=("Where does my zebra park?",)), new_review("My zebra is ill"))
    mail_notices()
    assert "zebra" not in str(smtp.mails[0]).lower()


def test_the_installations_language_is_that_of_mails(
    smtp: MailServer, ada: User, bob: User, settings: Settings
) -> None:
    settings.MAIL_LANGUAGE = "de"
    give(ada, bob, new_gap(), due_on=date(2099, 3, 1))
    mail_notices()
    body = smtp.body_to("ada@uni.example")
    assert "Guten Tag Ada," in body
    assert "fällig am 1. März 2099" in body


def test_assigning_in_the_admin_queues_the_mail_once_it_is_saved(
    smtp: MailServer,
    ada: User,
    bob: User,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(tasks.mail_notices, "delay", tasks.mail_notices)
    gap = new_gap()
    client.force_login(bob)
    with django_capture_on_commit_callbacks(execute=True):
        sent = {"to": ada.pk, "due_on": "", "version": gap.version}
        assert client.post(reverse("admin:analytics_gap_assign", args=[gap.pk]), sent).status_code == 302
        assert smtp.mails == []
    assert smtp.recipients == ["ada@uni.example"]


def test_who_takes_something_is_not_told_of_it(smtp: MailServer, ada: User) -> None:
    give(ada, ada, new_gap())
    assert mail_notices() == 0
    assert not Notice.objects.exists()


def test_what_was_read_done_or_passed_on_meanwhile_is_not_mailed(
    smtp: MailServer, ada: User, bob: User, carla: User
) -> None:
    read, done, passed_on = new_gap("Read"), new_gap("Done"), new_gap("Passed on")
    give(ada, bob, read, done, passed_on)
    mark_read(read, ada)
    set_topic_state(gaps=[fresh(done)], state="solved", by=bob)
    assign(item=passed_on, version=fresh(passed_on).version, to=carla, due_on=None, by=ada)
    assert mail_notices() == 1
    assert smtp.recipients == ["carla@uni.example"]


def test_what_comes_soon_after_a_mail_comes_with_the_next_one(smtp: MailServer, ada: User, bob: User) -> None:
    give(ada, bob, new_gap("First"))
    assert mail_notices() == 1
    give(ada, bob, new_gap("Second"), new_gap("Third"))
    assert mail_notices() == 0
    Notice.objects.exclude(mailed_at=None).update(mailed_at=timezone.now() - timedelta(minutes=11))
    assert mail_notices() == 1
    assert "2 unanswered topics" in smtp.mails[1].get_content()


def test_a_person_in_need_waits_for_no_next_mail(smtp: MailServer, bob: User) -> None:
    rights = [*WORKS, "chat.view_case", "chat.change_case", "chat.read_help_message"]
    dora = staff("Dora", permissions=rights)
    give(dora, bob, new_gap())
    assert mail_notices() == 1
    tell_of_case(new_case(reason=Case.Reason.HELP).pk, Notice.Kind.LATE_CASE)
    assert mail_notices() == 1
    assert smtp.mails[-1]["Subject"] == "Students wait for a reply in MarcelCMS"
    assert mail_notices() == 0


@pytest.mark.parametrize(
    "values",
    [{"email": ""}, {"is_active": False}, {"is_staff": False}, {"permissions": ["analytics.view_gap"]}],
    ids=["no address", "deactivated", "no staff", "no permission any more"],
)
def test_who_cannot_be_reached_or_left_gets_no_mail(smtp: MailServer, bob: User, values: dict[str, Any]) -> None:
    give(staff("Dora", **values), bob, new_gap())
    assert mail_notices() == 0
    assert smtp.mails == []


def test_who_wants_no_mails_gets_none(smtp: MailServer, ada: User, bob: User) -> None:
    away(ada, None, None, mails_assignments=False)
    give(ada, bob, new_gap())
    assert mail_notices() == 0


def test_another_teams_item_is_not_mailed(smtp: MailServer, bob: User) -> None:
    give(staff("Dora", teams=[]), bob, new_gap())
    assert mail_notices() == 0


def test_without_a_mail_server_nothing_is_sent_and_old_news_are_not_sent_later(
    ada: User, bob: User, settings: Settings
) -> None:
    give(ada, bob, new_gap())
    assert mail_notices() == 0
    Notice.objects.update(created_at=timezone.now() - timedelta(days=4))
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        assert mail_notices() == 0


def test_nothing_is_lost_while_the_server_is_down_and_the_log_names_nobody(
    smtp: MailServer, ada: User, bob: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    give(ada, bob, new_gap("Zebra parking"))
    settings.EMAIL_PORT = 9  # nobody listens there
    assert mail_notices() == 0
    assert "mail server away, tried again later error=ConnectionRefusedError" in caplog.text
    assert "uni.example" not in caplog.text
    settings.EMAIL_PORT = smtp.port
    assert mail_notices() == 1


def test_who_is_refused_keeps_nobody_else_from_their_mail(
    smtp: MailServer, ada: User, bob: User, carla: User, caplog: pytest.LogCaptureFixture
) -> None:
    give(ada, bob, new_gap("Zebra"))
    give(carla, bob, new_gap("Zebras"))
    smtp.refused["ada@uni.example"] = "451 try later"
    assert mail_notices() == 1
    assert smtp.recipients == ["carla@uni.example"]
    assert f"mail refused reader={ada.pk} code=451 for_good=False" in caplog.text
    smtp.refused["ada@uni.example"] = "550 unknown"
    assert mail_notices() == 1
    assert f"mail refused reader={ada.pk} code=550 for_good=True" in caplog.text
    assert "ada@" not in caplog.text
    # Asking on and on would make the server take us for a spammer.
    smtp.refused.clear()
    assert mail_notices() == 0


def test_a_server_that_breaks_off_when_it_has_a_mail_gets_no_other_copy_of_it(
    smtp: MailServer, ada: User, bob: User, carla: User, caplog: pytest.LogCaptureFixture
) -> None:
    give(ada, bob, new_gap("Zebra"))
    give(carla, bob, new_gap("Zebras"))
    smtp.hang_ups = 1
    assert mail_notices() == 2
    assert sorted(smtp.recipients) == ["ada@uni.example", "carla@uni.example"]
    assert "mail server said nothing about a mail" in caplog.text
    assert mail_notices() == 0


def test_a_server_that_looks_through_a_mail_for_long_has_it_once(
    smtp: MailServer, ada: User, bob: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_TIMEOUT = 0.5
    take = smtp.handle_DATA

    async def slow(*given: Any) -> str:
        await asyncio.sleep(1)
        return await take(*given)

    monkeypatch.setattr(smtp, "handle_DATA", slow)
    give(ada, bob, new_gap("Zebra"))
    assert mail_notices() == 1
    assert mail_notices() == 0
    assert len(smtp.mails) == 1


def test_an_address_that_is_none_is_passed_over(
    smtp: MailServer, bob: User, carla: User, caplog: pytest.LogCaptureFixture
) -> None:
    give(staff("Dora", email="dora@uni.example\nBcc: eve@evil.example"), bob, new_gap())
    give(carla, bob, new_gap("Another"))
    assert mail_notices() == 1 + 1  # one refused for good
    assert smtp.recipients == ["carla@uni.example"]
    assert "evil" not in caplog.text


def test_many_items_are_counted_and_some_named(smtp: MailServer, ada: User, bob: User) -> None:
    gap = new_gap()
    give(ada, bob, *[new_gap(f"Topic {n}", texts=()) for n in range(60)], gap)
    assert mail_notices() == 1
    body = smtp.body_to("ada@uni.example")
    assert "61 unanswered topics" in body
    assert body.count("/admin/analytics/gap/") == 50
    assert "/admin/to-do/?who=me" in body
    assert not Notice.objects.filter(mailed_at=None).exists()


# --- who stands in ---


def test_the_substitute_is_told_for_whom(smtp: MailServer, ada: User, bob: User, carla: User) -> None:
    until = timezone.localdate() + timedelta(days=3)
    away(ada, until, carla)
    give(ada, bob, new_gap())
    assert mail_notices() == 1
    body = smtp.body_to("carla@uni.example")
    assert f"from Bob, instead of Ada, who is away until {date_format(until)}" in body


def test_a_substitute_who_is_away_passes_on_to_their_own(smtp: MailServer, ada: User, bob: User, carla: User) -> None:
    today, dora = timezone.localdate(), staff("Dora")
    away(ada, today, carla)
    away(carla, today, dora)
    give(ada, bob, new_gap())
    mail_notices()
    assert smtp.recipients == ["dora@uni.example"]


def test_in_a_circle_of_substitutes_the_one_it_was_assigned_to_is_told(
    smtp: MailServer, ada: User, bob: User, carla: User
) -> None:
    today = timezone.localdate()
    away(ada, today, carla)
    away(carla, today, ada)
    give(ada, bob, new_gap())
    mail_notices()
    assert smtp.recipients == ["ada@uni.example"]


@pytest.mark.parametrize("lost", ["is_active", "is_staff"])
def test_a_substitute_who_left_stands_in_for_nobody(
    smtp: MailServer, ada: User, bob: User, carla: User, lost: str
) -> None:
    away(ada, timezone.localdate(), carla)
    setattr(carla, lost, False)
    carla.save()
    give(ada, bob, new_gap())
    mail_notices()
    assert smtp.recipients == ["ada@uni.example"]


def test_a_substitute_of_another_team_is_not_told(smtp: MailServer, ada: User, bob: User) -> None:
    away(ada, timezone.localdate(), staff("Dora", teams=[]))
    give(ada, bob, new_gap())
    mail_notices()
    assert smtp.recipients == ["ada@uni.example"]


def test_after_the_last_day_away_ones_own_mails_come_again(smtp: MailServer, ada: User, bob: User, carla: User) -> None:
    away(ada, timezone.localdate() - timedelta(days=1), carla)
    give(ada, bob, new_gap())
    mail_notices()
    assert smtp.recipients == ["ada@uni.example"]


def test_deleting_an_account_leaves_the_others_notices(smtp: MailServer, ada: User, bob: User, carla: User) -> None:
    give(ada, bob, new_gap())
    give(carla, bob, new_gap("Another"))
    bob.delete()
    carla.delete()
    assert mail_notices() == 1
    assert "from" not in smtp.body_to("ada@uni.example").split("- A topic")[1].split("\n")[0]


# --- the server's settings ---


def test_name_and_password_of_the_address_reach_the_server(
    smtp: MailServer, ada: User, bob: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMAIL_URL", f"smtp://marcel:p%40ss%2Fword@127.0.0.1:{smtp.port}")
    use(settings, env.mail_server("EMAIL_URL"))
    give(ada, bob, new_gap())
    assert mail_notices() == 1
    assert smtp.logins == [("marcel", "p@ss/word")]


def test_no_mail_goes_to_a_server_whose_certificate_is_not_trusted(
    ada: User, bob: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *made, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    give(ada, bob, new_gap())
    with mail_server(context) as server:
        monkeypatch.setenv("EMAIL_URL", f"smtp://marcel:x@localhost:{server.port}?tls=true")
        use(settings, env.mail_server("EMAIL_URL"))
        assert mail_notices() == 0
        assert server.logins == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert mail_notices() == 1
        assert server.logins == [("marcel", "x")]


def test_what_a_mail_server_says_is_not_logged(
    smtp: MailServer, ada: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    smtp.refused["ada@uni.example"] = "550 ada@uni.example has retired"
    give(ada, bob, new_gap("Zebra"))
    mail_notices()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("analytics")]
    assert ours == [f"mail refused reader={ada.pk} code=550 for_good=True"]

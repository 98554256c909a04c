"""The weekly summary: figures of what there is to do, through a server that speaks SMTP."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import Settings

from analytics.inbox.digest import mail_digests
from analytics.inbox.services import assign_all
from analytics.models import Gap, InboxPreferences, Review
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import away, new_review, staff
from tests.analytics.inbox.mail_server import MailServer

pytestmark = pytest.mark.django_db


def figures(body: str, title: str) -> dict[str, int]:
    """Return the figures below a title."""
    lines = body.split(f"{title}\n", 1)[1].splitlines()[:5]
    return {name.strip(): int(number) for name, number in (line.split(":") for line in lines)}


def give(to: User, by: User, *items: Any, due_on: date | None = None) -> None:
    assign_all(items=list(items), to=to, due_on=due_on, by=by)


def test_the_summary_counts_what_there_is_to_do(smtp: MailServer, ada: User, bob: User) -> None:
    today = timezone.localdate()
    mine, overdue, old = new_gap("Mine"), new_gap("Overdue"), new_gap("Old")
    new_gap("Watched", state="answered")
    new_gap("Solved", state="solved")
    new_gap("Merged", merged_into=mine)
    give(ada, bob, mine, due_on=today)
    Gap.objects.filter(pk=overdue.pk).update(assigned_to=bob, due_on=today - timedelta(days=1))
    Gap.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=8))
    new_review(state="done")
    give(ada, bob, new_review())
    InboxPreferences.objects.create(user=bob, mails_digest=False)
    assert mail_digests() == 1
    body = smtp.body_to("ada@uni.example")
    assert figures(body, "Unanswered topics") == {
        "Not done yet": 3,
        "Assigned to you": 1,
        "Overdue": 1,
        "New in the last seven days": 2,
        "Answered, to be watched": 1,
    }
    assert list(figures(body, "Answers to review").values()) == [1, 1, 0, 1, 0]
    assert "http://localhost:8000/admin/to-do/?kind=topics\n" in body
    assert "http://localhost:8000/admin/to-do/?kind=answers\n" in body
    assert "http://localhost:8000/admin/inbox/preferences/" in body


def test_the_summary_holds_no_word_of_a_student(smtp: MailServer, ada: User) -> None:
    new_gap("Zebra parking", texts=("Where does my zebra park?",))
    new_review("My zebra is ill")
    mail_digests()
    assert "zebra" not in str(smtp.mails[0]).lower()


def test_it_comes_once_a_week(smtp: MailServer, ada: User) -> None:
    new_gap()
    assert [mail_digests(), mail_digests()] == [1, 0]
    InboxPreferences.objects.update(digest_sent_on=timezone.localdate() - timedelta(days=7))
    assert mail_digests() == 1


def test_who_has_nothing_to_do_gets_none(smtp: MailServer, ada: User) -> None:
    new_gap(state="dismissed")
    assert mail_digests() == 0
    assert smtp.mails == []


def test_it_counts_only_what_the_member_may_see_and_work_on(smtp: MailServer, db: None) -> None:
    law = Group.objects.create(name="Law")
    staff("Dora", teams=[law], permissions=["analytics.change_review"])
    staff("Emil", teams=[law], permissions=["analytics.view_gap", "analytics.view_review"])
    own, _foreign = new_review(), new_review()
    new_gap()
    own.assistant.teams.add(law)
    assert mail_digests() == 1
    body = smtp.body_to("dora@uni.example")
    assert figures(body, "Answers to review")["Not done yet"] == 1
    assert "Unanswered topics" not in body


def test_the_substitute_is_told_of_what_they_look_after(smtp: MailServer, ada: User, bob: User) -> None:
    away(ada, timezone.localdate(), bob)
    Review.objects.filter(pk=new_review().pk).update(assigned_to=ada)
    mail_digests()
    assert figures(smtp.body_to("bob@uni.example"), "Answers to review")["Assigned to you"] == 1


@pytest.mark.parametrize("values", [{"email": ""}, {"is_active": False}, {"is_staff": False}])
def test_who_cannot_be_reached_or_left_gets_none(smtp: MailServer, db: None, values: dict[str, Any]) -> None:
    staff("Dora", **values)
    new_gap()
    assert mail_digests() == 0


def test_where_the_server_was_down_the_next_hour_tries_again(smtp: MailServer, ada: User, settings: Settings) -> None:
    new_gap()
    settings.EMAIL_PORT = 9  # nobody listens there
    assert mail_digests() == 0
    settings.EMAIL_PORT = smtp.port
    assert mail_digests() == 1

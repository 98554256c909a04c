"""Comments tell who looks after an item and who commented before, in the admin and by e-mail."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from lxml import html

from analytics.inbox.mails import mail_notices
from analytics.inbox.services import assign_all
from analytics.models import Gap, Notice
from tests.analytics.gaps.rows import new_gap
from tests.analytics.inbox.conftest import away, new_review, staff
from tests.analytics.inbox.mail_server import MailServer
from tests.analytics.rows import url_of
from tests.staff.api import Program

pytestmark = pytest.mark.django_db
SECRET = "The zebra of the dean"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def comment(by: User, gap: Gap) -> None:
    signed_in(by).post(url_of(gap, "comment"), {"comment": SECRET})


def told() -> set[tuple[str, str]]:
    return {(notice.user.username, notice.kind) for notice in Notice.objects.filter(read_at=None)}


def listed(user: User) -> list[str]:
    shown = html.fromstring(signed_in(user).get(reverse("admin:index")).content.decode())
    section = shown.xpath("//section[contains(@class, 'home__section')][h2[text() = 'Comments of colleagues']]")
    return [" ".join(item.text_content().split()) for item in section[0].xpath(".//li")] if section else []


def test_who_looks_after_a_topic_and_who_commented_before_are_told(ada: User, bob: User, carla: User) -> None:
    gap = new_gap("Parking", assigned_to=ada)
    comment(bob, gap)
    assert told() == {("ada", "comment")}
    comment(carla, gap)
    assert told() == {("ada", "comment"), ("bob", "comment")}
    assert listed(ada) == ["“Parking”, commented by Carla"]
    assert listed(bob) == ["“Parking”, commented by Carla"]
    assert listed(carla) == []
    assert "notice not read yet" in signed_in(bob).get("/admin/").content.decode()
    signed_in(bob).get(url_of(gap))
    assert listed(bob) == []


def test_a_comment_with_a_verdict_tells_too_and_also_of_what_is_done(ada: User, bob: User) -> None:
    review = new_review(assigned_to=ada)
    signed_in(bob).post(
        url_of(review), {"step": "done", "verdict": "abuse", "version": review.version, "comment": SECRET}
    )
    assert listed(ada) == ["An answer to review, commented by Bob"]
    signed_in(bob).post(url_of(review), {"step": "save", "verdict": "abuse", "version": 1})
    assert Notice.objects.count() == 1


def test_the_staff_api_tells_as_well(ada: User, bob: User) -> None:
    review = new_review(assigned_to=ada)
    assert Program(bob).post(f"/reviews/{review.pk}/comments/", {"text": SECRET}).status_code == 201
    assert told() == {("ada", "comment")}


def test_the_mail_holds_neither_the_comment_nor_a_word_of_a_student(smtp: MailServer, ada: User, bob: User) -> None:
    gap, review = new_gap("Zebra parking", assigned_to=ada), new_review("My zebra is ill", assigned_to=ada)
    comment(bob, gap)
    Notice.objects.filter(gap=gap).update(created_at=timezone.now() - timedelta(minutes=1))
    assign_all(items=[review], to=ada, due_on=None, by=bob)
    assert mail_notices() == 1
    body = smtp.body_to("ada@uni.example")
    assert "Commented: 1 unanswered topic." in body
    assert "- A topic, commented by Bob\n" in body
    assert smtp.mails[0]["Subject"] == "New comments in MarcelCMS"
    assert "zebra" not in str(smtp.mails[0]).lower()
    assert mail_notices() == 0


def test_mails_of_comments_are_turned_off_alone(smtp: MailServer, ada: User, bob: User) -> None:
    away(ada, None, None, mails_comments=False)
    gap = new_gap("Parking", assigned_to=ada)
    comment(bob, gap)
    assert mail_notices() == 0
    assign_all(items=[new_gap("Dogs")], to=ada, due_on=None, by=bob)
    assert mail_notices() == 1
    assert "comment" not in smtp.body_to("ada@uni.example").lower()
    assert listed(ada) == ["“Parking”, commented by Bob"]


def test_the_substitute_of_who_looks_after_it_is_told(ada: User, bob: User, carla: User) -> None:
    away(ada, timezone.localdate(), carla)
    comment(bob, new_gap("Parking", assigned_to=ada))
    assert told() == {("carla", "comment")}
    assert listed(carla)[0].startswith("“Parking”, commented by Bob, instead of Ada")


def test_who_may_no_longer_open_it_reads_nothing_of_it(smtp: MailServer, ada: User, bob: User) -> None:
    gap = new_gap("Parking", assigned_to=ada)
    comment(bob, gap)
    team = Group.objects.create(name="Law")
    ada.groups.set([team])
    ada.user_permissions.clear()
    assert listed(ada) == []
    assert mail_notices() == 0


def test_a_colleague_of_another_team_who_commented_once_reads_nothing(bob: User) -> None:
    law, arts = Group.objects.create(name="Law"), Group.objects.create(name="Arts")
    dora, gap = staff("Dora", teams=[law]), new_gap("Parking")
    gap.assistant.teams.set([law])
    comment(dora, gap)
    gap.assistant.teams.set([arts])
    comment(bob, gap)
    assert told() == {("dora", "comment")}
    assert listed(dora) == []

"""The notice when more of what the language model writes is held back than before."""

import datetime

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from analytics.models import HeldBackRise, UsageCount
from analytics.reviews.held_back import Share, has_ended, has_risen, notice_rises
from analytics.tasks import notice_held_back
from chat.models import Assistant, HeldBackSentence
from tests.chat.admin.test_held_back import held_back
from tests.factories import AssistantFactory, UserFactory

pytestmark = pytest.mark.django_db
MAY = ["chat.view_heldbacksentence", "chat.change_heldbacksentence"]


def writes(assistant: Assistant, *, shown: int, held: int, days_ago: int) -> None:
    day = timezone.localdate() - datetime.timedelta(days=days_ago)
    UsageCount.objects.create(
        span="day", day=day, assistant=assistant, sentences_shown=shown, sentences_quoted=held, language="en"
    )


def wrote_more(assistant: Assistant) -> None:
    writes(assistant, shown=700, held=300, days_ago=20)
    writes(assistant, shown=100, held=100, days_ago=3)


def home(*, teams: list[Group] | None = None, may: list[str] = MAY) -> str:
    client = Client()
    client.force_login(UserFactory(permissions=may, **({} if teams is None else {"teams": teams})))
    return str(client.get("/admin/").content.decode())


def test_a_share_has_risen_if_both_periods_have_enough_and_the_rise_is_clear() -> None:
    assert has_risen(Share(100, 200), Share(300, 1000))
    assert not has_risen(Share(39, 100), Share(300, 1000))  # below 10 points
    assert not has_risen(Share(41, 100), Share(300, 1000))  # chance
    assert not has_risen(Share(99, 99), Share(300, 1000))
    assert not has_risen(Share(100, 200), Share(1, 99))
    assert not has_risen(Share(200, 200), Share(200, 200))


def test_a_rise_has_ended_if_little_is_left_of_it() -> None:
    assert not has_ended(Share(36, 100), Share(30, 100))
    assert has_ended(Share(34, 100), Share(30, 100))
    assert has_ended(Share(9, 10), Share(30, 100))


def test_a_rise_is_noticed_once_however_long_it_lasts() -> None:
    assistant = AssistantFactory()
    wrote_more(assistant)
    assert [rise.assistant for rise in notice_rises()] == [assistant]
    assert notice_rises() == []
    assert HeldBackRise.objects.count() == 1


def test_a_rise_that_is_over_can_begin_again() -> None:
    assistant = AssistantFactory()
    wrote_more(assistant)
    notice_held_back()
    UsageCount.objects.filter(sentences_shown=100).update(sentences_shown=900)
    assert notice_rises() == []
    assert HeldBackRise.objects.get().ended_at is not None
    UsageCount.objects.filter(sentences_shown=900).update(sentences_shown=100)
    assert len(notice_rises()) == 1


def test_other_assistants_and_today_do_not_count() -> None:
    assistant = AssistantFactory()
    writes(assistant, shown=700, held=300, days_ago=20)
    writes(assistant, shown=0, held=500, days_ago=0)
    writes(AssistantFactory(), shown=100, held=100, days_ago=3)
    assert notice_rises() == []


def test_the_first_page_names_the_assistant_the_reason_and_leads_to_its_sentences() -> None:
    assistant = AssistantFactory(name="Info desk")
    wrote_more(assistant)
    for kind in ("date", "figure", "figure"):
        held_back(assistant=assistant, reasons=[kind], parts=[""])
    HeldBackSentence.objects.update(created_at=timezone.now() - datetime.timedelta(days=3))
    notice_held_back()
    shown = home()
    assert "Info desk: more of what the language model writes is not shown" in shown
    assert "50\N{NO-BREAK SPACE}% in 7 days after 30\N{NO-BREAK SPACE}% in the 28 days before" in shown
    assert "Most frequent reason: Figure." in shown
    link = shown.split('<a href="/admin/chat/heldbacksentence/?assistant', 1)[1].split('"', 1)[0].replace("&amp;", "&")
    client = Client()
    client.force_login(UserFactory(permissions=MAY))
    listed = client.get(f"/admin/chat/heldbacksentence/?assistant{link}").content.decode()
    assert listed.count('class="held-back__item"') == 2


def test_a_notice_is_shown_for_a_week_to_those_who_may_judge_and_look_after_the_assistant() -> None:
    assistant, team = AssistantFactory(name="Info desk"), Group.objects.create(name="Law")
    wrote_more(assistant)
    notice_held_back()
    assert "Info desk" not in home(teams=[team])
    assert "Info desk" not in home(may=["chat.view_heldbacksentence"])
    assistant.teams.add(team)
    assert "Info desk: more" in home(teams=[team])
    HeldBackRise.objects.update(noticed_at=timezone.now() - datetime.timedelta(days=8))
    assert "Info desk" not in home()

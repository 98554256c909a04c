"""Who wished to be told hears of an answer as soon as one is published, and of nothing else."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from analytics.gaps.answered import looks
from analytics.gaps.answered.looks import check_all
from chat.models import Case, Message
from tests.analytics.gaps.rows import ask_in_vain, new_gap
from tests.analytics.gaps.test_answered import BICYCLE_PAGE, CAR_PAGE, minute_later, publish_faq
from tests.conftest import load_pages

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_is_queued")]


@pytest.fixture
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)


def wish(question: Message) -> Case:
    answer = question.answer
    return Case.objects.create(
        conversation=question.conversation,
        assistant=question.conversation.assistant,
        about=answer,
        question=question.text,
        language="en",
        reason=Case.Reason.ABSTAINED,
        state=Case.State.WATCHING,
        client_id=uuid.uuid4(),
    )


def states(*wishes: Case) -> list[str]:
    return [Case.objects.get(pk=each.pk).state for each in wishes]


def test_each_student_is_told_of_the_page_that_answers_their_own_question(monkeypatch: pytest.MonkeyPatch) -> None:
    cars = [wish(ask_in_vain(text)) for text in ("Where can I park my car?", "where can I park my car?")]
    pool = wish(ask_in_vain("Is there a swimming pool for students?"))
    looks.check_changes()
    load_pages([BICYCLE_PAGE])
    minute_later(monkeypatch)
    assert states(*cars, pool) == ["watching"] * 3
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    assert states(*cars, pool) == ["told", "told", "watching"]
    told = cars[0].messages.get()
    assert told.text == "There is an answer to your question now: [Car parking](https://www.uni.example/cars)"


def test_a_written_answer_is_told_by_its_own_page(
    admin_client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wished = wish(ask_in_vain("Where can I park my car?"))
    looks.check_changes()
    faq = publish_faq(admin_client, "Where do students park their cars?", "Cars are parked in the garage.")
    minute_later(monkeypatch)
    page = faq.pages.get(language="en").document
    assert f"[Where do students park their cars?]({page.url})" in wished.messages.get().text


def test_what_was_published_before_the_question_answers_nobody_and_the_night_tells_nobody_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_pages([CAR_PAGE])
    late = wish(ask_in_vain("Where can I park my car?", days_ago=-1))
    Message.objects.filter(pk=late.about_id).update(created_at=late.about.question.created_at)
    Message.objects.filter(pk=late.about_id).update(created_at="2999-01-01T00:00Z")
    early = wish(ask_in_vain("May I park my car here?", days_ago=1))
    Message.objects.filter(pk=early.about_id).update(created_at="2020-01-01T00:00Z")
    for _night in range(2):
        check_all(lambda _done, _of: None)
    assert states(late, early) == ["watching", "told"]
    assert early.messages.count() == 1


def test_a_topic_says_how_many_students_want_to_be_told(admin_client: Client) -> None:
    gap = new_gap()
    page = reverse("admin:analytics_gap_change", args=[gap.pk])
    assert "Want to be told" not in admin_client.get(page).content.decode()
    wish(gap.questions.get().message)
    shown = " ".join(admin_client.get(page).content.decode().split())
    assert "<dt>Want to be told of an answer</dt> <dd> 1 </dd>" in shown

"""Who wished to be told hears of an answer as soon as one is published, and of nothing else."""

import uuid
from unittest.mock import Mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analytics.gaps.answered import looks, wishes
from analytics.gaps.answered.changes import read_changes, read_vectors
from analytics.gaps.answered.looks import check_all
from chat.models import Case, Message
from core.inference.reranker import RerankerUnavailable
from tests.analytics.gaps.rows import ask_in_vain, look, new_gap
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


def night() -> None:
    check_all(lambda _done, _of: None)


def states(*waiting: Case) -> list[str]:
    return [Case.objects.get(pk=each.pk).state for each in waiting]


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
        night()
    assert states(late, early) == ["watching", "told"]
    assert early.messages.count() == 1


def test_more_wishes_than_a_night_asks_are_all_asked_in_some_nights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wishes, "A_NIGHT", 2)
    pools = [wish(ask_in_vain(f"Is there a swimming pool for {whom}?")) for whom in ("students", "guests", "staff")]
    car = wish(ask_in_vain("Where can I park my car?"))
    later = wish(ask_in_vain("Is there a swimming pool for children?"))
    load_pages([CAR_PAGE])
    seen = []
    for _night in range(3):
        night()
        seen.append(states(car)[0])
        wish(ask_in_vain("Is there a swimming pool for dogs?"))  # there are new ones each day
    assert seen == ["watching", "told", "told"]
    assert states(*pools, later) == ["watching"] * 4
    assert not Case.objects.filter(pk__in=[later.pk, *(each.pk for each in pools)], asked_again_at=None).exists()


def test_however_many_new_wishes_a_day_brings_an_earlier_one_is_asked_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wishes, "A_NIGHT", 2)
    car = wish(ask_in_vain("Where can I park my car?"))
    night()
    assert Case.objects.get(pk=car.pk).asked_again_at
    load_pages([CAR_PAGE])
    for animal in ("dogs", "cats"):
        for whom in ("big", "small", "old"):
            wish(ask_in_vain(f"Is there a swimming pool for {whom} {animal}?"))
        night()
    assert states(car) == ["told"]


def test_a_wish_that_cannot_be_judged_keeps_no_other_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wishes, "A_NIGHT", 1)
    stuck, car = wish(ask_in_vain("Is my car parked?")), wish(ask_in_vain("Where can I park my car?"))
    load_pages([CAR_PAGE])
    with monkeypatch.context() as patch:
        patch.setattr(wishes, "find_cover", Mock(side_effect=RerankerUnavailable("away")))
        night()
    night()
    assert states(stuck, car) == ["watching", "told"]


def test_an_old_wish_is_told_in_the_minute_of_the_page_however_many_newer_ones_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for bound in ("EMBEDDED", "NEAREST", "AT_ONCE"):
        monkeypatch.setattr(wishes, bound, 1)
    old = [wish(ask_in_vain("Where can I park my car?")) for _student in range(3)]
    look()
    new = [wish(ask_in_vain(f"Is there a swimming pool for {whom}?")) for whom in ("students", "guests")]
    looks.check_changes()
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    assert states(*old, *new) == ["told"] * 3 + ["watching"] * 2


def test_many_wishes_are_found_with_as_many_queries_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    load_pages([CAR_PAGE])
    vectors = read_vectors(read_changes(timezone.now() - looks.FIRST_LOOK, timezone.now()))
    counts = []
    for _round in range(2):
        wish(ask_in_vain("Where can I park my car?"))
        look()
        wish(ask_in_vain("Where can I park my car?"))
        Case.objects.update(asked_again_at=None, state=Case.State.WATCHING)
        with CaptureQueriesContext(connection) as queries:
            found = [*wishes.near_wishes(vectors), *wishes.next_wishes()]
            assert {each.about.question.text for each in found if each.about and each.about.question}
        counts.append((len(queries), len(found)))
    assert [queries for queries, _found in counts] == [counts[0][0]] * 2
    assert [found for _queries, found in counts] == [4, 8]


def test_a_topic_says_how_many_students_want_to_be_told(admin_client: Client) -> None:
    gap = new_gap()
    page = reverse("admin:analytics_gap_change", args=[gap.pk])
    assert "Want to be told" not in admin_client.get(page).content.decode()
    wish(gap.questions.get().message)
    shown = " ".join(admin_client.get(page).content.decode().split())
    assert "<dt>Want to be told of an answer</dt> <dd> 1 </dd>" in shown

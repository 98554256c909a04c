"""What was asked in vain is asked again when something changes, and at night: it counts as answered only if it is."""

import logging
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analytics.gaps.answered import judging, looks
from analytics.gaps.answered.looks import check_all, check_changes
from analytics.inbox.services import set_topic_state
from analytics.models import Comment, Gap, GapQuestion, Review
from analytics.reviews.collect import collect
from analytics.tasks import ask_again
from chat.models import Message
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.embeddings.ensemble import JOINED
from faqs.indexing import sync_faq
from faqs.indexing import sync_pending as sync_pending_faqs
from faqs.models import FAQ
from faqs.services import set_faq_status
from knowledge.indexing.documents import sync_document, sync_pending
from knowledge.models import Document
from knowledge.services.documents import save_document, set_document_status
from tests.analytics.gaps.rows import ask_in_vain, look
from tests.conftest import load_pages
from tests.factories import CollectionFactory, FAQFactory, UserFactory
from tests.faqs.forms import build_form

pytestmark = pytest.mark.django_db

CARS = ("Where can I park my car?", "Is there parking for cars on campus?", "Can I park my car at the university?")
GERMAN = ("Wo kann ich mein Auto parken?", "Wo darf ich mein Auto parken?")
CAR_PAGE = {
    "url": "https://www.uni.example/cars",
    "title": "Car parking",
    "text": "# Car parking\n\nStudents park their cars in the garage on North Street. A permit costs 12 euros a month.",
}
BICYCLE_PAGE = {
    "url": "https://www.uni.example/bicycles",
    "title": "Bicycle parking",
    "text": "# Bicycle parking\n\nStudents park their bicycles in the racks. A car may not stop there.",
}


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda *_ids: None)


def topic(*texts: str) -> Gap:
    """Make a topic of these questions as a night finds it, and begin to follow what is published."""
    questions = [ask_in_vain(text) for text in texts or CARS]
    look()
    ask_again()
    gap = GapQuestion.objects.get(message=questions[0]).gap
    assert gap
    return gap


def minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the task of every minute does, with everything until now behind it."""
    with monkeypatch.context() as patch:
        patch.setattr(looks, "SETTLED", timedelta(0))
        ask_again()


def notes(item: Gap | Review) -> list[tuple[str, str]]:
    return list(item.comments.values_list("note", "text"))


def publish_faq(client: Client, question: str, answer: str) -> FAQ:
    """Publish an FAQ with a written answer as its form does; a worker indexes it."""
    faq = FAQ(question=question, language="en", status="published", collection=CollectionFactory())
    data = build_form(faq, answer_en=answer, office_en="the Facility Office")
    assert client.post(reverse("admin:faqs_faq_add"), data).status_code == 302
    sync_pending()
    sync_pending_faqs()
    return FAQ.objects.get(question=question)


# --- right after something changed ---


def test_an_faq_that_is_published_moves_the_topic_it_answers(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = topic()
    faq = publish_faq(admin_client, "Where do students park their cars?", "Cars are parked in the garage.")
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert (gap.state, gap.answered_by_faq) == ("answered", faq)
    assert gap.answered_since
    assert notes(gap) == [("answered", "Where do students park their cars?")]


def test_an_faq_about_bicycles_does_not_answer_who_asks_about_cars(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = topic()
    publish_faq(admin_client, "Where do students park their bicycles?", "Bicycles are parked in the racks.")
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert (gap.state, gap.answered_since, notes(gap)) == ("open", None, [])


@pytest.mark.parametrize("asked", [CARS, ("Can I park my car on campus?",)])
def test_a_page_moves_the_topic_it_answers_and_one_about_something_else_does_not(
    asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = topic(*asked)
    load_pages([BICYCLE_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "open"
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"
    assert gap.answered_by_document == Document.objects.get(title="Car parking")
    assert notes(gap) == [("answered", "Car parking")]


def test_a_german_topic_is_told_from_its_near_miss_too(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = topic(*GERMAN)
    page = {"url": "https://www.uni.example/fahrrad", "title": "Fahrräder", "language": "de"}
    load_pages([page | {"text": "# Fahrräder\n\nFahrräder parken Sie an den Bügeln vor jedem Gebäude."}])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "open"
    page = {"url": "https://www.uni.example/auto", "title": "Autos", "language": "de"}
    load_pages([page | {"text": "# Autos\n\nAutos parken Sie im Parkhaus an der Nordstraße."}])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"


def test_a_page_in_the_other_language_answers_as_the_assistant_does(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = JOINED
    gap = topic("Sind Hunde auf dem Campus erlaubt?")
    page = {"url": "https://www.uni.example/dogs", "title": "Dogs on campus"}
    load_pages([page | {"text": "# Dogs on campus\n\nDogs are allowed on campus if they are on a leash."}])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"


def test_an_edit_of_a_page_that_was_there_counts_as_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    load_pages([BICYCLE_PAGE])
    Document.objects.update(created_at=timezone.now() - timedelta(days=9))
    gap = topic()
    page = Document.objects.get()
    page.title, page.text = CAR_PAGE["title"], CAR_PAGE["text"]
    save_document(document=page)
    sync_document(page.pk)
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"


def test_a_page_that_was_there_when_it_was_asked_answers_nothing_now(monkeypatch: pytest.MonkeyPatch) -> None:
    load_pages([CAR_PAGE])
    Document.objects.update(created_at=timezone.now() - timedelta(days=9))
    gap = topic()
    load_pages([BICYCLE_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "open"


def test_one_question_of_several_is_not_the_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("Can I park my car for a month?", "Can I park my car in the garage?", "Can I park my car free of charge?")
    gap = topic(*asked)
    assert gap.question_count == 3
    page = {
        "url": "https://www.uni.example/month",
        "title": "A month",
        "text": "# A month\n\nPark your car for a month.",
    }
    load_pages([page])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "open"


def test_a_topic_in_work_moves_with_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = topic()
    collect()
    check_all(lambda _done, _of: None)
    Review.objects.update(gap=gap)
    set_topic_state(gaps=[gap], state="in_work")
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"
    assert {review.state for review in Review.objects.all()} <= {"answered"}


@pytest.mark.parametrize("state", ["solved", "dismissed"])
def test_what_staff_closed_stays_closed(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gap = topic()
    set_topic_state(gaps=[gap], state=state)
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    check_all(lambda _done, _of: None)
    gap.refresh_from_db()
    assert (gap.state, notes(gap)) == (state, [])


def test_what_staff_opened_again_waits_for_another_change(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = topic()
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    set_topic_state(gaps=[gap], state="open", by=UserFactory())
    check_all(lambda _done, _of: None)
    gap.refresh_from_db()
    assert gap.state == "open"
    load_pages([CAR_PAGE | {"text": CAR_PAGE["text"] + " Cars are parked on Sundays too."}])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"


# --- single answers ---


def test_a_single_answer_to_review_moves_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    ask_again()
    car, pool = ask_in_vain(CARS[0]), ask_in_vain("Is there a swimming pool for students?")
    Message.objects.filter(role="assistant").update(finished_at=timezone.now())
    collect()
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    moved = Review.objects.get(message__question=car)
    assert (moved.state, notes(moved)) == ("answered", [("answered", "Car parking")])
    assert Review.objects.get(message__question=pool).state == "open"
    set_document_status(documents=[Document.objects.get()], status="archived")
    sync_pending()
    check_all(lambda _done, _of: None)
    moved.refresh_from_db()
    assert moved.state == "open"
    assert notes(moved)[-1] == ("asked_again", "")


# --- watched ---


def answered_topic(monkeypatch: pytest.MonkeyPatch) -> Gap:
    gap = topic()
    load_pages([CAR_PAGE])
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"
    return gap


def test_a_topic_whose_page_was_withdrawn_is_open_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = answered_topic(monkeypatch)
    set_document_status(documents=[Document.objects.get()], status="archived")
    sync_pending()
    check_all(lambda _done, _of: None)
    gap.refresh_from_db()
    assert (gap.state, gap.answered_since, gap.answered_by_document) == ("open", None, None)
    assert notes(gap)[-1] == ("asked_again", "")


def test_a_topic_whose_faq_was_retired_is_open_again_within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = topic()
    load_pages(
        [
            {
                "url": "https://www.uni.example/a",
                "title": "Office",
                "text": "# Office\n\nCars are registered at the facility office on Mondays.",
            }
        ]
    )
    faq = FAQFactory(question=CARS[0], documents=[Document.objects.get()], status="published")
    sync_faq(faq.pk)
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"
    set_faq_status(faqs=[faq], status="retired")
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "open"


def test_a_new_question_opens_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = answered_topic(monkeypatch)
    ask_in_vain(CARS[0], days_ago=-0.01)
    look()
    gap.refresh_from_db()
    assert (gap.state, gap.answered_since) == ("open", None)


def test_a_topic_that_nobody_asks_about_for_four_weeks_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = answered_topic(monkeypatch)
    check_all(lambda _done, _of: None)
    gap.refresh_from_db()
    assert gap.state == "answered"
    told = notes(gap)
    Gap.objects.update(state_at=timezone.now() - timedelta(days=29), last_asked=timezone.now() - timedelta(days=40))
    check_all(lambda _done, _of: None)
    gap.refresh_from_db()
    assert gap.state == "solved"
    assert notes(gap) == told


# --- bounds and failures ---


def test_while_the_embedding_model_is_away_nothing_changes_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gap = topic()
    load_pages([CAR_PAGE])
    with monkeypatch.context() as patch:
        patch.setattr(judging, "ask_again", Mock(side_effect=EmbeddingUnavailable("away")))
        minute_later(patch)
    assert "the embedding model is away" in caplog.text
    gap.refresh_from_db()
    assert gap.state == "open"
    minute_later(monkeypatch)
    gap.refresh_from_db()
    assert gap.state == "answered"


def test_nothing_is_asked_twice_at_once_nor_again_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    topic()
    load_pages([BICYCLE_PAGE])
    asked = Mock(return_value=None)
    monkeypatch.setattr(judging, "ask_again", asked)
    monkeypatch.setattr(looks, "SETTLED", timedelta(0))
    with advisory_lock(Lock.ASKED_AGAIN):
        check_changes()
    assert not asked.called
    check_changes()
    assert asked.called
    asked.reset_mock()
    check_changes()
    assert not asked.called


def test_a_topic_far_from_what_changed_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    topic()
    asked = Mock(return_value=None)
    monkeypatch.setattr(judging, "ask_again", asked)
    page = {"url": "https://www.uni.example/choir", "title": "Choir", "text": "# Choir\n\nSing Bach on Wednesdays."}
    load_pages([page])
    minute_later(monkeypatch)
    assert not asked.called


def test_no_word_of_a_student_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="analytics"):
        answered_topic(monkeypatch)
    said = [each.getMessage() for each in caplog.records if not each.name.startswith("django.db")]
    assert any("asked again changes=1" in each for each in said)
    assert not any("car" in each.lower().split() for each in said)


def test_the_topics_page_says_what_happened(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    gap = answered_topic(monkeypatch)
    page: Any = admin_client.get(reverse("admin:analytics_gap_change", args=[gap.pk])).content.decode()
    assert "Asked again, it is answered now" in page
    assert "Car parking" in page
    assert Comment.objects.count() == 1


def test_the_home_page_says_how_many_topics_are_watched(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answered_topic(monkeypatch)
    page = admin_client.get(reverse("admin:index")).content.decode()
    assert "1 topic was asked again and is answered." in page

"""Which answers come under review, and what becomes of them when students rate them anew."""

import threading
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from analytics.inbox.presence import note_reader
from analytics.models import Comment, Reader, Review, ReviewFeed
from analytics.reviews import collect as reviews_collect
from analytics.reviews.collect import collect, collect_news
from analytics.reviews.services import judge_review
from analytics.tasks import collect_reviews
from chat.models import Conversation, Message
from tests.analytics.reviews.rows import answered, get_review, look, rate, well_answered
from tests.factories import ConversationFactory, FeedbackFactory, UserFactory

pytestmark = pytest.mark.django_db
SOON = timedelta(seconds=5)


def judged(reply: Message) -> Review:
    review = get_review(reply)
    return judge_review(review=review, version=review.version, by=UserFactory(), verdict="missing_knowledge", done=True)


def test_what_went_wrong_is_collected_with_its_reasons() -> None:
    expected = {
        answered().pk: ["abstained"],
        answered(status="failed", reason="interrupted").pk: ["failed"],
        well_answered(thumbs=-1).pk: ["thumbs_down"],
        well_answered(flags=["override"]).pk: ["injection"],
        answered(thumbs=-1, flags=["override"]).pk: ["abstained", "thumbs_down", "injection"],
    }
    Message.objects.filter(pk=well_answered().pk).update(flags=["hidden"])
    expected[Message.objects.latest("pk").pk] = ["injection"]
    well_answered()
    well_answered(thumbs=1)
    look()
    assert dict(Review.objects.values_list("message", "reasons")) == expected


def test_few_stars_bring_the_last_answer_of_a_conversation_under_review() -> None:
    conversation = ConversationFactory(stars=2)
    well_answered(conversation=conversation)
    last = well_answered(conversation=conversation)
    well_answered(conversation=ConversationFactory(stars=3))
    look()
    assert list(Review.objects.values_list("message", "reasons")) == [(last.pk, ["low_rating"])]
    well_answered(conversation=conversation)
    look()
    assert Review.objects.count() == 1


def test_the_list_can_be_read_from_the_reviews_alone() -> None:
    reply = answered()
    look()
    review = get_review(reply)
    assert reply.question
    assert review.assistant == reply.conversation.assistant
    assert (review.language, review.asked_at) == ("en", reply.question.created_at)


def test_a_question_from_before_languages_were_kept_is_read_for_its_language() -> None:
    reply = answered("Wo kann ich hier parken?")
    Message.objects.update(language="")
    look()
    assert get_review(reply).language == "de"


def test_collecting_again_changes_nothing() -> None:
    replies = [answered(), well_answered(thumbs=-1), well_answered(conversation=ConversationFactory(stars=1))]
    look()
    before = list(Review.objects.order_by("pk").values())
    look()
    assert list(Review.objects.order_by("pk").values()) == before
    assert len(before) == len(replies)
    assert not Comment.objects.exists()


def test_an_answer_that_is_being_written_waits() -> None:
    reply = answered(status="generating", finished_at=None)
    look()
    assert not Review.objects.exists()
    Message.objects.filter(pk=reply.pk).update(status="abstained", finished_at=timezone.now())
    look()
    assert Review.objects.get().message == reply


def test_a_rating_after_the_verdict_opens_it_again() -> None:
    reply = answered()
    look()
    judged(reply)
    rate(reply, -1, later=SOON)
    look()
    review = get_review(reply)
    assert (review.state, review.reasons, review.done_by) == ("open", ["abstained", "thumbs_down"], None)
    assert review.verdict == "missing_knowledge"
    assert [comment.note for comment in review.comments.all()] == ["rated_again"]
    look()
    assert review.comments.count() == 1


def test_a_verdict_after_the_rating_stands() -> None:
    reply = answered()
    look()
    rate(reply, -1, later=-SOON)
    judged(reply)
    look()
    review = get_review(reply)
    assert (review.state, review.reasons) == ("done", ["abstained", "thumbs_down"])
    assert not review.comments.exists()


def test_praise_after_the_verdict_opens_nothing() -> None:
    reply = answered()
    look()
    judged(reply)
    rate(reply, 1, later=SOON)
    look()
    assert get_review(reply).state == "done"


@pytest.mark.parametrize("value", [0, 1])
def test_a_bad_rating_that_was_taken_back_leaves_nothing_to_do(value: int) -> None:
    reply = well_answered(thumbs=-1)
    look()
    rate(reply, value)
    look()
    review = get_review(reply)
    assert (review.state, review.reasons, review.done_by) == ("done", [], None)
    assert [comment.note for comment in review.comments.all()] == ["taken_back"]
    rate(reply, -1, later=SOON)
    look()
    assert (get_review(reply).state, get_review(reply).reasons) == ("open", ["thumbs_down"])


def test_what_somebody_has_begun_with_stays_open_when_the_rating_is_taken_back() -> None:
    reply = well_answered(thumbs=-1)
    look()
    Review.objects.update(assigned_to=UserFactory())
    rate(reply, 0)
    look()
    assert (get_review(reply).state, get_review(reply).reasons) == ("open", [])
    assert get_review(reply).comments.get().note == "taken_back"


def test_more_stars_take_the_reason_away() -> None:
    conversation = ConversationFactory(stars=1)
    reply = answered(conversation=conversation)
    look()
    assert get_review(reply).reasons == ["abstained", "low_rating"]
    Conversation.objects.update(stars=5)
    look()
    assert (get_review(reply).state, get_review(reply).reasons) == ("open", ["abstained"])


def test_few_stars_after_the_verdict_open_it_again() -> None:
    reply = answered()
    look()
    judged(reply)
    Conversation.objects.update(stars=1)
    look()
    assert get_review(reply).state == "open"
    judged(reply)
    look()
    assert get_review(reply).state == "done"


def test_collecting_goes_on_where_it_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews_collect, "BATCH", 2)
    long_ago = timezone.now() - timedelta(days=30)
    replies = [answered(finished_at=long_ago + timedelta(hours=number)) for number in range(5)]
    collect(batches=1)
    assert set(Review.objects.values_list("message", flat=True)) == {reply.pk for reply in replies[:2]}
    assert ReviewFeed.objects.get(name="answers").until == replies[1].finished_at
    look()
    assert Review.objects.count() == 5
    assert ReviewFeed.objects.get(name="answers").until > timezone.now() - timedelta(minutes=1)


def test_many_answers_of_one_moment_are_all_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews_collect, "BATCH", 2)
    moment = timezone.now() - timedelta(days=1)
    for _ in range(5):
        well_answered(finished_at=moment, thumbs=-1)
    FeedbackFactory._meta.model.objects.update(updated_at=moment)
    look()
    assert Review.objects.count() == 5


def test_what_is_saved_late_is_found_all_the_same() -> None:
    look()
    reply = answered(finished_at=timezone.now() - timedelta(minutes=1))
    look()
    assert Review.objects.get().message == reply


def test_an_open_list_looks_only_where_nobody_has_just_looked(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    collect()
    reply = answered()
    with django_assert_num_queries(1):
        collect_news()
    assert not Review.objects.exists()
    ReviewFeed.objects.update(looked_at=timezone.now() - timedelta(minutes=1))
    collect_news()
    assert Review.objects.get().message == reply


def test_collecting_takes_as_many_queries_for_40_answers_as_for_4() -> None:
    look()
    counts = []
    for count in (4, 40):
        for _ in range(count):
            answered(thumbs=-1)
        with CaptureQueriesContext(connection) as queries:
            look()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_who_had_a_review_open_long_ago_is_forgotten() -> None:
    reply, member = answered(), UserFactory()
    look()
    note_reader(get_review(reply), member)
    Reader.objects.update(seen_at=timezone.now() - timedelta(days=2))
    look()
    assert not Reader.objects.exists()


def test_a_review_goes_with_its_conversation() -> None:
    reply = answered()
    look()
    reply.conversation.delete()
    assert not Review.objects.exists()
    look()


def test_the_task_stops_in_time_and_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from celery.exceptions import SoftTimeLimitExceeded

    reply = answered()
    monkeypatch.setattr(reviews_collect, "recheck", Mock(side_effect=SoftTimeLimitExceeded))
    collect_reviews()
    assert Review.objects.get().message == reply


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_nothing_twice() -> None:
    for _ in range(30):
        answered(thumbs=-1)
    failures: list[BaseException] = []
    ready = threading.Barrier(4)

    def work() -> None:
        try:
            ready.wait(timeout=10)
            look()
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not failures
    look()
    assert Review.objects.count() == 30
    assert not Comment.objects.exists()

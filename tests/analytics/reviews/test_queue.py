"""The review queue in the admin: its list, the page of an answer, what staff do there, two of them at once, who may."""

import threading
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analytics.inbox.items import OutOfDate
from analytics.inbox.presence import note_reader
from analytics.inbox.services import assign
from analytics.models import EvaluationQuestion, Reader, Review
from analytics.reviews.admin import detail
from analytics.reviews.services import (
    finish_reviews,
    judge_review,
    judge_reviews,
    take_reviews,
)
from chat.models import Conversation, Message
from tests.analytics.reviews.rows import answered, get_review, look, new_review, rate, well_answered
from tests.analytics.rows import url_of
from tests.factories import (
    AssistantFactory,
    CitationFactory,
    ConversationFactory,
    DocumentFactory,
    FAQFactory,
    FeedbackFactory,
    PassageFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
LIST = reverse("admin:analytics_review_changelist")
MAY = ("analytics.view_review", "analytics.change_review")
SCRIPT = "<script>alert(1)</script>"


def sign_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def anna() -> Any:
    return UserFactory(username="anna", permissions=MAY)


@pytest.fixture
def ben() -> Any:
    return UserFactory(username="ben", permissions=MAY)


def step(
    client: Client, review: Review, what: str, *, version: int | None = None, query: str = "", **typed: str
) -> Any:
    data = {"step": what, "version": review.version if version is None else version, "verdict": "", "comment": ""}
    return client.post(url_of(review) + query, {**data, **typed})


def again(review: Review) -> Review:
    return Review.objects.get(pk=review.pk)


# --- the list ---


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"One?", "Two?"}),
        ("?state=all", {"One?", "Two?", "Three?"}),
        ("?state=done", {"Three?"}),
        ("?reason=abstained", {"One?"}),
        ("?reason=thumbs_down", {"Two?"}),
        ("?assigned=me", {"One?"}),
        ("?assigned=nobody", {"Two?"}),
        ("?state=all&assigned=others", {"Three?"}),
        ("?state=all&verdict=abuse", {"Three?"}),
        ("?verdict=none", {"One?", "Two?"}),
        ("?language__exact=de", {"Two?"}),
        ("?q=two", {"Two?"}),
        ("?state=nonsense&reason=nonsense", set()),
    ],
)
def test_the_list_is_filtered_and_searched(anna: Any, query: str, shown: set[str]) -> None:
    one, two, three = answered("One?"), well_answered("Two?", thumbs=-1), answered("Three?", status="failed")
    look()
    Review.objects.filter(message=one).update(assigned_to=anna)
    Review.objects.filter(message=two).update(language="de")
    Review.objects.filter(message=three).update(state="done", verdict="abuse", assigned_to=UserFactory())
    page = sign_in(anna).get(LIST + query).content.decode()
    assert {text for text in ("One?", "Two?", "Three?") if f">{text}</a>" in page} == shown


def test_the_list_is_filtered_by_assistant_and_period(anna: Any) -> None:
    old, new = new_review("Old?"), new_review("New?")
    Review.objects.filter(pk=old.pk).update(asked_at=timezone.now() - timedelta(days=40))
    client = sign_in(anna)
    since = (timezone.now() - timedelta(days=7)).isoformat()
    assert "Old?" not in client.get(LIST, {"asked_at__gte": since}).content.decode()
    page = client.get(LIST, {"assistant__id__exact": old.assistant_id}).content.decode()
    assert "Old?" in page
    assert "New?" not in page
    assert new.assistant_id != old.assistant_id


def test_what_is_to_do_comes_first_and_the_newest_of_it(anna: Any) -> None:
    first, second, third = new_review("First?"), new_review("Second?"), new_review("Third?")
    Review.objects.filter(pk=third.pk).update(state="done")
    page = sign_in(anna).get(LIST + "?state=all").content.decode()
    places = [page.index(url_of(review)) for review in (second, first, third)]
    assert places == sorted(places)


def test_opening_the_list_collects_what_is_new(anna: Any) -> None:
    answered("Just now?")
    assert "Just now?" in sign_in(anna).get(LIST).content.decode()


def test_the_list_takes_as_many_queries_for_60_as_for_3(anna: Any) -> None:
    client, counts = sign_in(anna), []
    client.get(LIST)
    for more in (3, 57):
        for _ in range(more):
            answered(thumbs=-1)
        look()
        Review.objects.update(assigned_to=anna, done_by=anna)
        with CaptureQueriesContext(connection) as queries:
            client.get(LIST)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def act(client: Client, action: str, *reviews: Review) -> str:
    data = {"action": action, "_selected_action": [review.pk for review in reviews]}
    return client.post(LIST + "?state=all", data, follow=True).content.decode()


def test_several_are_taken_judged_and_done_at_once(anna: Any) -> None:
    client, reviews = sign_in(anna), [new_review(), new_review()]
    act(client, "take", *reviews)
    act(client, "judge_out_of_scope", *reviews)
    assert "2 were changed." in act(client, "finish", *reviews)
    for review in Review.objects.all():
        assert (review.assigned_to, review.verdict, review.state, review.done_by) == (
            anna,
            "out_of_scope",
            "done",
            anna,
        )
        assert review.version == 3
    assert LogEntry.objects.filter(user=anna).count() == 6


def test_what_a_colleague_did_stays_when_several_are_done_at_once(anna: Any, ben: Any) -> None:
    mine, free = new_review(), new_review()
    Review.objects.filter(pk=mine.pk).update(assigned_to=ben, verdict="abuse", state="done", done_by=ben)
    client = sign_in(anna)
    for action in ("take", "judge_out_of_scope", "finish"):
        page = act(client, action, mine, free)
        assert "1 was changed. 1 was left as it is" in page
    assert (again(mine).assigned_to, again(mine).verdict, again(mine).done_by) == (ben, "abuse", ben)


# --- the page ---


def test_the_page_shows_what_was_said_and_what_it_was_made_from(anna: Any) -> None:
    passage = PassageFactory(text="The fee is 12 euros.")
    row = {
        "passage": passage.pk,
        "document": passage.document_id,
        "title": "Parking fees",
        "heading": "Permits",
        "page": 3,
        "rank": 1,
        "score": 0.71234,
        "origins": {"lexical": 4, "dense": 2},
        "given": True,
    }
    conversation = ConversationFactory()
    well_answered("Before?", conversation=conversation)
    reply = answered(
        "And the permit?",
        conversation=conversation,
        rewritten="How much is a parking permit?",
        retrieved=[row, {**row, "passage": 0, "rank": 2, "given": False, "title": "Bicycles"}],
        faq=FAQFactory(question="What does parking cost?"),
        faq_similarity=0.83,
        evidence=0.31,
        profile="default",
        prompt="Ours 4",
        model="gemma",
        route="question",
        timings_ms={"total": 1234},
    )
    CitationFactory(message=reply, passage=passage, n=2)
    FeedbackFactory(message=reply, value=-1, reasons=["outdated"], comment="It is 15 now.")
    well_answered("After?", conversation=conversation)
    look()
    anna.user_permissions.set([])
    page = sign_in(UserFactory(is_superuser=True)).get(url_of(get_review(reply))).content.decode()
    for part in (
        *("Before?", "And the permit?", "How much is a parking permit?", "After?"),
        *("Parking fees", "Permits", "page 3", "0.712", "Same words: number 4", "cited as [2]", "not used"),
        *(
            "The fee is 12 euros.",
            "What does parking cost?",
            "0.83",
            "0.31",
            "too low: needs 0.40",
            "default",
            "Ours 4",
            "gemma",
        ),
        *("1234 ms", "outdated", "It is 15 now.", "thumbs down", "No answer given"),
        f"?message={reply.question_id}",
    ):
        assert part in page, part


def test_a_long_answer_around_it_is_scrolled_with_the_keyboard(anna: Any) -> None:
    conversation = ConversationFactory()
    before = well_answered("Before?", conversation=conversation)
    Message.objects.filter(pk=before.pk).update(text="A line.\n" * 50)
    page = sign_in(anna).get(url_of(new_review(conversation=conversation))).content.decode()
    said = page.split("A line.")[0].rpartition("<div")[2]
    assert 'tabindex="0"' in said
    assert 'aria-label="Assistant"' in said


def test_an_answer_from_before_anything_was_kept_has_a_page_too(anna: Any) -> None:
    review = new_review()
    Message.objects.update(language="", retrieved=[])
    assert sign_in(anna).get(url_of(review)).status_code == 200


def test_nothing_that_a_student_wrote_is_markup(anna: Any) -> None:
    row = {"passage": 1, "document": 1, "title": SCRIPT, "heading": SCRIPT, "page": None, "rank": 1, "score": 1}
    row |= {"origins": {SCRIPT: 1}, "given": True}
    reply = answered(SCRIPT, rewritten=SCRIPT, retrieved=[row])
    Message.objects.filter(pk=reply.pk).update(text=SCRIPT)
    FeedbackFactory(message=reply, value=-1, comment=SCRIPT)
    look()
    client = sign_in(anna)
    for address in (LIST, url_of(get_review(reply))):
        page = client.get(address).content.decode()
        assert SCRIPT not in page
        assert "&lt;script&gt;" in page


def test_the_page_takes_as_many_queries_for_60_messages_as_for_6(anna: Any) -> None:
    conversation, client, counts = ConversationFactory(), sign_in(anna), []
    review = review_of_new(conversation)
    client.get(url_of(review))
    for more in (3, 27):
        for _ in range(more):
            CitationFactory(message=well_answered(conversation=conversation, thumbs=1))
            step(client, again(review), "save", comment="Hm.")
        with CaptureQueriesContext(connection) as queries:
            client.get(url_of(review))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def review_of_new(conversation: Conversation) -> Review:
    for _ in range(4):
        well_answered(conversation=conversation)
    return new_review(conversation=conversation)


def test_a_draft_faq_begins_with_the_question(anna: Any) -> None:
    review = new_review("What is it?", rewritten="What is the permit?")
    user = UserFactory(permissions=[*MAY, "faqs.add_faq"])
    page = sign_in(user).get(url_of(review))
    address = urlsplit(page.context["faq_address"])
    assert address.path == reverse("admin:faqs_faq_add")
    assert parse_qs(address.query) == {"question": ["What is the permit?"], "language": ["en"]}
    assert not sign_in(anna).get(url_of(review)).context["faq_address"]


KEEPS = (*MAY, "analytics.add_evaluationquestion", "analytics.change_evaluationquestion")


def keep_question(client: Client, review: Review) -> str:
    address = reverse("admin:analytics_review_keep", args=[review.pk])
    return client.post(address, follow=True).content.decode()


def test_a_question_begins_in_the_regression_set_with_the_documents_that_its_answer_cited(anna: Any) -> None:
    review = new_review()
    cited = CitationFactory(message=review.message).document
    address = reverse("admin:analytics_review_keep", args=[review.pk])
    assert sign_in(anna).post(address).status_code == 403
    client = sign_in(UserFactory(permissions=KEEPS))
    page = keep_question(client, review)
    kept = EvaluationQuestion.objects.get()
    assert [judgment.document for judgment in kept.judgments.all()] == [cited]
    assert "1 document that the answer cited is expected: check it under" in page
    assert f'href="{url_of(kept)}"' in page
    assert f'href="{url_of(kept)}"' not in sign_in(anna).get(url_of(review)).content.decode()
    right = DocumentFactory(collection=cited.collection)
    (judgment,) = kept.judgments.all()
    form = {
        **{name: getattr(kept, name) for name in ("text", "reference", "status")},
        "evaluation_set": kept.evaluation_set_id,
        "answerable": "true",
        "judgments-TOTAL_FORMS": 2,
        "judgments-INITIAL_FORMS": 1,
        "judgments-1-document": right.pk,
        "judgments-0-id": judgment.pk,
        "judgments-0-question": kept.pk,
        "judgments-0-DELETE": "on",
        "judgments-0-document": cited.pk,
        "judgments-0-grade": 1,
        "judgments-1-grade": 1,
    }
    assert client.post(url_of(kept), form).status_code == 302
    assert [judgment.document for judgment in kept.judgments.all()] == [right]
    keep_question(client, review)
    assert [judgment.document for judgment in kept.judgments.all()] == [right]


def test_what_was_cited_wrongly_or_not_at_all_is_not_expected(anna: Any) -> None:
    wrong, silent = new_review("Where do I park?"), new_review("Is there a sauna?")
    CitationFactory(message=wrong.message)
    Review.objects.filter(pk=wrong.pk).update(verdict="wrong_retrieval")
    client = sign_in(UserFactory(permissions=KEEPS))
    for review in (wrong, silent):
        assert "No document is expected yet: say which is right" in keep_question(client, review)
    assert [question.judgments.count() for question in EvaluationQuestion.objects.all()] == [0, 0]


def test_why_a_question_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail, "keep_as_regression", Mock(side_effect=ValidationError("Not this one.")))
    assert "Not this one." in keep_question(sign_in(UserFactory(permissions=KEEPS)), new_review())


# --- steps ---


def test_done_leads_to_the_next_one(anna: Any) -> None:
    third, second, first = new_review("Third?"), new_review("Second?"), new_review("First?")
    client = sign_in(anna)
    reply = step(client, first, "done", verdict="wrong_answer", comment="See the fees page.")
    assert reply.url == url_of(second)
    done = again(first)
    assert (done.state, done.verdict, done.done_by, done.assigned_to) == ("done", "wrong_answer", anna, anna)
    assert [(comment.by, comment.text) for comment in done.comments.all()] == [(anna, "See the fees page.")]
    assert step(client, second, "done").url == url_of(third)
    assert step(client, third, "done").url == reverse("to-do")
    entry = LogEntry.objects.get(object_id=str(first.pk))
    assert "First?" not in entry.object_repr + entry.change_message
    assert "fees page" not in entry.object_repr + entry.change_message


def test_the_next_one_is_of_the_same_filtered_list_and_nobody_elses(anna: Any, ben: Any) -> None:
    german, taken, read, other, first = (new_review(f"{number}?") for number in range(5))
    Review.objects.exclude(pk=other.pk).update(language="de")
    Review.objects.filter(pk=taken.pk).update(assigned_to=ben)
    note_reader(read, ben)
    filters = "?_changelist_filters=language__exact%3Dde"
    reply = step(sign_in(anna), first, "done", query=filters)
    assert reply.url == url_of(german) + filters


def test_the_way_through_the_list(anna: Any) -> None:
    last, middle, first = (new_review(f"{number}?") for number in range(3))
    page = sign_in(anna).get(url_of(middle)).context
    assert (page["previous"], page["next"], page["left"]) == (url_of(first), url_of(last), 3)
    Review.objects.filter(pk=middle.pk).update(state="done")
    page = sign_in(anna).get(url_of(middle)).context
    assert (page["previous"], page["next"], page["left"]) == (url_of(first), url_of(last), 2)
    filters = "?_changelist_filters=state%3Dall"
    page = sign_in(anna).get(url_of(last) + filters).context
    assert (page["previous"], page["next"]) == (url_of(first) + filters, url_of(middle) + filters)


def test_a_list_that_cannot_be_read_from_the_address_does_no_harm(anna: Any) -> None:
    review = new_review()
    page = sign_in(anna).get(url_of(review) + "?_changelist_filters=p%3Dx%26nonsense__x%3D1")
    assert page.status_code == 200


def test_only_saving_leaves_it_to_do(anna: Any) -> None:
    review = new_review()
    step(sign_in(anna), review, "save", verdict="abuse", comment="Look at the other one.")
    saved = again(review)
    assert (saved.state, saved.verdict, saved.assigned_to) == ("open", "abuse", anna)


def test_it_is_taken_on_and_given_back(anna: Any) -> None:
    review, client = new_review(), sign_in(anna)
    step(client, review, "take")
    assert again(review).assigned_to == anna
    step(client, again(review), "release")
    assert again(review).assigned_to is None


def test_what_was_typed_stays_when_it_is_taken_on(anna: Any) -> None:
    review, client = new_review(), sign_in(anna)
    page = step(client, review, "take", verdict="abuse", comment="Half a thou")
    assert "Half a thou" in page.content.decode()
    assert page.context["typed"].verdict == "abuse"
    assert (again(review).assigned_to, again(review).verdict) == (anna, "")
    step(client, again(review), "done", version=page.context["typed"].version, verdict="abuse")
    assert again(review).verdict == "abuse"


def test_what_is_done_is_opened_again(anna: Any) -> None:
    review, client = new_review(), sign_in(anna)
    step(client, review, "done", verdict="abuse")
    step(client, again(review), "reopen", verdict="abuse")
    assert (again(review).state, again(review).done_by, again(review).done_at) == ("open", None, None)


def test_the_last_step_is_undone(anna: Any) -> None:
    review, client = new_review(), sign_in(anna)
    page = client.get(step(client, review, "done", verdict="abuse").url)
    assert f"{review} is done." in page.content.decode()
    token = page.context["undo"]["token"]
    assert client.post(reverse("admin:analytics_review_undo"), {"token": token}).url == url_of(review)
    undone = again(review)
    assert (undone.state, undone.verdict, undone.assigned_to, undone.done_by) == ("open", "", None, None)
    assert "is done." not in client.get(LIST).content.decode()


def test_what_somebody_changed_since_is_not_undone(anna: Any, ben: Any) -> None:
    review, client = new_review(), sign_in(anna)
    token = client.get(step(client, review, "done", verdict="abuse").url).context["undo"]["token"]
    step(sign_in(ben), again(review), "done", verdict="out_of_scope")
    page = client.post(reverse("admin:analytics_review_undo"), {"token": token}, follow=True).content.decode()
    assert "Nothing was undone" in page
    assert again(review).verdict == "out_of_scope"
    assert "no longer be undone" in (
        client.post(reverse("admin:analytics_review_undo"), {"token": token + "x"}, follow=True).content.decode()
    )


@pytest.mark.parametrize(("typed", "said"), [({"verdict": "x"}, "Choose one"), ({"comment": "x" * 2001}, "shorten")])
def test_a_mistake_is_told_and_nothing_typed_is_lost(anna: Any, typed: dict[str, str], said: str) -> None:
    review = new_review()
    page = step(sign_in(anna), review, "done", **typed)
    assert said in page.content.decode()
    assert page.context["typed"].comment == typed.get("comment", "")
    assert (again(review).state, again(review).version) == ("open", 0)
    assert not again(review).comments.exists()


def test_a_step_that_does_not_exist_is_refused(anna: Any) -> None:
    review = new_review()
    assert step(sign_in(anna), review, "explode").status_code == 404
    assert step(sign_in(anna), review, "done", version=-1).status_code == 409


# --- two at once ---


def test_who_saves_second_sees_what_the_first_did_and_keeps_what_they_typed(anna: Any, ben: Any) -> None:
    review = new_review()
    step(sign_in(anna), review, "done", verdict="wrong_answer")
    second = sign_in(ben)
    page = step(second, review, "done", verdict="out_of_scope", comment="My own view")
    assert page.status_code == 409
    html = page.content.decode()
    for part in (
        "Nothing is saved yet. See under",
        "anna changed it meanwhile",
        "Right pages, wrong answer",
        "My own view",
    ):
        assert part in html
    assert page.context["typed"].verdict == "out_of_scope"
    assert (again(review).verdict, again(review).done_by) == ("wrong_answer", anna)
    assert not again(review).comments.exists()
    step(second, review, "done", version=page.context["typed"].version, verdict="out_of_scope", comment="My own view")
    assert (again(review).verdict, again(review).done_by) == ("out_of_scope", ben)


def test_what_is_rated_again_meanwhile_is_told_too(anna: Any) -> None:
    review = new_review()
    client = sign_in(anna)
    step(client, review, "done", verdict="abuse")
    seen = again(review)
    rate(seen.message, -1, later=timedelta(seconds=5))
    look()
    page = step(client, seen, "save", verdict="out_of_scope")
    assert page.status_code == 409
    assert again(review).state == "open"


def test_a_page_says_who_else_has_it_open(anna: Any, ben: Any) -> None:
    review = new_review()
    sign_in(ben).get(url_of(review))
    assert "Also has this open: ben" in sign_in(anna).get(url_of(review)).content.decode()
    reading = reverse("admin:analytics_review_reading", args=[review.pk])
    assert sign_in(ben).post(reading).json() == {"version": 0, "readers": ["anna"]}
    Reader.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert sign_in(anna).post(reading).json() == {"version": 0, "readers": []}


def test_who_is_done_with_it_no_longer_has_it_open(anna: Any, ben: Any) -> None:
    review, client = new_review(), sign_in(anna)
    client.get(url_of(review))
    step(client, review, "done")
    assert sign_in(ben).get(url_of(review)).context["readers"] == []


def test_a_review_deleted_meanwhile_leads_away(anna: Any) -> None:
    review = new_review()
    Conversation.objects.all().delete()
    assert step(sign_in(anna), review, "done").status_code == 302


def at_once(*works: Any) -> list[Any]:
    """Return what each returned or raised, all begun in the same moment."""
    ready, results = threading.Barrier(len(works)), [None] * len(works)

    def run(place: int) -> None:
        try:
            ready.wait(timeout=10)
            results[place] = works[place]()
        except OutOfDate as error:
            results[place] = error  # type: ignore[call-overload]
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[place]) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return results


@pytest.mark.django_db(transaction=True)
def test_of_two_verdicts_in_the_same_moment_one_is_saved_and_the_other_is_told(anna: Any, ben: Any) -> None:
    for _ in range(5):
        review = new_review()
        judge = partial(judge_review, review=review, version=0, done=True)
        results = at_once(
            partial(judge, by=anna, verdict="abuse", comment="A"),
            partial(judge, by=ben, verdict="out_of_scope", comment="B"),
            partial(assign, item=review, version=0, to=ben, due_on=None, by=anna),
        )
        assert sum(isinstance(result, OutOfDate) for result in results) == 2
        assert again(review).version == 1
        assert again(review).comments.count() <= 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_the_same_ones_each_gets_what_the_other_has_not(anna: Any, ben: Any) -> None:
    for _ in range(20):
        answered()
    look()
    taken = at_once(
        lambda: take_reviews(reviews=Review.objects.all(), by=anna),
        lambda: take_reviews(reviews=Review.objects.order_by("-pk"), by=ben),
    )
    assert sum(map(len, taken)) == 20
    assert set(Review.objects.values_list("version", flat=True)) == {1}


def test_several_at_once_leave_alone_what_is_decided(anna: Any) -> None:
    review = new_review()
    everything = Review.objects.all()
    assert judge_reviews(reviews=everything, verdict="abuse", by=anna) == [review]
    assert judge_reviews(reviews=everything, verdict="out_of_scope", by=anna) == []
    assert finish_reviews(reviews=everything, by=anna) == [review]
    assert finish_reviews(reviews=everything, by=anna) == []


# --- who may ---


@pytest.mark.parametrize("permissions", [(), ("analytics.view_review",)])
def test_who_may_not_judge_does_not(permissions: tuple[str, ...]) -> None:
    review = new_review()
    client = sign_in(UserFactory(permissions=permissions))
    expected = 200 if permissions else 403
    assert client.get(LIST).status_code == expected
    page = client.get(url_of(review))
    assert page.status_code == expected
    assert b'name="step"' not in page.content
    assert step(client, review, "done").status_code == 403
    for name, args in (("undo", []), ("reading", [review.pk]), ("keep", [review.pk])):
        assert client.post(reverse(f"admin:analytics_review_{name}", args=args)).status_code == 403
    assert not Reader.objects.exists()
    assert again(review).version == 0


def test_staff_see_the_reviews_of_their_own_assistants_alone() -> None:
    team = Group.objects.create(name="Faculty")
    mine = AssistantFactory(name="Ours")
    mine.teams.add(team)
    own = new_review("Ours?", conversation=ConversationFactory(assistant=mine))
    foreign, lost = new_review("Theirs?"), new_review("Nobodys?")
    Review.objects.filter(pk=lost.pk).update(assistant=None)
    client = sign_in(UserFactory(permissions=[*MAY, "analytics.add_evaluationquestion"], teams=[team]))
    page = client.get(LIST).content.decode()
    assert "Ours?" in page
    assert "Theirs?" not in page
    assert "Nobodys?" not in page
    assert str(foreign.assistant) not in page
    assert client.get(url_of(own)).status_code == 200
    for review in (foreign, lost):
        assert client.get(url_of(review)).status_code == 302
        assert step(client, review, "done").status_code == 302
        for name in ("reading", "keep"):
            assert client.post(reverse(f"admin:analytics_review_{name}", args=[review.pk])).status_code == 404
        act(client, "finish", review)
        assert again(review).version == 0
    assert step(client, own, "done").url == reverse("to-do")


def test_no_review_is_added_or_deleted_by_hand(admin_client: Client) -> None:
    review = new_review()
    assert admin_client.get(reverse("admin:analytics_review_add")).status_code == 403
    assert admin_client.post(url_of(review, "delete"), {"post": "yes"}).status_code == 403


def test_a_conversation_under_review_can_be_deleted(admin_client: Client) -> None:
    review = new_review()
    address = reverse("admin:chat_conversation_delete", args=[review.message.conversation_id])
    admin_client.post(address, {"post": "yes"})
    assert not Conversation.objects.exists()
    assert not Review.objects.exists()

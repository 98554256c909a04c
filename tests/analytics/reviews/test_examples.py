"""The verdict that an answer was right teaches which FAQ its question means, until the verdict is taken back."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from analytics.models import Review
from analytics.reviews.confirmed import confirm_meaning
from analytics.reviews.services import judge_review, judge_reviews
from faqs.indexing import sync_faq
from faqs.models import FAQ, ConfirmedQuestion
from faqs.retriever import match
from knowledge.indexing.documents import sync_document
from knowledge.retrieval.scope import build_scope
from tests.analytics.reviews.rows import answered, get_review, look
from tests.analytics.rows import url_of
from tests.factories import CitationFactory, DocumentFactory, FAQFactory, UserFactory
from tests.faqs.matching.conftest import ask
from tests.staff.api import Program

pytestmark = pytest.mark.django_db
ASKED = "My name is Ada Lovelace, where does the blinking cursor laugh at me?"
LIKE = "Where does the blinking cursor laugh at people?"
RIGHT, WRONG = "correct_answer", "wrong_answer"
MAY = ("analytics.view_review", "analytics.change_review")
OFFICE = {"n": 1, "question": "How do I reset my password?", "text": "By mail."}
LIST = reverse("admin:analytics_review_changelist")


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda _id: None)


@pytest.fixture
def faq() -> FAQ:
    made = []
    for question in ("How do I reset my password?", "When does the library close?"):
        document = DocumentFactory(title=question)
        sync_document(document.pk)
        made.append(FAQFactory(question=question, documents=[document], status="published"))
        sync_faq(made[-1].pk)
    return made[0]


@pytest.fixture
def publisher() -> Any:
    return UserFactory(permissions=[*MAY, "faqs.publish_faq"])


def page_of(faq: FAQ) -> Any:
    return faq.sources.get().document


def review_of(relied_on: FAQ, text: str = ASKED, **answer: Any) -> Review:
    """Create a review of an answer that surely relied on the FAQ: it was close, and its page is cited."""
    cited = answer.pop("cited", page_of(relied_on))
    values = {"status": "complete", "reason": "", "faq": relied_on, "faq_similarity": 0.8, **answer}
    reply = answered(text, thumbs=-1, **values)
    if cited:
        CitationFactory(message=reply, n=1, document=cited)
    look()
    return get_review(reply)


def again(review: Review) -> Review:
    return Review.objects.get(pk=review.pk)


def judge(review: Review, verdict: str, by: Any) -> Review:
    return judge_review(review=review, version=again(review).version, by=by, verdict=verdict, done=True)


def surely_matched() -> str | None:
    (best, *_others) = match(ask(LIKE), scope=build_scope(), learned=True)
    return best.question if best.similarity > 0.7 else None


def sign_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def press(client: Client, review: Review, verdict: str) -> Any:
    data = {"step": "done", "version": again(review).version, "verdict": verdict, "comment": ""}
    return client.post(url_of(review), data, follow=True)


def test_a_right_answer_teaches_the_faq_that_it_relied_on_without_personal_data(faq: FAQ, publisher: Any) -> None:
    review = review_of(faq)
    assert surely_matched() is None
    judge(review, RIGHT, publisher)
    assert surely_matched() == faq.question
    taught = ConfirmedQuestion.objects.get()
    assert (taught.faq, taught.confirmed_by) == (faq, publisher)
    assert "Lovelace" not in taught.text


def test_another_verdict_takes_the_example_back(faq: FAQ, publisher: Any) -> None:
    review = review_of(faq)
    judge(review, RIGHT, publisher)
    judge(review, WRONG, UserFactory(permissions=MAY))
    assert not ConfirmedQuestion.objects.exists()
    assert surely_matched() is None
    assert again(review).confirmed_by_verdict is False


@pytest.mark.parametrize(
    "answer",
    [
        {"faq_similarity": 0.6},
        {"faq": None, "faq_similarity": None},
        {"cited": None},
        {"status": "stopped"},
    ],
    ids=["the FAQ was not close", "no FAQ steered it", "none of its pages is cited", "the answer was stopped"],
)
def test_an_answer_that_relied_on_no_faq_teaches_nothing(faq: FAQ, publisher: Any, answer: dict[str, Any]) -> None:
    judge(review_of(faq, **answer), RIGHT, publisher)
    assert not ConfirmedQuestion.objects.exists()


def test_a_page_of_another_faq_teaches_nothing(faq: FAQ, publisher: Any) -> None:
    other = FAQ.objects.exclude(pk=faq.pk).get()
    judge(review_of(faq, cited=page_of(other)), RIGHT, publisher)
    assert not ConfirmedQuestion.objects.exists()


def test_the_written_answer_of_an_faq_teaches_it_without_a_citation(faq: FAQ, publisher: Any) -> None:
    judge(review_of(faq, cited=None, office=OFFICE), RIGHT, publisher)
    assert ConfirmedQuestion.objects.get().faq == faq


def test_an_faq_that_is_withdrawn_is_not_taught(faq: FAQ, publisher: Any) -> None:
    review = review_of(faq)
    FAQ.objects.filter(pk=faq.pk).update(status="draft")
    judge(review, RIGHT, publisher)
    assert not ConfirmedQuestion.objects.exists()


def test_who_may_not_publish_judges_and_teaches_nothing(faq: FAQ) -> None:
    review, member = review_of(faq), UserFactory(permissions=MAY)
    assert judge(review, RIGHT, member).verdict == RIGHT
    assert not ConfirmedQuestion.objects.exists()
    assert "also says that questions like this one" not in sign_in(member).get(url_of(review)).content.decode()


def test_what_staff_said_a_question_means_is_left_alone_by_verdicts(faq: FAQ, publisher: Any) -> None:
    review, other = review_of(faq), FAQ.objects.exclude(pk=faq.pk).get()
    confirm_meaning(review_id=review.pk, meant=str(other.pk), by=publisher)
    judge(review, RIGHT, publisher)
    assert ConfirmedQuestion.objects.get().faq == other
    judge(review, WRONG, publisher)
    assert ConfirmedQuestion.objects.get().faq == other


def test_the_page_says_what_a_verdict_teaches_before_and_after_and_undoing_takes_it_back(
    faq: FAQ, publisher: Any
) -> None:
    review, client = review_of(faq), sign_in(publisher)
    before = client.get(url_of(review)).content.decode()
    assert f"also says that questions like this one mean the FAQ “{faq.question}”" in before
    after = press(client, review, RIGHT)
    assert f"the next question like this one is matched to the FAQ “{faq.question}”" in after.content.decode()
    assert '"confirmed"' in LogEntry.objects.latest("pk").change_message
    token = after.context["undo"]["token"]
    undone = client.post(reverse("admin:analytics_review_undo"), {"token": token}, follow=True).content.decode()
    assert "Taken back" in undone
    assert not ConfirmedQuestion.objects.exists()


def test_several_at_once_are_learned_from_and_counted(faq: FAQ, publisher: Any) -> None:
    taught, untaught = review_of(faq), review_of(faq, cited=None)
    data = {"action": "judge_correct_answer", "_selected_action": [taught.pk, untaught.pk]}
    said = sign_in(publisher).post(LIST, data, follow=True).content.decode()
    assert "the question of 1 means the FAQ that its answer relied on" in said
    assert (again(taught).confirmed_by_verdict, again(untaught).confirmed_by_verdict) == (True, False)
    entries = LogEntry.objects.values_list("object_id", "change_message")
    assert {pk for pk, said in entries if "confirmed" in said} == {str(taught.pk)}


def test_many_at_once_are_embedded_by_a_worker(faq: FAQ, publisher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqs.matching.confirmed.EMBEDDED_AT_ONCE", 1)
    reviews = [review_of(faq), review_of(faq, "Where does the cursor blink?")]
    everything = Review.objects.filter(pk__in=[review.pk for review in reviews])
    assert len(judge_reviews(reviews=everything, verdict=RIGHT, by=publisher)) == 2
    assert [question.vectors.count() for question in ConfirmedQuestion.objects.all()] == [0, 0]


def test_a_program_reads_what_its_verdict_taught(faq: FAQ, publisher: Any) -> None:
    review, program = review_of(faq), Program(publisher)
    seen = program.get(f"/reviews/{review.pk}/").json()
    assert seen["meant"] is None
    body = {"version": seen["version"], "verdict": RIGHT, "done": True}
    judged = program.post(f"/reviews/{review.pk}/judge/", body).json()
    assert judged["meant"] == {"faq": faq.pk, "by_verdict": True}
    back = program.post(f"/reviews/{review.pk}/judge/", {**body, "version": judged["version"], "verdict": WRONG})
    assert back.json()["meant"] is None

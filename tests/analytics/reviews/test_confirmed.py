"""Staff say in a review which FAQ a question means; it is learned from, and goes with the student's question."""

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from analytics.models import Review
from analytics.reviews.confirmed import confirm_meaning
from chat.models import Conversation
from faqs.indexing import sync_faq
from faqs.models import FAQ, ConfirmedQuestion, ConfirmedVector
from faqs.retriever import match
from knowledge.indexing.documents import sync_document
from knowledge.retrieval.scope import build_scope
from tests.analytics.reviews.rows import new_review
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory, UserFactory
from tests.faqs.matching.conftest import ask

pytestmark = pytest.mark.django_db
ASKED = "My name is Ada Lovelace, where does the blinking cursor laugh at me?"
DOORS = ("change", "meant", "faqs")
LIKE = "Where does the blinking cursor laugh at people?"


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("faqs.tasks.index_faq", "faqs.tasks.fit_matcher", "knowledge.tasks.index_document"):
        monkeypatch.setattr(f"{task}.delay", lambda _id: None)


@pytest.fixture
def faqs() -> tuple[FAQ, FAQ]:
    made = []
    for question in ("How do I reset my password?", "When does the library close?"):
        document = DocumentFactory(title=question)
        sync_document(document.pk)
        faq = FAQFactory(question=question, documents=[document], status="published")
        sync_faq(faq.pk)
        made.append(faq)
    return made[0], made[1]


def staff(*permissions: str) -> Client:
    client = Client()
    user = UserFactory(permissions=["analytics.view_review", "analytics.change_review", *permissions])
    client.force_login(user)
    return client


def first(text: str) -> tuple[str, bool]:
    (best, *_others) = match(ask(text), scope=build_scope(), learned=True)
    return best.question, best.similarity > 0.7


def test_the_next_question_like_it_is_matched_to_the_faq(faqs: tuple[FAQ, FAQ]) -> None:
    review = new_review(ASKED)
    client = staff("faqs.publish_faq", "faqs.view_faq")
    page = client.get(reverse("admin:analytics_review_change", args=[review.pk])).content.decode()
    assert "Which FAQ is meant?" in page
    assert faqs[0].question in page
    assert first(LIKE)[1] is False
    address = reverse("admin:analytics_review_meant", args=[review.pk])
    assert client.post(address, {"meant": faqs[0].pk}).status_code == 302
    assert first(LIKE) == (faqs[0].question, True)
    assert "Lovelace" not in ConfirmedQuestion.objects.get().text
    client.post(address, {"meant": faqs[1].pk})
    assert first(LIKE) == (faqs[1].question, True)
    assert ConfirmedQuestion.objects.count() == 1
    client.post(address, {"meant": "none"})
    assert match(ask(LIKE), scope=build_scope(), learned=True) == []
    client.post(address, {"meant": ""})
    assert not ConfirmedQuestion.objects.exists()
    assert first(LIKE)[1] is False


def test_who_may_not_publish_cannot_say_it(faqs: tuple[FAQ, FAQ]) -> None:
    review = new_review(ASKED)
    client = staff("faqs.view_faq")
    assert (
        "Which FAQ is meant?"
        not in client.get(reverse("admin:analytics_review_change", args=[review.pk])).content.decode()
    )
    assert client.post(reverse("admin:analytics_review_meant", args=[review.pk]), {"meant": "none"}).status_code == 403
    assert not ConfirmedQuestion.objects.exists()


def test_only_a_published_faq_can_be_meant(faqs: tuple[FAQ, FAQ]) -> None:
    review, user = new_review(ASKED), UserFactory(is_superuser=True)
    FAQ.objects.filter(pk=faqs[0].pk).update(status="draft")
    for meant in (str(faqs[0].pk), "999999", "nonsense"):
        with pytest.raises(ValidationError):
            confirm_meaning(review_id=review.pk, meant=meant, by=user)


def test_an_faq_that_is_not_offered_is_searched_for_and_stays_chosen(
    faqs: tuple[FAQ, FAQ], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.reviews.confirmed.OFFERED", 1)
    review = new_review(ASKED)
    client = staff("faqs.publish_faq", "faqs.view_faq")
    page, meant, search = (reverse(f"admin:analytics_review_{name}", args=[review.pk]) for name in DOORS)
    offered = client.get(page).content.decode()
    assert "Another FAQ" in offered
    missing = next(faq for faq in faqs if faq.question not in offered)
    words = " ".join(missing.question.split()[-2:])
    assert client.get(search, {"term": words}).json() == {
        "results": [{"id": str(missing.pk), "text": missing.question}],
        "pagination": {"more": False},
    }
    client.post(meant, {"meant": "another", "another": missing.pk})
    assert ConfirmedQuestion.objects.get().faq == missing
    shown = " ".join(client.get(page).content.decode().split())
    assert f'value="{missing.pk}" checked> <span>{missing.question}' in shown


def test_a_search_finds_only_what_can_be_chosen_and_a_wrong_choice_says_why(faqs: tuple[FAQ, FAQ]) -> None:
    review = new_review(ASKED)
    client = staff("faqs.publish_faq", "faqs.view_faq")
    _page, meant, search = (reverse(f"admin:analytics_review_{name}", args=[review.pk]) for name in DOORS)
    client.post(meant, {"meant": faqs[0].pk})
    elsewhere = DocumentFactory(collection=CollectionFactory(searched_by_default=False))
    draft = FAQFactory(question="How do I reset my laptop?", documents=[faqs[0].sources.get().document], status="draft")
    other = FAQFactory(question="How do I reset my badge?", documents=[elsewhere], status="published")
    found = client.get(search, {"term": "reset"}).json()["results"]
    assert [each["id"] for each in found] == [str(faqs[0].pk)]
    for wrong in (draft.pk, other.pk, "nonsense"):
        said = client.post(meant, {"meant": "another", "another": wrong}, follow=True).content.decode()
        assert "This FAQ cannot be chosen" in said
    said = client.post(meant, {"meant": "another"}, follow=True).content.decode()
    assert "Search for the FAQ that is meant" in said
    assert ConfirmedQuestion.objects.get().faq == faqs[0]


def test_who_may_not_see_faqs_has_those_that_are_offered_alone(faqs: tuple[FAQ, FAQ]) -> None:
    review, client = new_review(ASKED), staff("faqs.publish_faq")
    page, meant, search = (reverse(f"admin:analytics_review_{name}", args=[review.pk]) for name in DOORS)
    offered = client.get(page).content.decode()
    assert faqs[0].question in offered
    assert "Another FAQ" not in offered
    assert client.get(search, {"term": "reset"}).status_code == 403
    client.post(meant, {"meant": "another", "another": faqs[0].pk})
    assert not ConfirmedQuestion.objects.exists()


def test_a_search_leaves_out_the_faqs_of_other_teams(faqs: tuple[FAQ, FAQ]) -> None:
    review, team = new_review(ASKED), Group.objects.create(name="Computing")
    review.message.conversation.assistant.teams.add(team)
    own = CollectionFactory()
    own.teams.add(team)
    FAQ.objects.filter(pk=faqs[0].pk).update(collection=own)
    client = Client()
    names = ("analytics.change_review", "faqs.publish_faq", "faqs.view_faq")
    client.force_login(UserFactory(permissions=[*names], teams=[team]))
    _page, meant, search = (reverse(f"admin:analytics_review_{name}", args=[review.pk]) for name in DOORS)
    assert [each["id"] for each in client.get(search).json()["results"]] == [str(faqs[0].pk)]
    client.post(meant, {"meant": "another", "another": faqs[1].pk})
    assert not ConfirmedQuestion.objects.exists()


def test_it_is_deleted_with_the_conversation(faqs: tuple[FAQ, FAQ]) -> None:
    review = new_review(ASKED)
    confirm_meaning(review_id=review.pk, meant=str(faqs[0].pk), by=UserFactory(is_superuser=True))
    assert ConfirmedVector.objects.exists()
    Conversation.objects.filter(pk=Review.objects.get().message.conversation_id).delete()
    assert not ConfirmedQuestion.objects.exists()
    assert not ConfirmedVector.objects.exists()
    assert first(LIKE)[1] is False

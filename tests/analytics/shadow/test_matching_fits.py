"""A new matching of FAQs that would change more than a few answers waits, and staff see which."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from faqs.matching.refit import refit_pending
from faqs.models import Matcher, MatcherFit
from faqs.retriever import match
from faqs.services import choose_matching, confirm_question
from knowledge.models import Collection
from knowledge.retrieval.scope import build_scope
from tests.analytics.reviews.rows import well_answered
from tests.factories import UserFactory
from tests.faqs.matching.conftest import Publish, _nothing_is_queued, ask, collection, publish

__all__ = ["_nothing_is_queued", "collection", "publish"]
pytestmark = pytest.mark.django_db
PASSWORD, SKY = "How do I reset my password?", "Where is the observatory?"
ASKED = "I forgot how to log in"
WAYS = {
    SKY: (
        "How do I get to the observatory?",
        "Where can I look at the stars?",
        "Which building has the big telescope?",
        "Stargazing nights at the telescope",
        "May visitors see the planets?",
    )
}
QUESTIONS = [
    "Where do I find the observatory?",
    "Is there a telescope on campus?",
    "Can I look at the stars tonight?",
    "How do I reach the telescope building?",
    "My name is Ada Lovelace, where can I see the planets?",
    "When is the next stargazing night?",
    "Which way is it to the observatory?",
]


@pytest.fixture
def matcher(publish: Publish, collection: Collection) -> Matcher:
    """Have a fit in use, and questions that students asked."""
    publish(collection)
    refit_pending()
    found = Matcher.objects.get(collection=collection)
    choose_matching(matcher=found, choice=Matcher.Choice.LEARNED)
    for text in QUESTIONS:
        well_answered(text)
    return Matcher.objects.get(pk=found.pk)


def newest(matcher: Matcher) -> MatcherFit:
    return matcher.fits.all()[0]


def first(text: str) -> tuple[str, bool]:
    (best, *_others) = match(ask(text), scope=build_scope(), learned=True)
    return best.question, best.is_learned


def sign_in(*permissions: str) -> Client:
    client = Client()
    client.force_login(UserFactory(permissions=["faqs.view_matcher", "faqs.change_matcher", *permissions]))
    return client


def page_of(matcher: Matcher, client: Client) -> Any:
    return client.get(reverse("admin:faqs_matcher_change", args=[matcher.pk])).content.decode()


def test_a_fit_that_changes_more_than_a_few_answers_waits_and_the_one_in_use_goes_on(
    matcher: Matcher, publish: Publish, collection: Collection
) -> None:
    used = matcher.fit
    faqs = publish(collection, WAYS)
    refit_pending()
    fit = newest(matcher)
    assert (fit.state, fit.reason, fit.tried) == ("waiting", "changes", len(QUESTIONS))
    assert fit.changed > 5
    assert Matcher.objects.get().fit == used
    assert first(ASKED) == (PASSWORD, True)
    assert first(QUESTIONS[0]) == (SKY, False)
    confirm_question(text="Blinking cursor", faq=faqs[SKY], collections=[collection.pk], by=None)
    assert first("Blinking cursor") == (SKY, False)


def test_staff_see_what_would_change_and_take_it_into_use(
    matcher: Matcher, publish: Publish, collection: Collection
) -> None:
    publish(collection, WAYS)
    refit_pending()
    client = sign_in("chat.view_conversation")
    page = page_of(matcher, client)
    assert "What the newest one would change" in page
    assert QUESTIONS[0] in page
    assert "Lovelace" not in page
    assert "would change more than a few answers and waits for your decision" in page
    hidden = page_of(matcher, sign_in())
    assert "What the newest one would change" in hidden
    assert QUESTIONS[0] not in hidden
    client.post(reverse("admin:faqs_matcher_use", args=[matcher.pk, newest(matcher).pk]))
    assert first(QUESTIONS[0]) == (SKY, True)
    assert "What the newest one would change" not in page_of(matcher, client)


def test_a_fit_that_changes_few_answers_is_used_at_once(
    matcher: Matcher, publish: Publish, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqs.matching.refit.FEW", len(QUESTIONS))
    publish(collection, WAYS)
    refit_pending()
    fit = newest(matcher)
    assert (fit.state, Matcher.objects.get().fit) == ("ready", fit)
    assert first(QUESTIONS[0]) == (SKY, True)

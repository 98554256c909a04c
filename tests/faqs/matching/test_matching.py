"""Which FAQ is meant is learned from all ways to ask, where that is better than the nearest one."""

import datetime
import logging

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from core.inference.embeddings import get_embedder
from faqs.indexing import sync_faq
from faqs.matching.classifier import NO_FAQ, BrokenWeights, MatchClassifier, probability, similarity_of
from faqs.matching.fitting import cross_validate, fit_classifier
from faqs.matching.refit import KEPT, refit_pending
from faqs.models import FAQ, ConfirmedQuestion, FAQSource, Matcher, MatcherFit, Phrasing
from faqs.retriever import match
from faqs.services import bring_back_fit, choose_matching, confirm_question, forget_question, set_faq_status
from faqs.tasks import fit_matcher, index_faq
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Generation
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Hit
from tests.factories import CollectionFactory
from tests.faqs.matching.conftest import WAYS, Publish, ask

pytestmark = pytest.mark.django_db
LIBRARY, PASSWORD, FEE = "When does the library close?", "How do I reset my password?", "How much is the semester fee?"
ASKED = "I forgot how to log in"


def learned(collection: Collection) -> Matcher:
    """Fit, and have staff choose what was learned."""
    refit_pending()
    matcher = Matcher.objects.get(collection=collection)
    choose_matching(matcher=matcher, choice=Matcher.Choice.LEARNED)
    return Matcher.objects.get(pk=matcher.pk)


def found(text: str, *collections: Collection, **options: object) -> list[tuple[str, bool]]:
    """Return (FAQ's question, whether it was learned) of what is matched, best first."""
    scope = build_scope([each.slug for each in collections])
    matched = match(ask(text), scope=scope, learned=True, **options)  # type: ignore[arg-type]
    return list(dict.fromkeys((each.question, each.is_learned) for each in matched))


def test_what_was_learned_finds_the_faq_and_says_how_likely_it_is(publish: Publish, collection: Collection) -> None:
    publish(collection)
    matcher = learned(collection)
    assert matcher.fit
    assert (matcher.fit.faqs, matcher.fit.examples) == (6, 36)
    (best, *_others) = match(ask(ASKED), scope=build_scope(), learned=True)
    assert (best.question, best.is_learned) == (PASSWORD, True)
    (far, *_others) = match(ask("What is the capital of France?"), scope=build_scope(), learned=True)
    assert best.probability > 0.6 > 0.4 > far.probability
    assert found(ASKED, faqs=3)[0] == (PASSWORD, True)


def test_the_default_profile_ranks_by_it_and_published_ones_do_not(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    learned(collection)

    def first(profile: str) -> Hit:
        return retrieve_with(PROFILES[profile], ASKED, scope=build_scope(), k=5).runs["faq"][0]

    names = ("default", "bm25+faq")
    with_fit = {name: first(name) for name in names}
    assert {hit.faq_id for hit in with_fit.values()} == {faqs[PASSWORD].pk}
    MatcherFit.objects.all().delete()
    assert first("bm25+faq") == with_fit["bm25+faq"]
    assert first("default") != with_fit["default"]


def test_by_itself_the_better_way_is_used(publish: Publish, collection: Collection) -> None:
    publish(collection)
    refit_pending()
    fit = MatcherFit.objects.get()
    assert fit.held_out >= 20
    assert fit.reason == MatcherFit.Reason.NOT_BETTER  # these phrasings are easily told apart
    assert found(ASKED) == [(PASSWORD, False)]
    MatcherFit.objects.update(fingerprint="another", reason="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faqs.matching.refit.LEAST_GAIN", -1)
        refit_pending()
    assert found(ASKED) == [(PASSWORD, True)]


def test_one_phrasing_a_faq_leaves_nothing_to_try(publish: Publish, collection: Collection) -> None:
    publish(collection, dict.fromkeys(WAYS, ()))
    matcher = learned(collection)
    assert matcher.fits.get().reason == MatcherFit.Reason.TOO_FEW
    assert found("reset password") == [(PASSWORD, False)]
    with pytest.raises(ValidationError):
        bring_back_fit(fit=matcher.fits.get())


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_faqs_are_matched_by_their_phrasing(publish: Publish, collection: Collection, count: int) -> None:
    publish(collection, dict(list(WAYS.items())[:count]))
    assert refit_pending([collection.pk]) == 0
    assert found("How expensive is a semester?") == [(FEE, False)] * count


def test_a_fit_older_than_an_edit_is_not_used(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    learned(collection)
    assert found(ASKED) == [(PASSWORD, True)]
    Phrasing.objects.create(faq=faqs[LIBRARY], text="Reading room hours")
    sync_faq(faqs[LIBRARY].pk)
    assert found(ASKED) == [(PASSWORD, False)]
    assert found("Reading room hours") == [(LIBRARY, False)]
    fit_matcher(collection.pk)
    assert found("Reading room hours") == [(LIBRARY, True)]
    set_faq_status(faqs=[faqs[LIBRARY]], status="retired")
    assert found(ASKED) == [(PASSWORD, False)]
    assert LIBRARY not in dict(found("Reading room hours"))


def test_nothing_is_fitted_twice_from_the_same_examples(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    learned(collection)
    assert refit_pending() == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faqs.matching.refit.fit_classifier", lambda *_args: pytest.fail("fitted again"))
        for faq in faqs.values():
            index_faq(faq.pk)
            fit_matcher(collection.pk)


def test_a_fit_of_another_generation_is_not_used(publish: Publish, collection: Collection) -> None:
    publish(collection)
    learned(collection)
    live = live_generation()
    other = Generation.objects.create(
        model=live.model, embedder="other", dimensions=384, passage_tokens=200, cutting="", state="retired"
    )
    MatcherFit.objects.update(generation=other)
    assert found(ASKED) == [(PASSWORD, False)]


def test_broken_weights_are_no_reason_to_find_nothing(
    publish: Publish, collection: Collection, caplog: pytest.LogCaptureFixture
) -> None:
    publish(collection)
    learned(collection)
    MatcherFit.objects.update(weights=b"PK\x03\x04 nonsense")
    with caplog.at_level(logging.ERROR):
        assert found(ASKED) == [(PASSWORD, False)]
    assert "a matcher cannot be read" in caplog.text
    assert ASKED not in caplog.text


def test_what_is_out_of_scope_is_never_matched(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    learned(collection)
    yesterday = timezone.localdate() - datetime.timedelta(days=1)
    FAQ.objects.filter(pk=faqs[PASSWORD].pk).update(valid_until=yesterday)
    assert PASSWORD not in dict(found(ASKED, faqs=6))
    FAQ.objects.filter(pk=faqs[PASSWORD].pk).update(valid_until=None)
    document = FAQSource.objects.get(faq=faqs[PASSWORD]).document
    document.audience = ["role:staff"]
    document.save()
    student = build_scope(audience=["role:student"])
    assert PASSWORD not in {each.question for each in match(ask(ASKED), scope=student, faqs=6, learned=True)}


def test_several_collections_are_matched_each_in_its_way(publish: Publish, collection: Collection) -> None:
    other = CollectionFactory()
    halves = list(WAYS.items())
    publish(collection, dict(halves[:3]))
    publish(other, dict(halves[3:]))
    for each in (collection, other):
        refit_pending([each.pk])
    matcher = Matcher.objects.get(collection=other)
    MatcherFit.objects.filter(matcher=matcher).update(learned_rank=0.9)
    choose_matching(matcher=matcher, choice="learned")
    assert found("Car park on campus", collection, other) == [("Where can I park my car?", True)]
    assert found(ASKED, collection, other)[0] == (PASSWORD, False)
    assert "Where can I park my car?" not in dict(found("Car park on campus", collection, faqs=6))


@pytest.mark.parametrize("is_learned", [True, False])
def test_a_confirmed_question_counts_for_the_next_like_it(
    publish: Publish, collection: Collection, is_learned: bool
) -> None:
    faqs = publish(collection)
    if is_learned:
        learned(collection)
    odd = "The blinking cursor laughs at me every morning"
    question = confirm_question(text=odd, faq=faqs[PASSWORD], collections=[collection.pk], by=None)
    (best, *_others) = match(ask("The blinking cursor laughs at me each morning"), scope=build_scope(), learned=True)
    assert (best.question, best.similarity > 0.8) == (PASSWORD, True)
    refit_pending()
    assert MatcherFit.objects.first().confirmed == 1  # type: ignore[union-attr]
    assert found(odd)[0][0] == PASSWORD
    forget_question(question=question)
    (best, *_others) = match(ask(odd), scope=build_scope(), learned=True)
    assert best.similarity < 0.6


def test_a_question_that_no_faq_is_about_is_matched_to_none(publish: Publish, collection: Collection) -> None:
    publish(collection)
    learned(collection)
    wrong = "Library fines of my neighbour"
    assert found(wrong)
    confirm_question(text=wrong, faq=None, collections=[collection.pk], by=None)
    assert found(wrong) == []
    refit_pending()
    assert found(wrong) == []
    assert found(ASKED) == [(PASSWORD, True)]


def test_while_the_model_is_away_a_confirmed_question_waits(publish: Publish, collection: Collection) -> None:
    from core.inference.embeddings import EmbeddingUnavailable

    faqs = publish(collection)

    def away(*_args: object) -> None:
        raise EmbeddingUnavailable("away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faqs.matching.confirmed.load_embedder", away)
        confirm_question(text="Blinking cursor", faq=faqs[PASSWORD], collections=[collection.pk], by=None)
    assert not ConfirmedQuestion.objects.get().vectors.exists()
    refit_pending()
    assert ConfirmedQuestion.objects.get().vectors.count() == 1
    assert found("Blinking cursor") == [(PASSWORD, False)]


def test_a_worse_fit_waits_for_staff(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    matcher = learned(collection)
    mixed = [text for ways in WAYS.values() for text in ways][::4]
    for faq in faqs.values():
        Phrasing.objects.bulk_create(
            [Phrasing(faq=faq, text=f"{text} please") for text in mixed], ignore_conflicts=True
        )
        sync_faq(faq.pk)
    refit_pending()
    newest = matcher.fits.first()
    assert newest
    assert (newest.state, newest.reason) == (MatcherFit.State.WAITING, MatcherFit.Reason.WORSE)
    assert found(ASKED) == [(PASSWORD, False)]
    bring_back_fit(fit=newest)
    assert found(ASKED)[0][1]


@pytest.mark.slow
def test_an_earlier_fit_can_be_brought_back_and_ten_are_kept(publish: Publish, collection: Collection) -> None:
    faqs = publish(collection)
    matcher = learned(collection)
    first = matcher.fit
    assert first
    for number in range(KEPT + 2):
        Phrasing.objects.create(faq=faqs[LIBRARY], text=f"Opening hours of reading room {number}")
        sync_faq(faqs[LIBRARY].pk)
        refit_pending()
        if number == 0:
            bring_back_fit(fit=first)
    assert matcher.fits.count() in {KEPT, KEPT + 1}  # the one in use stays
    assert found(ASKED) == [(PASSWORD, True)]
    publish(collection, {"May I bring my dog?": ("Are pets allowed?",)})
    assert found("Are pets allowed?") == [("May I bring my dog?", False)]
    choose_matching(matcher=matcher, choice="auto")
    assert not Matcher.objects.get().is_pinned


def test_beside_a_fit_that_was_brought_back_what_staff_confirmed_since_counts(
    publish: Publish, collection: Collection
) -> None:
    faqs = publish(collection)
    kept = learned(collection).fit
    assert kept
    Phrasing.objects.create(faq=faqs[LIBRARY], text="Opening hours of the reading room")
    sync_faq(faqs[LIBRARY].pk)
    refit_pending()
    bring_back_fit(fit=kept)
    odd, like = "The blinking cursor laughs at me every morning", "The blinking cursor laughs at me each morning"
    confirm_question(text=odd, faq=faqs[PASSWORD], collections=[collection.pk], by=None)
    refit_pending()
    assert Matcher.objects.get().fit == kept
    (best, *_others) = match(ask(like), scope=build_scope(), learned=True)
    assert (best.question, best.similarity > 0.8, best.probability > 0.7) == (PASSWORD, True, True)
    assert found(ASKED) == [(PASSWORD, True)]
    confirm_question(text=ASKED, faq=None, collections=[collection.pk], by=None)
    refit_pending()
    assert found(ASKED) == []


def test_staff_can_turn_it_off(publish: Publish, collection: Collection) -> None:
    publish(collection)
    matcher = learned(collection)
    choose_matching(matcher=matcher, choice="nearest")
    assert found(ASKED) == [(PASSWORD, False)]
    with pytest.raises(ValidationError):
        choose_matching(matcher=matcher, choice="by chance")


def test_a_question_costs_no_query_more(
    publish: Publish, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    import faqs.retriever

    publish(collection)
    learned(collection)
    found(ASKED)
    calls: list[str] = []
    real = faqs.retriever.fetch_all
    monkeypatch.setattr("faqs.retriever.fetch_all", lambda *args: calls.append("query") or real(*args))
    monkeypatch.setattr("faqs.matching.serving._load", lambda _pk: pytest.fail("read again"))
    assert match(ask(ASKED), scope=build_scope(), learned=True)
    assert calls == ["query"]


def test_weights_are_read_as_they_were_written() -> None:
    vectors = get_embedder().embed_questions([text for ways in WAYS.values() for text in ways])
    faqs = np.repeat(np.arange(1, 7), 5)
    classifier = fit_classifier(vectors, faqs)
    again = MatchClassifier.load(classifier.dump())
    assert np.abs(classifier.scores(vectors) - again.scores(vectors)).max() < 0.02
    figures, curve = cross_validate(vectors, faqs, coverage=0.5)
    assert figures
    assert figures.held_out >= 20
    assert curve.log_odds(5.0, 0.8) > curve.log_odds(1.0, 0.3)
    with pytest.raises(BrokenWeights):
        MatchClassifier.load(classifier.dump()[:200])
    two = fit_classifier(vectors[:10], faqs[:10])
    assert (two.scores(vectors[:10]).argmax(axis=1) == np.repeat([0, 1], 5)).all()
    assert NO_FAQ not in again.faqs


def test_a_similarity_grows_with_the_probability_and_stays_below_one() -> None:
    odds = [-9.0, -2.0, 0.0, 1.0, 3.0, 4.0, 6.0, 12.0]
    similarities = [similarity_of(each) for each in odds]
    assert similarities == sorted(similarities)
    assert 0 <= similarities[0] < similarities[-2] < similarities[-1] < 1
    assert probability(0.0) == 0.5

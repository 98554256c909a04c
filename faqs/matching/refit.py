"""Fit a collection's classifier anew where its examples changed, and decide how its FAQs are matched.

A fit serves no question before it was cross-validated. Until then the nearest phrasing matches, as it does wherever
nothing was learned.
"""

import time
from collections.abc import Iterable

from django.db import transaction

from core.db.locks import Lock, advisory_lock
from faqs.matching.confirmed import embed_pending
from faqs.matching.examples import Examples, collections_with_faqs, fingerprint_examples, load_examples
from faqs.matching.fitting import Figures, cross_validate, fit_classifier, with_curve
from faqs.matching.shadow import FEW, try_fit
from faqs.models import Matcher, MatcherFit
from knowledge.indexing.generations import live_generation
from knowledge.models import Generation

Choice, Reason, State = Matcher.Choice, MatcherFit.Reason, MatcherFit.State
#: Fits that are kept of each collection, the newest one among them.
KEPT = 10
#: A classifier needs two FAQs to tell apart.
LEAST_FAQS = 2
#: By so much the mean reciprocal rank must be higher than that of the nearest phrasing, which needs no fit.
LEAST_GAIN = 0.005
#: A fit whose mean reciprocal rank is lower by more than this than that of the fit in use waits for staff.
MOST_LOSS = 0.03
#: Fits after one another, where examples change while one is fitted; the next run goes on.
ROUNDS = 5


def refit_pending(collections: Iterable[int] | None = None) -> int:
    """Fit the classifiers of these collections, or of all, whose examples changed; return how many were fitted."""
    generation = live_generation()
    embed_pending(generation)
    wanted = collections_with_faqs() if collections is None else list(collections)
    # All before the first fit: a collection without a matcher counts as one without FAQs.
    Matcher.objects.bulk_create((Matcher(collection_id=pk) for pk in wanted), ignore_conflicts=True)
    return sum(refit(pk, generation) for pk in wanted)


def refit(collection_id: int, generation: Generation) -> int:
    """Fit a collection's classifier until it knows the newest examples; return how often.

    If another process fits it, that one does it.
    """
    for done in range(ROUNDS):
        with advisory_lock(Lock.MATCHER, row=collection_id) as is_mine:
            if not is_mine or not _fit(collection_id, generation):
                return done
    return ROUNDS


def _fit(collection_id: int, generation: Generation) -> bool:
    """Fit once; return False if the newest fit knows the present examples already, or there are too few FAQs."""
    matcher = Matcher.objects.get(collection=collection_id)
    # Read after the count of edits, so that no edit is missed.
    present = fingerprint_examples(collection_id, generation.pk)
    newest = matcher.fits.filter(generation=generation).first()
    if newest and newest.fingerprint == present:
        MatcherFit.objects.filter(pk=newest.pk).exclude(edits=matcher.edits).update(edits=matcher.edits)
        return False
    began = time.perf_counter()
    examples = load_examples(collection_id, generation.pk)
    if examples.faq_count < LEAST_FAQS:
        Matcher.objects.filter(pk=matcher.pk).update(fit=None, is_pinned=False)
        return False
    classifier = fit_classifier(examples.vectors, examples.faqs)
    figures, curve = cross_validate(examples.vectors, examples.faqs, coverage=examples.coverage)
    fitted = with_curve(classifier, curve)
    tried = try_fit(matcher, fitted, generation)
    fit = MatcherFit(
        matcher=matcher,
        generation=generation,
        edits=matcher.edits,
        fingerprint=examples.fingerprint,
        weights=fitted.dump(),
        tried=len(tried.questions),
        changed=len(tried.changed),
        seconds=time.perf_counter() - began,
        **_described(examples, figures),
    )
    _take_on(fit, figures)
    return True


def _described(examples: Examples, figures: Figures | None) -> dict[str, object]:
    counts: dict[str, object] = {
        "faqs": examples.faq_count,
        "examples": len(examples.faqs),
        "confirmed": examples.confirmed,
    }
    if figures is None:
        return counts
    return counts | {name: getattr(figures, name) for name in figures.__slots__}


@transaction.atomic
def _take_on(fit: MatcherFit, figures: Figures | None) -> None:
    """Save a fit, and use it if it is the better way, no worse than the fit in use, and changes few answers."""
    matcher = Matcher.objects.select_for_update(of=("self",), no_key=True).select_related("fit").get(pk=fit.matcher_id)
    fit.matcher = matcher
    fit.reason = judge(figures)
    if is_worse(fit, matcher.fit):
        fit.state, fit.reason = State.WAITING, Reason.WORSE
    elif fit.changed > FEW and not matcher.is_pinned and matcher.fit and wants(matcher, fit):
        fit.state, fit.reason = State.WAITING, Reason.CHANGES
    fit.save()
    if not matcher.is_pinned and fit.state == State.READY:
        matcher.fit = fit if wants(matcher, fit) else None
        matcher.save(update_fields=["fit"])
    old = matcher.fits.order_by("-pk").values_list("pk", flat=True)[KEPT:]
    matcher.fits.filter(pk__in={*old} - {matcher.fit_id}).delete()


def judge(figures: Figures | None) -> MatcherFit.Reason:
    """Say which way is better."""
    if figures is None:
        return Reason.TOO_FEW
    return Reason.BETTER if figures.learned_rank >= figures.nearest_rank + LEAST_GAIN else Reason.NOT_BETTER


def wants(matcher: Matcher, fit: MatcherFit) -> bool:
    """Return whether questions are to be matched by this fit; never by one that could not be cross-validated."""
    if fit.learned_rank is None or matcher.choice == Choice.NEAREST:
        return False
    return matcher.choice == Choice.LEARNED or fit.reason in {Reason.BETTER, Reason.WORSE, Reason.CHANGES}


def is_worse(fit: MatcherFit, used: MatcherFit | None) -> bool:
    """Return whether it finds the right FAQ clearly less often than the fit in use did with its own examples."""
    if used is None or used.learned_rank is None or used.generation_id != fit.generation_id:
        return False
    return fit.learned_rank is None or fit.learned_rank < used.learned_rank - MOST_LOSS


@transaction.atomic
def use_fit(fit: MatcherFit) -> None:
    """Use this fit; one that is not of the newest examples is held until staff choose otherwise."""
    matcher = Matcher.objects.select_for_update(no_key=True).get(pk=fit.matcher_id)
    newest = matcher.fits.order_by("-pk").values_list("pk", flat=True).first()
    matcher.fit, matcher.is_pinned = fit, fit.pk != newest
    if matcher.choice == Choice.NEAREST:
        matcher.choice = Choice.LEARNED
    matcher.save(update_fields=["fit", "is_pinned", "choice"])
    MatcherFit.objects.filter(pk=fit.pk).update(state=State.READY)

"""The fits that this process matches questions with, read once each.

What is in use comes with the answer of each search (`STATE`), so that following it costs no query of its own.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from core.db.reading import reads_replica
from faqs.matching.classifier import NO_FAQ, BrokenWeights, MatchClassifier
from faqs.models import MatcherFit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

#: The fits in use of the collections searched, as text such as "12,15", with a + if there are FAQs that they do not
#: know; its parameters are those of a search. A fit that was made before the last edit is none of them, unless staff
#: brought it back, or the newest one waits since it would change more than a few answers. A collection without a
#: matcher has no FAQs: the first edit makes one.
STATE = """
SELECT coalesce(string_agg(fit.id::text, ',' ORDER BY fit.id), '')
    || CASE WHEN bool_and(coalesce(fit.edits = matcher.edits, FALSE)) THEN '' ELSE '+' END
FROM faqs_matcher AS matcher
LEFT JOIN faqs_matcherfit AS fit ON fit.id = matcher.fit_id AND fit.generation_id = %(generation)s
    AND (fit.edits = matcher.edits OR matcher.is_pinned OR EXISTS (
        SELECT FROM faqs_matcherfit AS newest
        WHERE newest.matcher_id = matcher.id AND newest.edits = matcher.edits
            AND newest.state = 'waiting' AND newest.reason = 'changes'
    ))
WHERE matcher.collection_id = ANY(%(collections)s::bigint[])
"""
#: Mark of a state in which FAQs must be compared by their phrasings too; the one before the first search.
OTHERS = "+"
#: Fits of other scopes and of just before stay for so many.
KEPT = 64


@dataclass(frozen=True, slots=True, eq=False)
class ServedFit:
    """A classifier, the ids of the FAQs that it knows, and when it was made."""

    classifier: MatchClassifier
    faqs: tuple[int, ...]
    made_at: datetime


class ServedFits:
    """Fits by id, and what was in use at the last search of each scope."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fits: OrderedDict[int, ServedFit | None] = OrderedDict()
        self._states: OrderedDict[tuple[int, tuple[int, ...]], str] = OrderedDict()

    def state(self, generation_id: int, collections: tuple[int, ...]) -> str:
        """Return what was in use at the last search of these collections."""
        return self._states.get((generation_id, collections), OTHERS)

    def note(self, generation_id: int, collections: tuple[int, ...], state: str) -> None:
        """Remember what is in use."""
        with self._lock:
            self._states[generation_id, collections] = state
            self._states.move_to_end((generation_id, collections))
            while len(self._states) > KEPT:
                self._states.popitem(last=False)

    def of(self, state: str) -> tuple[Sequence[ServedFit], bool]:
        """Return the fits of a state, and whether they know all FAQs.

        One whose weights cannot be read, or that was deleted, is left out, and knows none.
        """
        found = [self._get(int(pk)) for pk in state.rstrip(OTHERS).split(",") if pk]
        fits = [fit for fit in found if fit]
        return fits, OTHERS not in state and len(fits) == len(found)

    def _get(self, pk: int) -> ServedFit | None:
        with self._lock:
            if pk in self._fits:
                self._fits.move_to_end(pk)
                return self._fits[pk]
        fit = _load(pk)
        if fit is None and reads_replica():  # it may not be there yet
            return None
        with self._lock:
            self._fits[pk] = fit
            while len(self._fits) > KEPT:
                self._fits.popitem(last=False)
        return fit

    def clear(self) -> None:
        with self._lock:
            self._fits.clear()
            self._states.clear()


def _load(pk: int) -> ServedFit | None:
    stored = MatcherFit.objects.filter(pk=pk).values_list("weights", "made_at").first()
    if stored is None:
        return None
    weights, made_at = stored
    try:
        classifier = MatchClassifier.load(bytes(weights))
    except BrokenWeights:
        logger.exception("a matcher cannot be read and the nearest phrasing is used fit=%d", pk)
        return None
    return ServedFit(classifier, tuple(faq for faq in classifier.faqs.tolist() if faq != NO_FAQ), made_at)


def match_by(
    fits: Sequence[ServedFit], vector: "NDArray[np.float32]", *, most: int
) -> tuple[dict[int, float], dict[int, datetime]]:
    """Return the log odds of the likeliest FAQs of all fits, and of all FAQs that they know when the fit was made.

    An FAQ that several collections share has the highest odds and the latest time.
    """
    odds: dict[int, float] = {}
    for fit in fits:
        for faq_id, log_odds in fit.classifier.match(vector, most=most):
            odds[faq_id] = max(log_odds, odds.get(faq_id, log_odds))
    by_age = sorted(fits, key=lambda fit: fit.made_at)
    return odds, {faq_id: fit.made_at for fit in by_age for faq_id in fit.faqs}


served_fits = ServedFits()

"""Recent real questions that a new fit would match to another FAQ than the fit in use: tried before it is used."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.inference.embeddings import EmbeddingUnavailable
from faqs.matching.classifier import BrokenWeights, MatchClassifier, probability
from faqs.matching.signals import questions_wanted
from faqs.models import FAQ, Matcher, MatcherFit
from knowledge.indexing.generations import load_embedder
from knowledge.models import Generation

if TYPE_CHECKING:
    from core.access import Staff

#: If more questions than this change their FAQ, the fit waits for staff.
FEW = 5
#: An FAQ that is less likely meant lifts no documents (`faqs.retriever.learned_confidence`).
LEAST_LIKELY = 0.3


@dataclass(frozen=True, slots=True)
class Tried:
    """Questions, and for each the ids of the FAQs that it is matched to by the fit in use and by the new one."""

    questions: Sequence[str]
    pairs: Sequence[tuple[int | None, int | None]]

    @property
    def changed(self) -> list[tuple[str, int | None, int | None]]:
        both = zip(self.questions, self.pairs, strict=True)
        return [(question, before, after) for question, (before, after) in both if before != after]


@dataclass(frozen=True, slots=True)
class Change:
    """A question that would be matched to another FAQ; None is no FAQ, or one that the reader may not see."""

    question: str
    before: FAQ | None
    after: FAQ | None


def try_fit(
    matcher: Matcher, classifier: MatchClassifier, generation: Generation, user: "Staff | None" = None
) -> Tried:
    """Match recent questions by the fit in use and by the new classifier.

    Nothing is tried where no fit of this generation is in use, or staff brought one back, or while the embedding model
    is away.
    """
    nothing = Tried((), ())
    used = matcher.fit
    if used is None or matcher.is_pinned or used.generation_id != generation.pk:
        return nothing
    answers = questions_wanted.send(Matcher, collection_id=matcher.collection_id, user=user)
    questions = list(dict.fromkeys(text for _receiver, texts in answers for text in texts or ()))
    if not questions:
        return nothing
    try:
        known = MatchClassifier.load(bytes(used.weights))
        vectors = load_embedder(generation).embed_questions(questions)
    except (BrokenWeights, EmbeddingUnavailable):
        return nothing
    return Tried(questions, [(_first(known, vector), _first(classifier, vector)) for vector in vectors])


def list_changes(fit: MatcherFit, user: "Staff") -> list[Change]:
    """Return what would change with a fit that waits, as far as the user may read it."""
    try:
        classifier = MatchClassifier.load(bytes(fit.weights))
    except BrokenWeights:
        return []
    changed = try_fit(fit.matcher, classifier, fit.generation, user=user).changed
    ids = {pk for _question, *both in changed for pk in both if pk}
    faqs = FAQ.objects.visible_to(user).in_bulk(ids)
    return [Change(question, faqs.get(before or 0), faqs.get(after or 0)) for question, before, after in changed]


def _first(classifier: MatchClassifier, vector: object) -> int | None:
    matched = classifier.match(vector, most=1)  # type: ignore[arg-type]
    return next((faq for faq, log_odds in matched if probability(log_odds) >= LEAST_LIKELY), None)

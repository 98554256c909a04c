"""Recognise cries for help by examples instead of words, in any language that the multilingual model knows.

The classifier is fitted by `manage.py fit_help_classifier` and kept beside the examples; why it is not a logistic
regression alone is in `docs/decisions/0023-cries-for-help.md`.
"""

import logging
from functools import cache

from chat.pipeline.understanding.example_classifier import ClassifierOutdated, ExampleClassifier, kind_by_words
from chat.pipeline.understanding.help_examples import FOLDER, fingerprint_of_examples, load_help_examples
from chat.pipeline.understanding.own_examples.examples import NO_EXAMPLES, OwnExamples
from core.inference.embeddings import EmbeddingUnavailable
from core.terms import distinct_words
from knowledge.retrieval.query_vectors import multilingual_vector

logger = logging.getLogger(__name__)

FITTED = FOLDER / "fitted.npz"


def recognised_need(text: str, own: OwnExamples = NO_EXAMPLES) -> str | None:
    """Return the kind of need that a message speaks of, one of `Need`; None for every other message.

    An assistant's `own` examples come second: they add to what is recognised without them, and take nothing away.
    """
    try:
        vector = multilingual_vector(text)
    except EmbeddingUnavailable:
        logger.exception("cries for help are recognised by their words alone")
        return kind_by_words(text, (*_words_of_examples(), *own.words))
    found = get_classifier().recognise(vector) or own.kind_of_same(text)
    return found or (own.corrected.recognise(vector) if own.corrected else None)


@cache
def get_classifier() -> ExampleClassifier:
    """Return the fitted classifier; raises ClassifierOutdated."""
    classifier = ExampleClassifier.load(FITTED)
    if classifier.fitted_from != fingerprint_of_examples():
        raise ClassifierOutdated("The examples have changed. Please run `manage.py fit_help_classifier`.")
    return classifier


@cache
def _words_of_examples() -> list[tuple[set[str], str]]:
    return [(distinct_words(each.text), each.kind) for each in load_help_examples()]

"""Recognise by examples what a message is that asks for no page: a greeting, thanks, a complaint, a wish for a person.

The examples are in `examples/kinds`. The ordinary messages are those there, and what else students wrote in the
examples of cries for help. The classifier is fitted by `manage.py fit_kind_classifier`. It is not that of cries for
help, of which no small talk may take any away (`docs/decisions/0028-kinds-of-messages.md`).
"""

import logging
from dataclasses import replace
from functools import cache

from chat.models import ORDINARY, Kind
from chat.pipeline.understanding.example_classifier import ClassifierOutdated, ExampleClassifier, kind_by_words
from chat.pipeline.understanding.help_examples import (
    KINDS,
    Example,
    fingerprint_of,
    load_examples,
    read_examples,
)
from chat.pipeline.understanding.own_examples.examples import NO_EXAMPLES, OwnExamples
from core.inference.embeddings import EmbeddingUnavailable
from core.terms import distinct_words
from knowledge.retrieval.query_vectors import multilingual_vector

logger = logging.getLogger(__name__)

#: Ordinary messages that sound like one of the kinds; what ordinary messages are like in general is not told by them.
NEAR_MISS = "near-miss"
FITTED = KINDS / "fitted.npz"


def recognised_kind(text: str, own: OwnExamples = NO_EXAMPLES) -> Kind | None:
    """Return what a message is; None for whatever may be a question. `own` are an assistant's own examples.

    Cries for help are recognised before, by `recognised_need`.
    """
    if same := own.kind_of_same(text):
        return None if same == ORDINARY else Kind(same)
    try:
        vector = multilingual_vector(text)
    except EmbeddingUnavailable:
        logger.exception("kinds of messages are recognised by their words alone")
        found = kind_by_words(text, (*_words_of_examples(), *own.words))
    else:
        found = (own.corrected or get_classifier()).recognise(vector)
    return Kind(found) if found else None


@cache
def get_classifier() -> ExampleClassifier:
    """Return the fitted classifier; raises ClassifierOutdated."""
    classifier = ExampleClassifier.load(FITTED)
    if classifier.fitted_from != fingerprint_of_kinds():
        raise ClassifierOutdated("The examples have changed. Please run `manage.py fit_kind_classifier`.")
    return classifier


@cache
def load_kind_examples() -> tuple[Example, ...]:
    """Return all examples; one of a cry for help is ORDINARY here, and so is every message that is of no kind.

    Some ordinary messages beside the cries for help are greetings, thanks and the like. Those that stand among the
    kinds are left out.
    """
    own = [replace(each, kind=ORDINARY) if each.kind == NEAR_MISS else each for each in read_examples(KINDS)]
    known = {each.text.casefold() for each in own}
    others = [each for each in load_examples() if each.text.casefold() not in known]
    return (*own, *(Example(each.text, ORDINARY, each.language) for each in others))


def fingerprint_of_kinds() -> str:
    """Return what changes when an example does."""
    return fingerprint_of(load_kind_examples())


@cache
def _words_of_examples() -> list[tuple[set[str], str]]:
    return [(distinct_words(each.text), each.kind) for each in load_kind_examples()]

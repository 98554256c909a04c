"""Fit the classifier of kinds of messages to the examples."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chat.models import ORDINARY, Kind
from chat.pipeline.understanding.example_classifier import ExampleClassifier
from chat.pipeline.understanding.example_fitting import fit_examples
from chat.pipeline.understanding.help_examples import KINDS, Example, read_examples
from chat.pipeline.understanding.kind_classifier import fingerprint_of_kinds, load_kind_examples
from core.terms import distinct_words, topic_words
from knowledge.retrieval.query_vectors import multilingual_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Chosen by cross-validation (`docs/decisions/0028-kinds-of-messages.md`).
C, GAMMA = 3.0, 0.04
#: The least sum of kernels of a message that is no question. At it about 6 of 1,000 ordinary messages are lost.
THRESHOLD = 0.33
#: Kinds that students put before or behind a question: "Thanks! And when is the deadline?"
SAID_BESIDE = (Kind.GREETING, Kind.THANKS, Kind.GOODBYE, Kind.COMPLAINT, Kind.INSULT, Kind.OFF_TOPIC)
#: Questions shorter than so many letters say too little to be cut, or to be put behind a greeting.
WHOLE = 25


def fit_classifier(embed: "Callable[[list[str]], NDArray[np.float32]]" = multilingual_vectors) -> ExampleClassifier:
    """Return a classifier fitted to all examples; it takes a minute, nearly all of it for their vectors."""
    examples = load_kind_examples()
    return fit_kinds((*examples, *derive_ordinary(examples)), embed)


def measure_language_means() -> "dict[str, NDArray[np.float32]]":
    """Return the mean vector of each language's ordinary messages, for `core.inference.embeddings.language_means`.

    Languages without ordinary messages have none.
    """
    texts: dict[str, list[str]] = {}
    for each in read_examples(KINDS):
        if each.kind == ORDINARY:
            texts.setdefault(each.language, []).append(each.text)
    return {language: multilingual_vectors(said).mean(axis=0) for language, said in texts.items()}


def fit_kinds(
    examples: Sequence[Example], embed: "Callable[[list[str]], NDArray[np.float32]]", *, threshold: float = THRESHOLD
) -> ExampleClassifier:
    """Return a classifier fitted to the examples as they are."""
    return fit_examples(
        embed([each.text for each in examples]),
        [each.kind for each in examples],
        c=C,
        gamma=GAMMA,
        threshold=threshold,
        fitted_from=fingerprint_of_kinds(),
    )


def derive_ordinary(examples: Sequence[Example]) -> list[Example]:
    """Return ordinary messages that are made of the examples: questions beside a greeting, and single words of them.

    Without them a classifier that knows "thanks" and "cool" takes "welcome" and "service" for small talk, since a
    single word lies nearer to another single word than to any sentence.
    """
    found = {each.text: each for each in (*_questions_beside(examples), *_fragments(examples))}
    known = {each.text.casefold() for each in examples}
    return [each for each in found.values() if each.text.casefold() not in known]


def _questions_beside(examples: Sequence[Example]) -> list[Example]:
    """Put each greeting, thanks and the like before or behind a question of its language."""
    found = []
    for language in sorted({each.language for each in examples}):
        ours = [each for each in examples if each.language == language]
        questions = [
            each.text for each in ours if each.kind == ORDINARY and each.text.endswith("?") and len(each.text) > WHOLE
        ]
        said = [each.text for each in ours if each.kind in SAID_BESIDE]
        if not questions:
            continue
        for number, text in enumerate(said):
            question = questions[number * len(questions) // len(said)]
            before = f"{text.rstrip('.!?')}{', ' if number % 2 else '! '}{question}"
            found.append(Example(f"{question} {text}" if number % 5 == 0 else before, ORDINARY, language))
    return found


def _fragments(examples: Sequence[Example]) -> list[Example]:
    """Cut each ordinary message to its longest word, and to its first two to four."""
    of_kinds = {word for each in examples if each.kind != ORDINARY for word in distinct_words(each.text)}
    found = []
    for number, each in enumerate(each for each in examples if each.kind == ORDINARY and len(each.text) > WHOLE):
        words = topic_words(each.text)
        if len(words) > 1:
            found.append(Example(" ".join(words[: 2 + number % 3]), ORDINARY, each.language))
        if words and (longest := max(words, key=len)).casefold() not in of_kinds:
            found.append(Example(longest, ORDINARY, each.language))
    return found

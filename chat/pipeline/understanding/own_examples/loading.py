"""Load an assistant's own examples, and make the vectors of those that have none."""

from functools import lru_cache

import numpy as np
from django.db.models import Q

from chat.models import Assistant, KindExample, Need
from chat.pipeline.understanding import help_classifier, kind_classifier
from chat.pipeline.understanding.own_examples.examples import NO_EXAMPLES, OwnExamples
from knowledge.retrieval.query_vectors import multilingual_vectors

#: Kind, text, and whether it has a vector, which never changes without the text.
Key = tuple[str, str, bool]


def load_own_kinds(assistant: Assistant) -> OwnExamples:
    """Load those of questions, and of messages that are none."""
    return _load(assistant, is_need=False)


def load_own_needs(assistant: Assistant) -> OwnExamples:
    """Load those of cries for help."""
    return _load(assistant, is_need=True)


def _load(assistant: Assistant, *, is_need: bool) -> OwnExamples:
    examples = KindExample.objects.filter(assistant=assistant.pk).annotate(is_new=Q(embedding=None))
    rows = examples.values_list("kind", "text", "is_new")
    keys = tuple((kind, text, not is_new) for kind, text, is_new in rows if (kind in Need.values) == is_need)
    return _fit(assistant.pk, keys, is_need=is_need) if keys else NO_EXAMPLES


@lru_cache(maxsize=64)
def _fit(assistant_id: int, keys: tuple[Key, ...], *, is_need: bool) -> OwnExamples:
    """Fit them once a process, until one of them changes."""
    base = help_classifier.get_classifier() if is_need else kind_classifier.get_classifier()
    rows = KindExample.objects.filter(assistant=assistant_id).exclude(embedding=None).values_list("text", "embedding")
    vectors = {text: np.array(vector, dtype=np.float32) for text, vector in rows if vector is not None}
    wanted = {text for _kind, text, has_vector in keys if has_vector}
    return OwnExamples.of(
        base, [(text, kind, vectors.get(text) if text in wanted else None) for kind, text, _has_vector in keys]
    )


def embed_pending() -> int:
    """Make the vectors that are missing; return how many. A text that is changed meanwhile keeps none.

    Raises EmbeddingUnavailable.
    """
    rows = list(KindExample.objects.filter(embedding=None).values_list("pk", "text"))
    if rows:
        for (pk, text), vector in zip(rows, multilingual_vectors([text for _pk, text in rows]), strict=True):
            KindExample.objects.filter(pk=pk, text=text).update(embedding=vector)
    return len(rows)

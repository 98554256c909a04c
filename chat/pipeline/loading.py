"""Loads what the first question to a process would otherwise wait for.

Nothing is computed and no thread is started, so that a process which forks others can load it for all of them.
"""

from contextlib import suppress

from chat.pipeline.understanding import help_classifier, kind_classifier
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.embeddings.e5.embedder import MULTILINGUAL
from core.inference.entailment.model import get_entailment_model
from core.inference.llm import client
from knowledge.guardrails.injection import load_question_rules


def load_for_questions() -> None:
    """Load the models, classifiers and rules that questions need. Raise EmbeddingUnavailable without the configured
    model."""
    load_question_rules()
    help_classifier.get_classifier()
    kind_classifier.get_classifier()
    with suppress(EmbeddingUnavailable):  # words alone are compared then
        get_embedder(MULTILINGUAL)
        if client.is_configured():
            get_entailment_model()
    if client.is_configured():
        client.load_library()
    get_embedder()

"""Entailment model: how likely a text says what a sentence says. The only place that runs one; none is part of the
product.

`VERIFIER_MODEL` is a folder with `model.onnx`, `tokenizer.json` and, for more than one label, `config.json`; the name
or folder of a CrossEncoder of sentence-transformers (the extra); or, with `VERIFIER_BASE_URL`, what a server with
vLLM's `/score` calls it.
"""

import json
import logging
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from django.conf import settings

from core.inference.onnx.pairs import WINDOW, PairGraph

logger = logging.getLogger(__name__)

#: A sentence waits for it, and the student with it.
SECONDS = 3.0
#: So long it is not asked after it failed.
PAUSE = 30.0
#: How models name the label that is meant.
ENTAILMENT = ("entailment", "entailed", "supported", "consistent")


class VerifierUnavailable(Exception):
    """No entailment model could judge; the message says what to do."""


class Verifier(Protocol):
    def probability(self, text: str, sentence: str) -> float:
        """Return from 0 to 1 how likely the text says what the sentence says. Raise VerifierUnavailable."""


class OnnxVerifier:
    """A graph with one logit, or with labels of which one is entailment."""

    def __init__(self, folder: Path) -> None:
        self._graph = PairGraph(folder)
        config = folder / "config.json"
        labels = json.loads(config.read_text("utf-8")).get("id2label", {}) if config.exists() else {}
        self._place = entailment_place(labels, name=folder.name)

    def probability(self, text: str, sentence: str) -> float:
        (logits,) = self._graph.logits(text, [sentence]).astype(np.float64)
        if len(logits) == 1:
            return float(1 / (1 + np.exp(-logits[0])))
        shares = np.exp(logits - logits.max())
        return float(shares[self._place] / shares.sum())


class SentenceTransformersVerifier:
    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise VerifierUnavailable(
                f"VERIFIER_MODEL is {name!r}, but sentence-transformers is not installed: install the extra "
                "`sentence-transformers`, name a folder with model.onnx and tokenizer.json, or set VERIFIER_BASE_URL."
            ) from error
        self._model: Any = CrossEncoder(name, device="cpu", max_length=WINDOW)
        labels = self._model.model.config.id2label
        self._place, self._has_labels = entailment_place(labels, name=name), len(labels) > 1

    def probability(self, text: str, sentence: str) -> float:
        # With one label it gives a probability by itself.
        (found,) = self._model.predict([(text, sentence)], apply_softmax=self._has_labels, show_progress_bar=False)
        return float(np.ravel(found)[self._place])


class EndpointVerifier:
    """A model with one label behind vLLM's `/score`, which gives a probability for a pair of texts."""

    def __init__(self, name: str, base_url: str) -> None:
        import openai

        self._name, self._errors = name, (openai.OpenAIError, ValueError, TypeError, LookupError)
        self._client = openai.OpenAI(
            base_url=base_url, api_key=settings.VERIFIER_API_KEY, timeout=SECONDS, max_retries=0
        )

    def probability(self, text: str, sentence: str) -> float:
        asked = {"model": self._name, "text_1": text, "text_2": sentence}
        try:
            answer: Any = self._client.post("/score", body=asked, cast_to=object)
            score = float(answer["data"][0]["score"])
            if not 0 <= score <= 1:
                raise ValueError(f"{score} is no probability")
        except self._errors as error:
            raise VerifierUnavailable(
                f"The endpoint did not answer as it should ({type(error).__name__}): check VERIFIER_BASE_URL, "
                "VERIFIER_MODEL and the server."
            ) from error
        return score


def entailment_place(labels: Mapping[Any, str], *, name: str) -> int:
    """Return the place of the label that is meant, 0 for a model with one label. Raise VerifierUnavailable."""
    if len(labels) < 2:
        return 0
    for place, label in labels.items():
        if label.lower() in ENTAILMENT:
            return int(place)
    raise VerifierUnavailable(
        f"VERIFIER_MODEL {name!r} has no label for entailment but {', '.join(labels.values())}: choose another model."
    )


_loading = threading.Lock()
_paused_until = 0.0


@cache
def _load(name: str, base_url: str) -> Verifier:
    if base_url:
        return EndpointVerifier(name, base_url)
    folder = Path(name)
    if (folder / "model.onnx").exists():
        if not (folder / "tokenizer.json").exists():
            raise VerifierUnavailable(f"VERIFIER_MODEL {name!r} has a model.onnx but no tokenizer.json beside it.")
        return OnnxVerifier(folder)
    return SentenceTransformersVerifier(name)


def is_configured() -> bool:
    return bool(settings.VERIFIER_MODEL)


def has_failed() -> bool:
    """Return whether the last call failed, not long ago."""
    return is_configured() and time.monotonic() < _paused_until


def get_verifier() -> Verifier:
    """Return this process's entailment model, loaded once. Raise VerifierUnavailable."""
    with _loading:
        return _load(settings.VERIFIER_MODEL, settings.VERIFIER_BASE_URL)


def probability(text: str, sentence: str) -> float | None:
    """Return how likely the text says what the sentence says; None if no model can tell, which is logged.

    After a failure it is not asked for a while, so that sentences do not wait one after the other.
    """
    global _paused_until
    if not is_configured() or time.monotonic() < _paused_until:
        return None
    try:
        return get_verifier().probability(text, sentence)
    except Exception as error:  # a model that cannot be loaded fails in many ways, and must not end the answer
        said = str(error) if isinstance(error, VerifierUnavailable) else ""
        logger.warning("sentence not judged a second time error=%s detail=%s", type(error).__name__, said)
        _paused_until = time.monotonic() + PAUSE
        return None

"""The embedding model and the language model do what they should."""

import json
import urllib.request
from collections.abc import Iterator

import numpy as np
from django.conf import settings

from core.inference import verifier
from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.entailment.model import get_entailment_model
from core.inference.llm import client
from core.inference.verifier import VerifierUnavailable
from knowledge.indexing.generations import load_embedder
from knowledge.models import Generation
from marcelcms.doctor.findings import Finding, fail, ok, warn

SECONDS = 5
MOST_BYTES = 1 << 20
#: A question, what answers it, and what does not.
QUESTION = "How much is the semester contribution?"
CLOSE, FAR = "The semester contribution is 318 euros.", "The library is open from eight to midnight."


def embeddings() -> Iterator[Finding]:
    try:
        embedder = get_embedder()
        (question,), (close, far) = embedder.embed_questions([QUESTION]), embedder.embed([CLOSE, FAR])
    except EmbeddingUnavailable as error:
        yield fail("embeddings", str(error), "Check EMBEDDING_MODEL and EMBEDDING_BASE_URL.")
        return
    lengths = [float(np.linalg.norm(vector)) for vector in (question, close, far)]
    if len(question) != embedder.dimensions or any(abs(length - 1) > 0.01 for length in lengths):
        yield fail("embeddings", f"{embedder.model} gives no unit vectors", "Choose another EMBEDDING_MODEL.")
    elif float(question @ close) <= float(question @ far):
        yield fail(
            "embeddings",
            f"{embedder.model} finds a question closer to what does not answer it",
            "Check EMBEDDING_MODEL and the prefixes that it wants.",
        )
    else:
        yield ok("embeddings", f"{embedder.model}, {embedder.dimensions} numbers")
    live = Generation.objects.filter(state=Generation.State.LIVE).first()
    if live and load_embedder(live).recipe != embedder.recipe:
        yield warn(
            "embeddings",
            f"questions are still answered from {live.model}: the new index is being built",
            "Nothing, while a worker of the queue `long` runs; `manage.py reindex` does it at once.",
        )


def check_of_sentences() -> Iterator[Finding]:
    """Ask the product's own entailment model about a sentence that is said and one that is not."""
    try:
        model = get_entailment_model()
        said, other = model.logit(CLOSE, CLOSE), model.logit(CLOSE, FAR)
    except (EmbeddingUnavailable, ImportError, OSError) as error:
        todo = "Install the packages of requirements.lock again, or make the image anew."
        yield fail("check of sentences", f"its model cannot be loaded: {error}", todo)
        return
    if said <= other:
        yield fail("check of sentences", "its model takes a wrong sentence for right", "Delete STATE_DIR/models.")
    else:
        yield ok("check of sentences", "its model tells what a page says from what it does not")


def second_judge() -> Iterator[Finding]:
    """Ask about a sentence that is right and one that is wrong."""
    if not verifier.is_configured():
        yield ok("second judge", "none is set: the check of sentences decides alone")
        return
    try:
        judge = verifier.get_verifier()
        right, wrong = judge.probability(CLOSE, CLOSE), judge.probability(CLOSE, FAR)
    except (VerifierUnavailable, OSError, RuntimeError, ValueError) as error:
        yield fail("second judge", str(error), "Check VERIFIER_MODEL and VERIFIER_BASE_URL.")
        return
    if right <= wrong:
        yield fail("second judge", "takes a wrong sentence for right", "Choose another VERIFIER_MODEL.")
    else:
        yield ok("second judge", f"{settings.VERIFIER_MODEL} judges")


def language_model() -> Iterator[Finding]:
    """Ask for the list of models, which costs nothing."""
    if not client.is_configured():
        yield ok("language model", "none is set: answers are quotes")
        return
    address = f"{settings.LLM_BASE_URL.rstrip('/')}/models"
    if not address.startswith(("http://", "https://")):
        yield fail("language model", "LLM_BASE_URL is no web address", "Set it to such as http://vllm:8000/v1.")
        return
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {settings.LLM_API_KEY}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310
            there = [str(model["id"]) for model in json.loads(reply.read(MOST_BYTES))["data"]]
    except OSError as error:
        said = f"does not answer: {getattr(error, 'reason', None) or error}"
        yield fail(
            "language model", said, "Check LLM_BASE_URL, LLM_API_KEY and that server; answers are quotes meanwhile."
        )
        return
    except (ValueError, KeyError, TypeError):
        yield warn("language model", "gives no list of its models", "Check that LLM_BASE_URL ends in /v1 or the like.")
        return
    if settings.LLM_MODEL in there:
        yield ok("language model", f"{settings.LLM_MODEL} is served")
    else:
        served = ", ".join(there[:5]) or "none"
        yield fail(
            "language model",
            f"{settings.LLM_MODEL} is not served there, but {served}",
            "Set LLM_MODEL to one of these.",
        )

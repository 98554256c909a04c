"""Embedding models of this process by name. Nothing outside this package runs or calls one."""

import json
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from django.conf import settings

from core.inference.embeddings.base import Embedder, EmbeddingUnavailable
from core.inference.embeddings.e5.embedder import MULTILINGUAL, MultilingualEmbedder
from core.inference.embeddings.ensemble import JOINED, JoinedEmbedder
from core.inference.embeddings.exported import EXPORTED, ExportedEmbedder, is_exported
from core.inference.embeddings.minilm import MINILM, MiniLMEmbedder
from core.inference.embeddings.remote import (
    ENDPOINT,
    SENTENCE_TRANSFORMERS,
    EndpointEmbedder,
    Prefixes,
    SentenceTransformerEmbedder,
    named,
)

__all__ = ["Embedder", "EmbeddingUnavailable", "configured_model", "get_embedder"]

_loading = threading.Lock()


@cache
def _load(model: str) -> Embedder:
    if built_in := BUILT_IN.get(model):
        return built_in()
    if model.startswith(EXPORTED):
        return ExportedEmbedder(Path(model.removeprefix(EXPORTED)), threads=settings.EMBEDDING_THREADS)
    name, mark, prefixes = model.partition(' ["')
    given = Prefixes(*json.loads(mark[1:] + prefixes)) if mark else Prefixes()
    if name.startswith(ENDPOINT):
        name, _, base_url = name.removeprefix(ENDPOINT).rpartition(" ")
        return EndpointEmbedder(name, base_url, given)
    return SentenceTransformerEmbedder(name.removeprefix(SENTENCE_TRANSFORMERS), given)


BUILT_IN: dict[str, Callable[[], Embedder]] = {
    # Each model is loaded once, also where one of the two is asked alone.
    JOINED: lambda: JoinedEmbedder(_load(MINILM), _load(MULTILINGUAL)),
    MINILM: lambda: MiniLMEmbedder(threads=settings.EMBEDDING_THREADS),
    MULTILINGUAL: lambda: MultilingualEmbedder(threads=settings.EMBEDDING_THREADS),
}


def configured_model() -> str:
    """Return the name of the model that the settings ask for; raises EmbeddingUnavailable."""
    name: str = settings.EMBEDDING_MODEL
    prefixes = Prefixes(settings.EMBEDDING_QUESTION_PREFIX, settings.EMBEDDING_PASSAGE_PREFIX)
    if settings.EMBEDDING_BASE_URL:
        return named(f"{ENDPOINT}{name} {settings.EMBEDDING_BASE_URL}", prefixes)
    if is_exported(Path(name)):
        if prefixes.recipe:
            raise EmbeddingUnavailable(
                f"EMBEDDING_MODEL {name!r} is an exported model, which has its prefixes: leave "
                "EMBEDDING_QUESTION_PREFIX and EMBEDDING_PASSAGE_PREFIX empty, or export it with others."
            )
        return EXPORTED + name
    return name if name in BUILT_IN else named(SENTENCE_TRANSFORMERS + name, prefixes)


def get_embedder(model: str = "") -> Embedder:
    """Return this process's embedder of that name, or of the settings, loaded once; raises EmbeddingUnavailable."""
    with _loading:
        return _load(model or configured_model())

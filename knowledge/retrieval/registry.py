"""Retrievers by the names that profiles use."""

from typing import TYPE_CHECKING

from knowledge.retrieval.types import Retriever

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

RETRIEVERS: dict[str, Retriever] = {}
LABELS: "dict[str, StrOrPromise]" = {}


def register(name: str, retriever: Retriever, *, label: "StrOrPromise") -> None:
    """Let profiles use a retriever; staff see `label`. Raise ValueError if the name is taken."""
    if name in RETRIEVERS:
        raise ValueError(f"Two retrievers are called {name}.")
    RETRIEVERS[name], LABELS[name] = retriever, label


def retriever_choices() -> "list[tuple[str, StrOrPromise]]":
    """Return (name, label) of each, for forms."""
    return list(LABELS.items())

"""Reads of pages and FAQs for a question: on a replica if the question may be answered from one."""

from collections.abc import Callable
from typing import TypeVar

from chat.pipeline.question import Question
from core.db.reading import read_recent
from knowledge.retrieval.scope import UnknownCollection

T = TypeVar("T")


def read_pages(ask: Question, read: Callable[[], T]) -> T:
    """Run `read`, perhaps twice: on the replica and, if that fails, on the primary. Raises what `read` raises."""
    return read_recent(read, missing=(UnknownCollection,)) if ask.may_lag else read()

"""Asks a language model for a set, several calls at once: bounded in time, resumable, and never twice for an answer.

What was asked for is kept in `ModelRequest`; a wrong answer is asked for once more.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from analytics.models import EvaluationSet, ModelRequest
from core.inference.llm.client import JsonAnswer, ModelUnavailable, complete_json
from knowledge.indexing.propositions import CALLS_AT_ONCE, FAULTS_OF_THE_CALL

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 2
#: The subject of a call.
Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Call(Generic[Subject]):
    """`keys` are those of its `ModelRequest`s."""

    subject: Subject
    keys: tuple[str, ...]
    messages: Sequence[dict[str, str]]
    schema: Mapping[str, Any]
    max_tokens: int


def settled(evaluation_set: EvaluationSet | None, purpose: str) -> set[str]:
    """Return the keys that are not asked for again: answered, or given up on."""
    if evaluation_set is None:
        return set()
    rows = ModelRequest.objects.filter(evaluation_set=evaluation_set, purpose=purpose)
    return {row.key for row in rows if not row.failure or row.attempts >= MOST_ATTEMPTS}


class Asker:
    """One run's calls and what they cost. `stopped` names why it ended early: a code of ModelUnavailable or `time`."""

    def __init__(self, evaluation_set: EvaluationSet, *, seconds: float | None) -> None:
        self._set = evaluation_set
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.stopped = ""
        self.prompt_tokens = self.answer_tokens = 0

    def ask(self, purpose: str, calls: Sequence[Call[Subject]]) -> Iterator[tuple[Call[Subject], JsonAnswer]]:
        """Yield the calls as they are answered; the caller notes each with `note`."""
        with asyncio.Runner() as runner:
            for start in range(0, len(calls), CALLS_AT_ONCE):
                if self._deadline is not None and time.monotonic() >= self._deadline:
                    self.stopped = "time"
                if self.stopped:
                    return
                group = calls[start : start + CALLS_AT_ONCE]
                answers = runner.run(_ask_at_once(group))
                is_there = any(isinstance(answer, JsonAnswer) for answer in answers)
                for call, answer in zip(group, answers, strict=True):
                    if isinstance(answer, JsonAnswer):
                        self.prompt_tokens += answer.prompt_tokens
                        self.answer_tokens += answer.answer_tokens
                        yield call, answer
                    else:
                        self._miss(purpose, call, answer.code, is_there=is_there, is_only=len(group) == 1)

    def note(self, purpose: str, call: Call[Any], answer: JsonAnswer, failures: Mapping[str, str]) -> None:
        """Note calls; `failures` say by key what was wrong. Called in the transaction that saves what was right."""
        self._record(purpose, call, failures, answer.prompt_tokens, answer.answer_tokens)

    def _miss(self, purpose: str, call: Call[Any], code: str, *, is_there: bool, is_only: bool) -> None:
        """Note a failed call; `is_there`: other calls were answered meanwhile, so that what was asked is at fault."""
        is_fault_of_call = code in FAULTS_OF_THE_CALL
        logger.warning("no answer purpose=%s code=%s keys=%d", purpose, code, len(call.keys))
        if is_fault_of_call and (is_there or is_only):
            self._record(purpose, call, dict.fromkeys(call.keys, code), 0, 0)
        if not (is_fault_of_call and is_there):
            self.stopped = code

    def _record(
        self, purpose: str, call: Call[Any], failures: Mapping[str, str], prompt_tokens: int, answer_tokens: int
    ) -> None:
        for place, key in enumerate(call.keys):
            row, _created = ModelRequest.objects.get_or_create(evaluation_set=self._set, purpose=purpose, key=key)
            row.attempts += 1
            row.failure = failures.get(key, "")
            if place == 0:
                row.prompt_tokens += prompt_tokens
                row.answer_tokens += answer_tokens
            row.save()


async def _ask_at_once(group: Sequence[Call[Any]]) -> list[JsonAnswer | ModelUnavailable]:
    return list(await asyncio.gather(*map(_ask, group)))


async def _ask(call: Call[Any]) -> JsonAnswer | ModelUnavailable:
    try:
        return await complete_json(call.messages, schema=call.schema, max_tokens=call.max_tokens)
    except ModelUnavailable as unavailable:
        return unavailable

"""Retries of a call to an endpoint that failed before anything was received, or asks for a retry."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

RETRIES = 2
RETRY_SECONDS = 0.3
RETRIED_STATUSES = {500, 502, 503, 504}
BUSY = 429
#: Longer Retry-After times are not waited for.
MOST_RETRY_AFTER = 2.0


@dataclass(frozen=True, slots=True)
class Call:
    """A request to `endpoint`, its address and model; `limit`, on the loop's clock, is when the headers are due."""

    client: "AsyncOpenAI"
    endpoint: tuple[str, str]
    messages: Sequence[dict[str, str]]
    limit: float
    may_retry: bool

    async def begin_with(self, optional: Mapping[str, Any], refused_by: set[tuple[str, str]], **options: Any) -> Any:
        """Start a call and return the completion, or the stream once its headers are there.

        Raises what the client raises. The `optional` part is left out if the endpoint refused it before, or refuses it
        now, which is remembered.
        """
        from openai import BadRequestError, UnprocessableEntityError

        if self.endpoint in refused_by:
            return await self._begin(options)
        try:
            return await self._begin({**options, **optional})
        except (BadRequestError, UnprocessableEntityError):
            completion = await self._begin(options)
            refused_by.add(self.endpoint)  # the endpoint does not accept the optional part
            return completion

    async def _begin(self, options: Mapping[str, Any]) -> Any:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        loop = asyncio.get_running_loop()
        for retry in range(RETRIES if self.may_retry else 0):
            try:
                return await self._create(options)
            except APITimeoutError:
                raise
            except (APIConnectionError, APIStatusError) as error:
                pause = _backoff(retry) if isinstance(error, APIConnectionError) else _pause_before(retry, error)
                if pause is None or loop.time() + pause >= self.limit:
                    raise
            await asyncio.sleep(pause)
        return await self._create(options)

    async def _create(self, options: Mapping[str, Any]) -> Any:
        return await self.client.chat.completions.create(
            model=self.endpoint[1],
            messages=list(self.messages),  # type: ignore[arg-type]
            **options,
        )


def _backoff(retry: int) -> float:
    return RETRY_SECONDS * (1 << retry) * random.uniform(0.5, 1.5)  # noqa: S311 - jitter, no secret


def _pause_before(retry: int, error: "APIStatusError") -> float | None:
    """Return the seconds until retry number `retry`, counted from 0, or None if there should be none."""
    told = error.response.headers.get("retry-after", "").strip()
    if error.status_code not in RETRIED_STATUSES and not (error.status_code == BUSY and told):
        return None
    if told:
        return float(told) if told.isdecimal() and float(told) <= MOST_RETRY_AFTER else None
    return _backoff(retry)

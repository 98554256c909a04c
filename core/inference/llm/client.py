"""A language model behind any OpenAI-compatible endpoint. The only place that calls one.

A call waits for its turn (`queue`), is refused at once if the endpoint keeps failing (`circuit_breaker`), and is
retried if nothing was received yet and a retry is safe (`retry`).
"""

import asyncio
import importlib
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

from core.inference.llm.circuit_breaker import Attempt, Circuit, CircuitOpen
from core.inference.llm.queue import ModelQueue, QueueFull, QueueTicket
from core.inference.llm.retry import Call
from core.inference.llm.stream import StreamedAnswer, read_chunks
from core.inference.llm.token_budget import estimate_tokens
from core.telemetry.metrics import model_call
from core.text import strip_nul

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: No language has as long tokens on average: a longer answer ignores `max_tokens`.
CHARACTERS_PER_TOKEN = 8
#: Seconds until an endpoint must be connected to: one whose name is not resolved, or who is silent, is away.
CONNECT_SECONDS = 5.0
#: Seconds to wait for the end of a stream once the answer is complete.
USAGE_SECONDS = 2.0
#: Tokens of a message's role and marks, in addition to its text.
MESSAGE_TOKENS = 8
#: Where an object may begin in what a model wrote around it.
OPENING = re.compile(r"\{")
#: The client library, and what its first call would import in the event loop.
LIBRARY = ("openai", "openai.resources.chat.completions", "anyio._backends._asyncio")
#: Endpoints, by address and model, that refused a schema or usage reports: later calls leave these out.
_schemaless: set[tuple[str, str]] = set()
_usageless: set[tuple[str, str]] = set()


class ModelUnavailable(Exception):
    """The endpoint refused, failed, sent invalid data or took too long; `code` says which, for logs and the record."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Sampling:
    """Choices of how a model writes; "" and 0 mean LLM_MODEL and LLM_MAX_TOKENS."""

    model: str = ""
    temperature: float = 0.1
    max_tokens: int = 0


PROSE = Sampling()
EXACT = Sampling(temperature=0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call waits behind others; `position` counts from 1."""

    position: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as counted by the endpoint, or estimated."""

    prompt_tokens: int
    answer_tokens: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer as JSON; `data` is None if it cannot be parsed, tokens are 0 if the endpoint does not count them."""

    data: Any
    prompt_tokens: int
    answer_tokens: int


def is_configured() -> bool:
    return bool(settings.LLM_BASE_URL and settings.LLM_MODEL)


def has_failed() -> bool:
    """Return whether the endpoint kept failing and no call has succeeded since."""
    return is_configured() and _circuit((settings.LLM_BASE_URL, settings.LLM_MODEL)).has_failed


async def stream(
    messages: Sequence[dict[str, str]], *, sampling: Sampling = PROSE, caller: str = ""
) -> AsyncGenerator[str | Waiting | Usage]:
    """Stream an answer: `Waiting` as the place in the queue changes, pieces of text, and `Usage` last.

    Raises ModelUnavailable, also in the middle. `caller` is whose turn it is: callers take turns. Once it is, the first
    piece must come within LLM_FIRST_TOKEN_SECONDS, each next one too, all within LLM_TOTAL_SECONDS.
    """
    openai = await _library()
    loop = asyncio.get_running_loop()
    endpoint = (settings.LLM_BASE_URL, sampling.model or settings.LLM_MODEL)
    most_tokens = sampling.max_tokens or settings.LLM_MAX_TOKENS
    answer = StreamedAnswer()
    with _place(endpoint, caller) as place:
        waited_for = loop.time() + settings.LLM_QUEUE_SECONDS
        while position := await _moved(place, waited_for):
            yield Waiting(position)
        deadline = loop.time() + settings.LLM_TOTAL_SECONDS
        limit = min(loop.time() + settings.LLM_FIRST_TOKEN_SECONDS, deadline)
        with _attempt(endpoint, openai) as attempt:
            client = _client(endpoint[0], settings.LLM_API_KEY, settings.LLM_FIRST_TOKEN_SECONDS, loop)
            # The client would compare each field with its own types: they go past it.
            call = Call(client, endpoint, (), limit, may_retry=not attempt.is_trial)
            async with asyncio.timeout_at(limit):
                completion = await call.begin_with(
                    {"stream_options": {"include_usage": True}},
                    _usageless,
                    stream=True,
                    extra_body={
                        "messages": messages,
                        "temperature": sampling.temperature,
                        "max_tokens": most_tokens,
                    },
                )
            async with completion:
                chunks = read_chunks(completion.response)
                while True:
                    try:
                        async with asyncio.timeout_at(limit):
                            chunk = await anext(chunks, None)
                    except (TimeoutError, openai.APIConnectionError):
                        if answer.is_finished:
                            break
                        raise
                    if chunk is None:
                        break
                    if piece := answer.take(chunk):
                        attempt.heard()
                        if answer.characters > CHARACTERS_PER_TOKEN * most_tokens:
                            raise ModelUnavailable("endless")
                        yield piece
                        limit = min(loop.time() + settings.LLM_FIRST_TOKEN_SECONDS, deadline)
                    if answer.is_finished:
                        limit = min(loop.time() + USAGE_SECONDS, limit)
            if not answer.is_finished:
                raise ModelUnavailable("cut_off")
    if answer.usage:
        yield Usage(*answer.usage, estimated=False)
    else:
        prompt_tokens = sum(MESSAGE_TOKENS + estimate_tokens(message["content"]) for message in messages)
        yield Usage(prompt_tokens, estimate_tokens(answer.text), estimated=True)


async def complete_json(
    messages: Sequence[dict[str, str]],
    *,
    schema: Mapping[str, Any],
    max_tokens: int,
    caller: str = "",
    sampling: Sampling = EXACT,
    seconds: float | None = None,
) -> JsonAnswer:
    """Complete as JSON, within LLM_TOTAL_SECONDS of the turn, or within `seconds` including the wait.

    Raises ModelUnavailable. The schema is sent if the endpoint supports schemas, so check `data` all the same.
    """
    openai = await _library()
    loop = asyncio.get_running_loop()
    endpoint = (settings.LLM_BASE_URL, sampling.model or settings.LLM_MODEL)
    own_limit = None if seconds is None else loop.time() + seconds
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    with _place(endpoint, caller) as place:
        waited_for = loop.time() + settings.LLM_QUEUE_SECONDS
        while await _moved(place, waited_for if own_limit is None else min(waited_for, own_limit)):
            pass
        limit = loop.time() + settings.LLM_TOTAL_SECONDS if own_limit is None else own_limit
        # A caller's short time limit says nothing about the endpoint.
        with _attempt(endpoint, openai, is_timeout_a_failure=own_limit is None) as attempt:
            client = _client(endpoint[0], settings.LLM_API_KEY, settings.LLM_TOTAL_SECONDS, loop)
            call = Call(client, endpoint, messages, limit, may_retry=not attempt.is_trial)
            async with asyncio.timeout_at(limit):
                completion = await call.begin_with(
                    {"response_format": form}, _schemaless, temperature=sampling.temperature, max_tokens=max_tokens
                )
            text, usage = completion.choices[0].message.content or "", completion.usage
            if not isinstance(text, str):
                raise TypeError("content is no text")
            spent = (int(usage.prompt_tokens), int(usage.completion_tokens)) if usage else (0, 0)
    return JsonAnswer(_json_in(text), *spent)


async def _library() -> Any:
    """Import the client library outside the event loop: the first import takes a second or two."""
    return load_library() if load_library.cache_info().currsize else await asyncio.to_thread(load_library)


@lru_cache
def load_library() -> Any:
    """Import the client library; return it."""
    library, *_rest = map(importlib.import_module, LIBRARY)
    return library


@lru_cache(maxsize=4)
def _client(base_url: str, api_key: str, timeout: int, loop: asyncio.AbstractEventLoop) -> "AsyncOpenAI":
    """Return the client of an event loop, since its connections belong to the loop; `loop` only keeps them apart."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    from core.inference.llm.response_limit import bound_body

    return AsyncOpenAI(
        base_url=base_url,
        api_key=api_key,
        # The client's own retries follow Retry-After for up to a minute, in which the student would see nothing.
        max_retries=0,
        # Each reader has its own limit; a limit for each piece of a stream would cost as much as the piece.
        timeout=Timeout(timeout, connect=min(timeout, CONNECT_SECONDS), read=None),
        http_client=DefaultAsyncHttpxClient(event_hooks={"response": [bound_body]}),
        # What is packed can be much more than what is counted.
        default_headers={"Accept-Encoding": "identity"},
    )


@lru_cache(maxsize=1)
def _queue(at_once: int, most: int) -> ModelQueue:
    """Return this process's queue."""
    return ModelQueue(at_once=at_once, most=most)


@lru_cache(maxsize=16)
def _circuit(endpoint: tuple[str, str]) -> Circuit:
    return Circuit()


@contextmanager
def _place(endpoint: tuple[str, str], caller: str) -> Iterator[QueueTicket]:
    """Wait in the queue; refuse at once if the endpoint's circuit is open."""
    if _circuit(endpoint).is_open:
        raise ModelUnavailable("circuit_open")
    try:
        with _queue(settings.LLM_CONCURRENCY, settings.LLM_QUEUE).place(caller) as place:
            yield place
    except QueueFull as full:
        raise ModelUnavailable("queue_full") from full


async def _moved(place: QueueTicket, limit: float) -> int:
    try:
        async with asyncio.timeout_at(limit):
            return await place.moved()
    except TimeoutError as error:
        raise ModelUnavailable("queue_timeout") from error


def _json_in(text: str) -> Any:
    """Parse the first JSON object in a text: models put fences, or a sentence, around theirs."""
    decoder = json.JSONDecoder()
    for opening in OPENING.finditer(text):
        try:
            return strip_nul(decoder.raw_decode(text, opening.start())[0])
        except (ValueError, RecursionError):
            continue
    return None


@contextmanager
def _attempt(endpoint: tuple[str, str], openai: Any, *, is_timeout_a_failure: bool = True) -> Iterator[Attempt]:
    """Guard a call whose turn it is: raise every error of the endpoint as ModelUnavailable, and report its health."""
    try:
        with _circuit(endpoint).attempt() as attempt:
            try:
                with model_call(), _as_unavailable(openai):
                    yield attempt
            except ModelUnavailable as error:
                is_failure = error.code == "unreachable" or error.code.startswith("status_5")
                if is_failure or (error.code == "timeout" and is_timeout_a_failure):
                    attempt.failed(error.code)
                elif error.code.startswith("status_4"):
                    attempt.succeeded()  # it is there
                raise
            attempt.succeeded()
    except CircuitOpen as error:
        raise ModelUnavailable("circuit_open") from error


@contextmanager
def _as_unavailable(openai: Any) -> Iterator[None]:
    from core.inference.llm.response_limit import BodyTooLarge

    try:
        yield
    except BodyTooLarge as error:
        raise ModelUnavailable("huge") from error
    except (TimeoutError, openai.APITimeoutError) as error:
        raise ModelUnavailable("timeout") from error
    except openai.RateLimitError as error:
        raise ModelUnavailable("busy") from error
    except openai.APIStatusError as error:
        raise ModelUnavailable(f"status_{error.status_code}") from error
    except openai.APIConnectionError as error:
        raise ModelUnavailable("unreachable") from error
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
        # What a server that does not speak the protocol makes the client raise.
        raise ModelUnavailable("garbage") from error

"""A language model behind any OpenAI-compatible endpoint. The only place that calls one."""

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

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRY_SECONDS = 0.3
#: Where an object may begin in what a model wrote around it.
OPENING = re.compile(r"\{")
#: Endpoints, by address and model, that refused a schema: asked without one from then on.
_schemaless: set[tuple[str, str]] = set()


class ModelUnavailable(Exception):
    """The endpoint refused, failed, sent nonsense or took too long; `code` says which, for logs and the record."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """`data` is None where what the model wrote is no JSON; tokens are as the endpoint counts them, else 0."""

    data: Any
    prompt_tokens: int
    answer_tokens: int


def is_configured() -> bool:
    return bool(settings.LLM_BASE_URL and settings.LLM_MODEL)


@lru_cache(maxsize=4)
def _client(base_url: str, api_key: str, timeout: int, loop: asyncio.AbstractEventLoop) -> "AsyncOpenAI":
    """One a loop, since its connections belong to the loop; `loop` only keeps them apart."""
    from openai import AsyncOpenAI

    # Its own retries heed Retry-After for up to a minute, in which the student would see nothing.
    return AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout)


async def _begin(client: "AsyncOpenAI", messages: Sequence[dict[str, str]], **options: Any) -> Any:
    """The completion or, once its headers are there, the stream; one quick retry where the endpoint failed, none where
    it is busy."""
    import openai

    async def create() -> Any:
        return await client.chat.completions.create(
            model=settings.LLM_MODEL,
            messages=list(messages),  # type: ignore[arg-type]
            **options,
        )

    try:
        return await create()
    except openai.APITimeoutError:
        raise
    except (openai.APIConnectionError, openai.InternalServerError):
        await asyncio.sleep(RETRY_SECONDS)
    return await create()


async def stream(messages: Sequence[dict[str, str]]) -> AsyncGenerator[str]:
    """The answer's text in pieces; raises ModelUnavailable, also in the middle.

    The first piece must come within LLM_FIRST_TOKEN_SECONDS, each next one too, all within LLM_TOTAL_SECONDS.
    """
    # Apart from the loop: its first import takes a second or two.
    openai = await asyncio.to_thread(importlib.import_module, "openai")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + settings.LLM_TOTAL_SECONDS

    def next_limit() -> float:
        return min(loop.time() + settings.LLM_FIRST_TOKEN_SECONDS, deadline)

    client = _client(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_FIRST_TOKEN_SECONDS, loop)
    finished = False
    with _as_unavailable(openai):
        async with asyncio.timeout_at(next_limit()):
            completion = await _begin(
                client, messages, stream=True, temperature=0.1, max_tokens=settings.LLM_MAX_TOKENS
            )
        async with completion:
            chunks = aiter(completion)
            while True:
                async with asyncio.timeout_at(next_limit()):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                for choice in chunk.choices or ():
                    if choice.delta and choice.delta.content:
                        if not isinstance(choice.delta.content, str):
                            raise TypeError("content is no text")
                        yield choice.delta.content
                    finished = finished or choice.finish_reason is not None
    if not finished:
        raise ModelUnavailable("cut_off")


async def complete_json(
    messages: Sequence[dict[str, str]], *, schema: Mapping[str, Any], max_tokens: int
) -> JsonAnswer:
    """What the model writes as JSON, within LLM_TOTAL_SECONDS; raises ModelUnavailable.

    The schema is sent where the endpoint knows what to do with it, so `data` must be checked all the same.
    """
    openai = await asyncio.to_thread(importlib.import_module, "openai")
    loop = asyncio.get_running_loop()
    client = _client(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_TOTAL_SECONDS, loop)
    endpoint = (settings.LLM_BASE_URL, settings.LLM_MODEL)
    options: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    with _as_unavailable(openai):
        async with asyncio.timeout(settings.LLM_TOTAL_SECONDS):
            if endpoint in _schemaless:
                completion = await _begin(client, messages, **options)
            else:
                try:
                    completion = await _begin(client, messages, response_format=form, **options)
                except (openai.BadRequestError, openai.UnprocessableEntityError):
                    completion = await _begin(client, messages, **options)
                    _schemaless.add(endpoint)  # it is the schema that it does not take
        text, usage = completion.choices[0].message.content or "", completion.usage
        if not isinstance(text, str):
            raise TypeError("content is no text")
        spent = (int(usage.prompt_tokens), int(usage.completion_tokens)) if usage else (0, 0)
    return JsonAnswer(_json_in(text), *spent)


def _json_in(text: str) -> Any:
    """The first JSON object in it: models put fences, or a sentence, around theirs."""
    decoder = json.JSONDecoder()
    for opening in OPENING.finditer(text):
        try:
            return decoder.raw_decode(text, opening.start())[0]
        except (ValueError, RecursionError):
            continue
    return None


@contextmanager
def _as_unavailable(openai: Any) -> Iterator[None]:
    """Everything that an endpoint makes the client raise, as ModelUnavailable."""
    try:
        yield
    except TimeoutError as error:
        raise ModelUnavailable("timeout") from error
    except openai.APITimeoutError as error:
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

"""A language model behind any OpenAI-compatible endpoint. The only place that calls one."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRY_SECONDS = 0.3


class ModelUnavailable(Exception):
    """The endpoint refused, failed, sent nonsense or took too long; `code` says which, for logs and the record."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def is_configured() -> bool:
    return bool(settings.LLM_BASE_URL and settings.LLM_MODEL)


@lru_cache(maxsize=4)
def _client(base_url: str, api_key: str, timeout: int, loop: asyncio.AbstractEventLoop) -> "AsyncOpenAI":
    """One a loop, since its connections belong to the loop; `loop` only keeps them apart."""
    from openai import AsyncOpenAI

    # Its own retries heed Retry-After for up to a minute, in which the student would see nothing.
    return AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout)


async def _begin(client: "AsyncOpenAI", messages: Sequence[dict[str, str]]) -> Any:
    """The stream, once its headers are there; one quick retry where the endpoint failed, none where it is busy."""
    import openai

    async def create() -> Any:
        return await client.chat.completions.create(
            model=settings.LLM_MODEL,
            messages=list(messages),  # type: ignore[arg-type]
            stream=True,
            temperature=0.1,
            max_tokens=settings.LLM_MAX_TOKENS,
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
    try:
        async with asyncio.timeout_at(next_limit()):
            completion = await _begin(client, messages)
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
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        # What a server that does not speak the protocol makes the client raise.
        raise ModelUnavailable("garbage") from error
    if not finished:
        raise ModelUnavailable("cut_off")

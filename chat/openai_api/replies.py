"""Answers in OpenAI's form: whole, or as a stream of chunks.

A message has five fields more than OpenAI's, on the last chunk of a stream too: `citations`, `abstained`, `reason`,
`status` and `machine_made`. `annotations` are the same sources as OpenAI writes them.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from chat.openai_api.errors import error_body
from chat.services.client_questions import Asked, tokens_used
from chat.streaming.plain_text import PlainAnswer
from core.db.prepared import in_database

HEARTBEAT = ": \n\n"
DONE = "data: [DONE]\n\n"


async def as_completion(asked: Asked, answer: PlainAnswer, *, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.text, "refusal": None, **described(answer)}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {**_head(asked, model, "chat.completion"), "choices": [choice], "usage": await _usage(asked)}


async def as_chunks(asked: Asked, *, model: str, wants_usage: bool) -> AsyncGenerator[str]:
    """Write an answer as server-sent events, each word when it is proven; an answer that fails ends with an error."""
    answer = PlainAnswer(asked.language)
    head = _head(asked, model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(asked.events) as events:
        async for event in events:
            if event is None:
                yield HEARTBEAT
            elif more := answer.take(event):
                yield chunk({"content": more})
    if answer.has_failed:
        yield _event(error_body(answer.error, "server_error", code="answer_failed"))
    else:
        yield chunk(described(answer), "stop")
        if wants_usage:
            yield _event({**head, "choices": [], "usage": await _usage(asked)})
    yield DONE


def described(answer: PlainAnswer) -> dict[str, Any]:
    """Return what a message says about its answer."""
    return {
        "citations": answer.citations,
        "abstained": answer.is_abstention,
        "reason": answer.reason,
        "status": answer.status,
        "machine_made": answer.is_machine_made,
        "annotations": list(_annotations(answer)),
    }


def _annotations(answer: PlainAnswer) -> Any:
    """Yield each source that stands in the text, with the place of its first marker."""
    for each in answer.citations:
        marker = f"[{each['n']}]"
        start = answer.text.find(marker)
        if start >= 0 and each["url"]:
            cited = {"url": each["url"], "title": each["title"], "start_index": start, "end_index": start + len(marker)}
            yield {"type": "url_citation", "url_citation": cited}


def _head(asked: Asked, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{asked.conversation.hex}", "object": kind, "created": asked.created, "model": model}


async def _usage(asked: Asked) -> dict[str, int]:
    used = await in_database(tokens_used)(asked.message)
    return {
        "prompt_tokens": used.read,
        "completion_tokens": used.written,
        "total_tokens": used.read + used.written,
    }


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"

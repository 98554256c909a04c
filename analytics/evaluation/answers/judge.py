"""A language model that judges answers, behind any OpenAI-compatible endpoint: JUDGE_BASE_URL and JUDGE_MODEL.

It is another one than the model that answers wherever somebody sets it so: a model favours its own words.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import openai
from django.conf import settings

from analytics.evaluation.answers import judge_prompts as prompts
from analytics.evaluation.answers.errors import JudgeUnavailable

CALLS_AT_ONCE = 4
SECONDS = 120
#: Retries of the client: after a failed connection, or a busy or broken server.
RETRIES = 1
#: Attempts until a reply can be read.
ATTEMPTS = 2
TOKENS = 800
#: Statuses that are about the request, not about the endpoint.
FAULTS_OF_THE_CALL = {400, 413, 422}
OPENING = re.compile(r"\{")
Read = TypeVar("Read")


class Judge:
    """A client for one event loop. Its methods return None without a usable reply, and raise JudgeUnavailable."""

    def __init__(self) -> None:
        self._client = openai.AsyncOpenAI(
            base_url=settings.JUDGE_BASE_URL, api_key=settings.JUDGE_API_KEY, timeout=SECONDS, max_retries=RETRIES
        )
        self._places = asyncio.Semaphore(CALLS_AT_ONCE)
        self._knows_schemas = True

    async def scores(
        self, question: str, answer: str, reference: str, passages: Sequence[str]
    ) -> dict[str, int] | None:
        """Return scores from 1 to 5, by `judge_prompts.SCORES`."""
        messages = prompts.score_messages(question, answer, reference, passages)
        return await self._ask(messages, prompts.SCORE_SCHEMA, prompts.read_scores)

    async def supported(self, claims: Sequence[str], passages: Sequence[str]) -> list[bool] | None:
        """Return which claims the passages hold."""
        messages = prompts.claims_messages(claims, passages)
        return await self._ask(messages, prompts.CLAIMS_SCHEMA, lambda data: prompts.read_verdicts(data, len(claims)))

    async def questions(self, answer: str) -> list[str] | None:
        """Ask for questions that the answer would be an answer to."""
        return await self._ask(prompts.questions_messages(answer), prompts.QUESTIONS_SCHEMA, prompts.read_questions)

    async def declined(self, question: str, answer: str) -> bool | None:
        messages = prompts.declined_messages(question, answer)
        return await self._ask(messages, prompts.DECLINED_SCHEMA, prompts.read_declined)

    async def answerable(self, question: str, passages: Sequence[str]) -> bool | None:
        """Return whether the passages hold what answers the question."""
        messages = prompts.answerable_messages(question, passages)
        return await self._ask(messages, prompts.ANSWERABLE_SCHEMA, prompts.read_answerable)

    async def close(self) -> None:
        await self._client.close()

    async def _ask(
        self, messages: Sequence[dict[str, str]], schema: Mapping[str, Any], read: Callable[[Any], Read | None]
    ) -> Read | None:
        async with self._places:
            for _attempt in range(ATTEMPTS):
                text = await self._complete(messages, schema)
                if text is None:
                    break
                if (found := read(_json_in(text))) is not None:
                    return found
        return None

    async def _complete(self, messages: Sequence[dict[str, str]], schema: Mapping[str, Any]) -> str | None:
        """Complete a prompt; return None if the endpoint refuses it."""
        form = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": dict(schema)}}
        try:
            if self._knows_schemas:
                try:
                    return await self._create(messages, response_format=form)
                except (openai.BadRequestError, openai.UnprocessableEntityError):
                    text = await self._create(messages)
                    self._knows_schemas = False  # it is the schema that it does not take
                    return text
            return await self._create(messages)
        except openai.APIStatusError as error:
            if error.status_code in FAULTS_OF_THE_CALL:
                return None
            raise _unavailable(f"status {error.status_code}") from error
        except openai.APITimeoutError as error:
            raise _unavailable(f"no reply within {SECONDS} s") from error
        except openai.APIConnectionError as error:
            raise _unavailable("not reachable") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            raise _unavailable("not an OpenAI-compatible reply") from error

    async def _create(self, messages: Sequence[dict[str, str]], **options: Any) -> str:
        completion = await self._client.chat.completions.create(
            model=settings.JUDGE_MODEL,
            messages=list(messages),  # type: ignore[arg-type]
            temperature=0,
            max_tokens=TOKENS,
            **options,
        )
        return str(completion.choices[0].message.content or "")


def _unavailable(reason: str) -> JudgeUnavailable:
    return JudgeUnavailable(
        f"The judging model at JUDGE_BASE_URL failed ({reason}). What was answered is kept: run this again to go on."
    )


def _json_in(text: str) -> Any:
    """Return the first JSON object in the text: models put fences or a sentence around it."""
    decoder = json.JSONDecoder()
    for opening in OPENING.finditer(text):
        try:
            return decoder.raw_decode(text, opening.start())[0]
        except (ValueError, RecursionError):
            continue
    return None

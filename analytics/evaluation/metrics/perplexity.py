"""Perplexity of a reference answer, if the endpoint returns probabilities (vLLM's `/completions`)."""

import math

import openai
from django.conf import settings

SECONDS = 120
#: Statuses after which an endpoint may answer another time.
TRANSIENT = {408, 409, 429, 500, 502, 503, 504}
PROMPT = "Question: {question}\nAnswer: "


class Perplexity:
    """Perplexity in one event loop. `is_available` turns False with the first refusal: an endpoint is asked once."""

    def __init__(self) -> None:
        self._client = openai.AsyncOpenAI(
            base_url=settings.LLM_BASE_URL, api_key=settings.LLM_API_KEY, timeout=SECONDS, max_retries=1
        )
        self.is_available = True

    async def of(self, question: str, reference: str) -> float | None:
        """Return exp of the mean negative log-probability of the reference's tokens after the bare question."""
        if not self.is_available:
            return None
        beginning = PROMPT.format(question=question)
        try:
            completion = await self._client.completions.create(
                model=settings.LLM_MODEL,
                prompt=beginning + reference,
                echo=True,
                logprobs=1,
                max_tokens=1,
                temperature=0,
            )
            logprobs = completion.choices[0].logprobs
            offsets, values = (logprobs.text_offset or [], logprobs.token_logprobs or []) if logprobs else ([], [])
        except openai.APIStatusError as error:
            self.is_available = error.status_code in TRANSIENT
            return None
        except openai.APIConnectionError:
            return None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError):
            self.is_available = False
            return None
        place = range(len(beginning) - 1, len(beginning) + len(reference))  # a token may take the blank before it
        tokens = [value for offset, value in zip(offsets, values, strict=False) if offset in place if value is not None]
        # An endpoint that ignores `echo` returns the one token that it wrote.
        if not tokens or (offsets and offsets[0] > 0) or len(offsets) < 2:
            self.is_available = False
            return None
        return math.exp(-sum(tokens) / len(tokens))

    async def close(self) -> None:
        await self._client.close()

"""HyDE (Gao et al. 2023): a language model guesses what a page with the answer would say, and pages close to the
guesses are looked for. The guesses are never shown."""

import logging
import time
from typing import Any

from core.inference.llm import client
from core.inference.llm.client import ModelUnavailable

logger = logging.getLogger(__name__)

GUESSES = 3
#: A student waits for it before anything is looked for.
SECONDS = 4.0
#: So long it is left out after the model was too slow or away.
PAUSE = 60.0
MAX_TOKENS = 400
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "passages": {"type": "array", "items": {"type": "string"}, "minItems": GUESSES, "maxItems": GUESSES}
    },
    "required": ["passages"],
    "additionalProperties": False,
}
INSTRUCTION = f"""A student asks a university the question below. Write {GUESSES} short passages, of two or three \
sentences each, as they could stand on the university's own pages that answer it: in the language of the question, in \
the sober style of such pages, each with other likely details. They serve to find the real page, so they need not be \
true. Reply with JSON alone: {{"passages": ["…", "…", "…"]}}"""

_paused_until = 0.0


async def hypothesise(question: str, *, caller: str = "") -> tuple[str, ...]:
    """At most `GUESSES` passages; none where no model is configured, or where it is slow or wrong."""
    global _paused_until
    if not client.is_configured() or time.monotonic() < _paused_until:
        return ()
    fenced = question.replace("<", "‹").replace(">", "›")
    messages = [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": f"<question>\n{fenced}\n</question>"},
    ]
    try:
        answer = await client.complete_json(
            messages, schema=SCHEMA, max_tokens=MAX_TOKENS, caller=caller, seconds=SECONDS
        )
    except ModelUnavailable as error:
        logger.warning("hyde left out reason=%s", error.code)
        _paused_until = time.monotonic() + PAUSE
        return ()
    found = answer.data.get("passages") if isinstance(answer.data, dict) else None
    texts = found if isinstance(found, list) else []
    return tuple(text.strip() for text in texts[:GUESSES] if isinstance(text, str) and text.strip())

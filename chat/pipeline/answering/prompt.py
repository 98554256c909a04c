"""The messages that the model is sent for a question: the assistant's template, filled with what fits its window."""

import secrets
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.understanding.rewrite import needs_context
from chat.prompt_template import HISTORY_CHARACTERS, HISTORY_MESSAGES, placeholder_values, render
from core.inference.llm.token_budget import estimate_tokens, fit

#: What a source's number and title, a turn's role and the signs around each cost at most, beside their texts.
AROUND = 16


class WindowTooSmall(ValueError):
    """Not even the question and one source fit LLM_CONTEXT_TOKENS."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`candidates` are the sources that found room in it, `system` the rules, which are never to be told."""

    system: str
    user: str
    candidates: list[Candidate]

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def build_prompt(context: Context) -> Prompt:
    """Make the two messages, without the weakest sources if they do not fit. Raise WindowTooSmall.

    The fence is random, so that no text can close it.
    """
    ask, turn = context.ask, context.turn
    question = turn.question if turn.by_model else ask.text
    # What was said before only distracts from a question that stands alone: small models refuse it then.
    stands_alone = turn.by_model or turn.begins_anew or not needs_context(ask.text)
    said = () if stands_alone else ask.history[-HISTORY_MESSAGES:]
    history = [(role, text[:HISTORY_CHARACTERS]) for role, text in said]
    fence = f"<<{secrets.token_hex(4)}>>"

    def rendered(candidates: list[Candidate], turns: list[tuple[str, str]]) -> tuple[str, str]:
        values = placeholder_values(
            question=question,
            sources=candidates,
            history=turns,
            assistant=ask.assistant,
            institution=ask.institution,
            persona=ask.persona,
            language=ask.language,
            today=timezone.localdate(),
            fence=fence,
        )
        return render(ask.template, values)

    chosen = context.candidates[: ask.template.most_sources or None]
    answer_tokens = ask.sampling.max_tokens or settings.LLM_MAX_TOKENS
    try:
        fitting = fit(
            fixed=sum(map(estimate_tokens, rendered([], [("user", "")]))),
            passages=[estimate_tokens(f"{each.label}\n{each.text}") + AROUND for each in chosen],
            history=[estimate_tokens(text) + AROUND for _role, text in history],
            room=settings.LLM_CONTEXT_TOKENS - answer_tokens,
        )
    except ValueError as error:
        raise WindowTooSmall from error
    candidates = chosen[: fitting.passages]
    if fitting.first_passage_tokens is not None:
        candidates = [_trimmed(candidates[0], fitting.first_passage_tokens - AROUND)]
    system, user = rendered(candidates, history[len(history) - fitting.history :])
    return Prompt(system, user, candidates)


def _trimmed(candidate: Candidate, room: int) -> Candidate:
    """Cut the passage to what fits. Raise WindowTooSmall if not a word does."""
    room -= estimate_tokens(candidate.label)
    words = candidate.text.split(" ")
    while words and estimate_tokens(" ".join(words)) > room:
        words = words[: len(words) * 3 // 4]
    if not words:
        raise WindowTooSmall
    return replace(candidate, text=" ".join(words))

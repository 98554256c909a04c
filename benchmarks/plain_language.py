"""Answers in plain language by the model of LLM_BASE_URL: which share of the statements survives the check.

The demo's questions are answered with quotes, as without a model, and each answer is put into plain language as a
student's click does. A statement that is not proven stands as the page has it.
"""

import asyncio
import statistics
import time
from dataclasses import replace
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management import call_command

from benchmarks.measuring import say, table
from benchmarks.questions import QUESTIONS, read

QUICK, WHOLE = 3, 12


def measure(*, quick: bool) -> dict[str, Any]:
    from core.inference.llm import client

    if not client.is_configured():
        say("Name a language model with LLM_BASE_URL.")
        return {}
    call_command("load_demo", verbosity=0)
    asked = [each["text"] for each in read(QUESTIONS) if each["answerable"]]
    results = {}
    for language in ("en", "de"):
        results[language] = measure_language(asked, language, QUICK if quick else WHOLE)
    names = ("answers", "statements", "in plain language", "as they were", "answers with one or more", "seconds, p50")
    table(["", *results], [[name, *(each[name] for each in results.values())] for name in names])
    return results


def measure_language(asked: list[str], language: str, number: int) -> dict[str, Any]:
    """Put the first `number` answers to questions of a language into plain language."""
    from chat.pipeline.plain_language import PlainAnswer
    from core.language import detect_language

    made: list[PlainAnswer] = []
    seconds = []
    for question in (each for each in asked if detect_language(each) == language):
        if len(made) == number:
            break
        began = time.perf_counter()
        if (plain := put_plainly(question, language)) and plain.changed + plain.kept:
            made.append(plain)
            seconds.append(time.perf_counter() - began)
    changed, kept = sum(each.changed for each in made), sum(each.kept for each in made)
    return {
        "answers": len(made),
        "statements": changed + kept,
        "in plain language": changed,
        "as they were": kept,
        "answers with one or more": sum(each.changed > 0 for each in made),
        "seconds, p50": round(statistics.median(seconds), 1) if seconds else None,
        "examples": [each.text for each in made],
    }


def put_plainly(question: str, language: str) -> Any:
    """Return the answer in plain language; None where there is no answer."""
    from chat.models import Message
    from chat.pipeline.plain_language import simplify
    from chat.pipeline.question import Question
    from chat.pipeline.retrieval.candidates import load_candidates
    from chat.pipeline.run import collect
    from chat.pipeline.verification.classifier import Strictness
    from core.inference.llm.client import Sampling
    from knowledge.retrieval.search import RankedPassage

    reply = async_to_sync(collect)(Question(question, language=language, uses_model=False))
    if not (reply.end and reply.end.status == Message.Status.COMPLETE and reply.cited):
        return None
    numbers = {each.passage_id: each.source.n for each in reply.cited}
    found = load_candidates([RankedPassage(passage, 0, n, 0.0, {}) for passage, n in numbers.items()])
    candidates = [replace(each, number=numbers[each.passage_id]) for each in found]
    return asyncio.run(
        simplify(
            reply.text,
            candidates,
            language=language,
            strictness=Strictness.STRICT,
            sampling=Sampling("", 0),
            caller="benchmark",
        )
    )

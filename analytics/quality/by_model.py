"""The judging model's verdicts on the sample, every night; staff judge apart, and see none of them.

It is sent the question, the answer, and the passages that the answer was made from; no word of its reply is kept.
"""

import asyncio
import datetime
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from analytics.evaluation.answers.errors import JudgeUnavailable
from analytics.evaluation.answers.judge import CALLS_AT_ONCE, Judge
from analytics.models import SampledAnswer
from analytics.quality.judging import Verdict, model_can_judge
from chat.models import Message
from chat.protocol.moment import PassageRead, read_moment

logger = logging.getLogger(__name__)
#: How long an answer waits for a judge that is away, or whose replies cannot be read.
NIGHTS = 7
#: An answer is right from this score (1 to 5) on in each of these.
GOOD_SCORE = 4
DECISIVE = ("correctness", "relevance", "faithfulness")


@dataclass(frozen=True, slots=True)
class Material:
    """The parts of a sampled answer that are sent to the model."""

    row: int
    question: str
    answer: str
    passages: Sequence[str]
    is_shown: bool


def judge_samples() -> int:
    """Judge what the last nights left, oldest first, and return how many rows; the next night goes on.

    A row whose reply cannot be read stays for the next night. If the judge is away the night ends.
    """
    keys = list(_left().order_by("day", "pk").values_list("pk", flat=True))
    judged = 0
    with asyncio.Runner() as runner:
        judge = runner.run(_make_judge())
        try:
            for start in range(0, len(keys), CALLS_AT_ONCE):
                judged += _judge(_read(keys[start : start + CALLS_AT_ONCE]), judge, runner)
        except JudgeUnavailable as error:
            logger.warning("sample not judged by the model left=%d reason=%s", _left().count(), error)
        finally:
            runner.run(judge.close())
    return judged


async def _make_judge() -> Judge:
    """Make it within the loop that it belongs to."""
    return Judge()


def _left() -> QuerySet[SampledAnswer]:
    since = timezone.localdate() - datetime.timedelta(days=NIGHTS)
    return SampledAnswer.objects.filter(model_can_judge(), day__gte=since, model_verdict="")


def _read(keys: Sequence[int]) -> list[Material]:
    """Read what is sent just before it is: a conversation that was erased meanwhile is not."""
    rows = _left().filter(pk__in=keys).select_related("message__question", "message__record")
    return [_material(row, row.message) for row in rows.prefetch_related("message__citations") if row.message]


def _material(row: SampledAnswer, answer: Message) -> Material:
    record = getattr(answer, "record", None)
    passages = read_moment(record.moment).passages if record else ()
    # An abstention is made from nothing: all that was read counts.
    used = [_text(each) for each in passages if each.number or not row.is_shown]
    quotes = [each.quote for each in answer.citations.all()]
    return Material(row.pk, _asked(answer), answer.text, used or quotes, row.is_shown)


def _text(passage: PassageRead) -> str:
    return "\n".join(part for part in (passage.title, passage.heading, passage.text) if part)


def _asked(answer: Message) -> str:
    """Return the question, and in which words it was looked up: a follow-up cannot be understood alone."""
    asked = answer.question.text if answer.question else ""
    return f"{asked}\n(looked up as: {answer.rewritten})" if answer.rewritten else asked


def _judge(batch: Sequence[Material], judge: Judge, runner: asyncio.Runner) -> int:
    """Save what could be read, then raise JudgeUnavailable if one call found the judge away."""
    found = runner.run(_verdicts(batch, judge))
    judged = 0
    for material, verdict in zip(batch, found, strict=True):
        if verdict is not None and not isinstance(verdict, BaseException):
            # One whose conversation was erased meanwhile is not judged any more.
            rows = SampledAnswer.objects.filter(pk=material.row).exclude(message=None)
            judged += rows.update(model_verdict=verdict)
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return judged


async def _verdicts(batch: Sequence[Material], judge: Judge) -> list[Verdict | BaseException | None]:
    return await asyncio.gather(*(_verdict(each, judge) for each in batch), return_exceptions=True)


async def _verdict(material: Material, judge: Judge) -> Verdict | None:
    """Return the model's verdict; None if its reply cannot be read. Raise JudgeUnavailable."""
    if material.is_shown:
        scores = await judge.scores(material.question, material.answer, "", material.passages)
        if scores is None:
            return None
        return Verdict.RIGHT if all(scores[name] >= GOOD_SCORE for name in DECISIVE) else Verdict.WRONG
    if not material.passages:
        return Verdict.RIGHTLY_ABSTAINED  # nothing was found that could hold an answer
    held = await judge.answerable(material.question, material.passages)
    if held is None:
        return None
    return Verdict.SHOULD_ANSWER if held else Verdict.RIGHTLY_ABSTAINED

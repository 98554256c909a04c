"""Annotation of the sentences and propositions that answer a question, by a language model."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

from analytics.evaluation.questions.model_requests import MOST_ATTEMPTS, Asker, Call, settled
from analytics.evaluation.questions.prompts import UNITS_SCHEMA, read_units, units_messages
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment, ModelRequest
from core.hashing import fingerprint
from core.inference.llm.client import JsonAnswer
from knowledge.chunking.propositions import WrongAnswer
from knowledge.models import Unit

UNITS = ModelRequest.Purpose.UNITS
Status = EvaluationQuestion.Status
ANSWER_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that may answer: of which judgment's document, and its passage's input hash."""

    judgment_id: int
    passage: str
    granularity: str
    text: str


def annotate(
    evaluation_set: EvaluationSet, asker: Asker, *, progress: Callable[[int, int], None] | None = None
) -> tuple[int, int]:
    """Fill `Judgment.units` of proposed and accepted questions whose passages are known and have units.

    Return how many were annotated, and how many have none since no answer was of use.
    """
    annotated = 0
    for _attempt in range(MOST_ATTEMPTS):
        calls = _calls(evaluation_set)
        for done, (call, answer) in enumerate(asker.ask(UNITS, calls), start=1):
            annotated += _take(call, answer, asker)
            if progress:
                progress(done, len(calls))
        if asker.stopped or not calls:
            break
    failed = ModelRequest.objects.filter(evaluation_set=evaluation_set, purpose=UNITS).exclude(failure="")
    return annotated, failed.count()


def _calls(evaluation_set: EvaluationSet) -> list[Call[Sequence[Candidate]]]:
    done = settled(evaluation_set, UNITS)
    judgments = Judgment.objects.filter(
        question__evaluation_set=evaluation_set,
        question__status__in=[Status.PROPOSED, Status.ACCEPTED],
        grade__gt=0,
    ).exclude(passages=[])
    by_question: dict[EvaluationQuestion, list[Judgment]] = defaultdict(list)
    for judgment in judgments.select_related("question").order_by("question", "pk"):
        if _key(judgment.question) not in done:
            by_question[judgment.question].append(judgment)
    units = _read_units([judgment for group in by_question.values() for judgment in group])
    calls: list[Call[Sequence[Candidate]]] = []
    for question, group in by_question.items():
        candidates: Sequence[Candidate] = [
            Candidate(judgment.pk, passage, granularity, text)
            for judgment in group
            for passage in judgment.passages
            for granularity, text in units.get((judgment.document_id, passage), ())
        ]
        if candidates:
            messages = units_messages(question.text, [candidate.text for candidate in candidates])
            calls.append(Call(candidates, (_key(question),), messages, UNITS_SCHEMA, ANSWER_TOKENS))
    return calls


def _key(question: EvaluationQuestion) -> str:
    """Return the key of a question and its text: an edited question is annotated again."""
    return fingerprint(str(question.pk), question.text)


def _read_units(judgments: Sequence[Judgment]) -> dict[tuple[int, str], list[tuple[str, str]]]:
    """Granularity and text of the units by document and passage, in reading order."""
    rows = Unit.objects.filter(
        passage__generation__state="live",
        passage__document__in={judgment.document_id for judgment in judgments},
        passage__input_hash__in={passage for judgment in judgments for passage in judgment.passages},
    ).order_by("passage__position", "-granularity", "position")
    found: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
    for document, passage, granularity, text in rows.values_list(
        "passage__document", "passage__input_hash", "granularity", "text"
    ):
        found[document, passage].append((granularity, text))
    return found


@transaction.atomic
def _take(call: Call[Sequence[Candidate]], answer: JsonAnswer, asker: Asker) -> bool:
    candidates, failure = call.subject, ""
    try:
        chosen = [candidates[place] for place in read_units(answer.data, len(candidates))]
    except WrongAnswer as wrong:
        failure = wrong.reason
    else:
        for judgment_id in {candidate.judgment_id for candidate in candidates}:
            units = [
                {"passage": unit.passage, "granularity": unit.granularity, "text": unit.text}
                for unit in chosen
                if unit.judgment_id == judgment_id
            ]
            Judgment.objects.filter(pk=judgment_id).update(units=units)
    asker.note(UNITS, call, answer, dict.fromkeys(call.keys, failure))
    return not failure

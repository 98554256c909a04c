"""A trial from the queue to its end: all layouts on the first questions, then the best two on the rest.

Every outcome is stored as soon as it is there. A trial that ended early goes on where it was.
"""

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils.translation import gettext_noop

from analytics.model_trials.asking import ask, look_up
from analytics.model_trials.outcomes import FINALISTS, LAYOUT_BY_CODE, OWN, QUOTES, Outcome, best_layouts
from analytics.model_trials.questions import FEWEST, KnownQuestion, known_questions
from analytics.models import ModelTrial
from chat.pipeline.question import Context
from chat.services.prompts import keep_layout
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.jobs import Heartbeat, JobStopped
from knowledge.retrieval.scope import UnknownCollection

State = ModelTrial.State
#: One of so many questions is in the first round; to so many one is added whose documents are left out.
FIRST_ROUND, WITHHELD = 3, 3
#: A model that is too late for so many questions in a row is too slow.
LATE_AT_MOST = 3
TOO_FEW = gettext_noop(
    "There are too few questions with a known answer: a trial needs six that this assistant finds pages for. Publish "
    "FAQs with linked documents and key points, or add accepted regression questions with the documents that answer "
    "them."
)
TOO_LATE = gettext_noop(
    "The model wrote nothing in time for three questions in a row (LLM_FIRST_TOKEN_SECONDS, LLM_TOTAL_SECONDS): on "
    "this machine it is too slow for students."
)
FAILURES: Mapping[str, str] = {
    "unreachable": gettext_noop("The model’s endpoint cannot be reached: check LLM_BASE_URL and that server."),
    "status_401": gettext_noop("The model’s endpoint refuses the key: check LLM_API_KEY."),
    "status_403": gettext_noop("The model’s endpoint refuses the key: check LLM_API_KEY."),
    "status_404": gettext_noop(
        "The endpoint does not know this model: check LLM_BASE_URL and LLM_MODEL, and the assistant’s own model if it "
        "has one."
    ),
}
ANOTHER_FAILURE = gettext_noop("The model’s endpoint fails: its log, and that of the worker, say why.")


class TrialFailed(Exception):
    """The trial cannot go on; the message says what to do, and can be translated."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the context that it is answered from."""

    question: KnownQuestion
    context: Context


def work_on(trial_id: int) -> None:
    """Work on a trial that waits, unless another worker has it."""
    trial = ModelTrial.objects.select_related("assistant__prompt", "assistant__profile").filter(pk=trial_id).first()
    if trial is None or not trial.claim():
        return
    with trial.closing(TrialFailed, EmbeddingUnavailable, RerankerUnavailable, UnknownCollection):
        run(trial)


def run(trial: ModelTrial, *, progress: Callable[[int, int], None] | None = None) -> None:
    """Bring a trial to its end; `progress` gets (done, of) answers of the model.

    Raise TrialFailed, EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, JobStopped.
    """
    with advisory_lock(Lock.MODEL_TRIAL, row=trial.pk) as is_mine:
        # A command begins a trial that was never queued, and one that ended early.
        if not is_mine or not (trial.state == State.RUNNING or (trial.requeue(message="") and trial.claim())):
            raise JobStopped
        with Heartbeat(trial, progress) as heartbeat, asyncio.Runner() as runner:
            _Trial(trial, heartbeat, runner).fill()


class _Trial:
    """The state that all questions of a trial share."""

    def __init__(self, trial: ModelTrial, heartbeat: Heartbeat, runner: asyncio.Runner) -> None:
        self._trial, self._heartbeat, self._runner = trial, heartbeat, runner
        self._outcomes = [Outcome.of(stored) for stored in trial.outcomes]
        self._late = 0

    def fill(self) -> None:
        """Ask what is missing, then finish and keep the best layout."""
        asked = self._choose()
        there = {each.question.key for each in asked}
        self._outcomes = [outcome for outcome in self._outcomes if outcome.question in there]
        first, rest = split(asked)
        layouts, own = list(LAYOUT_BY_CODE), [OWN] if self._trial.prompt else []
        total = len(first) * len(layouts + own) + len(rest) * (FINALISTS + len(own))
        for each in asked:
            self._ask(QUOTES, each, total)
        for each in first:
            for way in layouts + own:
                self._ask(way, each, total)
        keys = {each.question.key for each in first}
        in_first = [outcome for outcome in self._outcomes if outcome.question in keys]
        finalists = best_layouts(in_first, among=layouts, count=FINALISTS)
        for each in rest:
            for way in finalists + own:
                self._ask(way, each, total)
        (best,) = best_layouts(self._outcomes, among=finalists, count=1)
        with transaction.atomic():
            self._trial.finish(done=total)
            keep_layout(model=self._trial.model, layout=LAYOUT_BY_CODE[best])
            former = ModelTrial.objects.filter(assistant=self._trial.assistant_id, pk__lt=self._trial.pk)
            former.delete()

    def _choose(self) -> list[Asked]:
        """Return the trial's questions, chosen now unless they were before. Raise TrialFailed."""
        pool = known_questions(self._trial.assistant)
        if self._trial.questions:
            every = {each.key: each for question in pool for each in (question, question.withheld())}
            chosen = [every[key] for key in self._trial.questions if key in every]
            return [asked for asked in map(self._look_up, chosen) if asked]
        usable = self._usable(iter(pool), self._trial.wanted)
        if len(usable) < FEWEST:
            raise TrialFailed(TOO_FEW)
        # Those that are asked with their documents too come last: another question says more.
        asked_already = {each.question.key for each in usable}
        others = sorted(pool, key=lambda question: question.key in asked_already)
        withheld = self._usable((question.withheld() for question in others), math.ceil(len(usable) / WITHHELD))
        chosen_now = usable + withheld
        self._trial.beat(questions=[each.question.key for each in chosen_now])
        return chosen_now

    def _usable(self, questions: Iterator[KnownQuestion], count: int) -> list[Asked]:
        found: list[Asked] = []
        for question in questions:
            if len(found) == count:
                break
            if asked := self._look_up(question):
                found.append(asked)
        return found

    def _look_up(self, question: KnownQuestion) -> Asked | None:
        self._heartbeat.beat()
        context = look_up(self._trial.assistant, question)
        return Asked(question, context) if context else None

    def _ask(self, way: str, asked: Asked, total: int) -> None:
        """Ask unless it was asked before, and store the outcome. Raise TrialFailed, JobStopped."""
        if any((each.way, each.question) == (way, asked.question.key) for each in self._outcomes):
            return
        outcome = self._runner.run(ask(way, asked.question, asked.context, self._trial.assistant))
        self._check(outcome)
        self._outcomes.append(outcome)
        self._trial.outcomes = [asdict(each) for each in self._outcomes]
        done = sum(each.way != QUOTES for each in self._outcomes)
        self._heartbeat.beat(at_once=True, outcomes=self._trial.outcomes, done=done, total=total)
        self._heartbeat.step(done, total)

    def _check(self, outcome: Outcome) -> None:
        """Count an answer that was late as students would see it. Raise TrialFailed if the endpoint is no use."""
        if outcome.way == QUOTES:
            return
        self._late = self._late + 1 if outcome.failure == "timeout" else 0
        if self._late == LATE_AT_MOST:
            raise TrialFailed(TOO_LATE)
        if outcome.failure and outcome.failure != "timeout":
            raise TrialFailed(FAILURES.get(outcome.failure, ANOTHER_FAILURE))


def split(asked: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """Return the questions of the first round and the rest, each with some whose documents are left out."""
    first: list[Asked] = []
    for is_answerable in (True, False):
        kind = [each for each in asked if each.question.is_answerable == is_answerable]
        first += kind[: math.ceil(len(kind) / FIRST_ROUND)]
    keys = {each.question.key for each in first}
    return first, [each for each in asked if each.question.key not in keys]

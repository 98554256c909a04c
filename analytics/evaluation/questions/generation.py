"""Generation of a set's questions from passages by a language model, for staff to review.

A run that was killed goes on where it stopped: a passage that was asked about in a set is not asked about again.
"""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum
from django.db.models.functions import Length

from analytics.evaluation.questions.annotation import annotate
from analytics.evaluation.questions.model_requests import MOST_ATTEMPTS, Asker, Call, settled
from analytics.evaluation.questions.prompts import (
    QUESTIONS_SCHEMA,
    VERSION,
    Draft,
    normalised,
    questions_messages,
    read_questions,
    units_messages,
)
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment, ModelRequest
from core.db.locks import Lock, advisory_lock
from core.hashing import fingerprint
from core.inference.llm.client import JsonAnswer, is_configured
from knowledge.chunking.propositions import Source, WrongAnswer
from knowledge.indexing.generations import live_generation, load_embedder
from knowledge.models import Document, Passage, Unit

#: Questions more similar than this are one.
SAME = 0.95


class KnownQuestions:
    """The questions of a set, whatever became of them: one that was rejected is not proposed again.

    Raise EmbeddingUnavailable.
    """

    def __init__(self, evaluation_set: EvaluationSet) -> None:
        self._embedder = load_embedder(live_generation())
        texts = list(evaluation_set.questions.values_list("text", flat=True))
        self._texts = {normalised(text) for text in texts}
        self._vectors = self._embed(texts)

    def take_new(self, texts: Sequence[str]) -> list[bool]:
        """Return for each question whether it is new, also among those before it; they are known from then on."""
        return [self._is_new(text, vector) for text, vector in zip(texts, self._embed(texts), strict=True)]

    def _is_new(self, text: str, vector: Any) -> bool:
        closest = float((self._vectors @ vector).max(initial=-1.0))
        if normalised(text) in self._texts or self._embedder.scale.of_question(closest) > SAME:
            return False
        self._texts.add(normalised(text))
        self._vectors = np.vstack([self._vectors, vector])
        return True

    def _embed(self, texts: Sequence[str]) -> Any:
        if not texts:
            return np.empty((0, self._embedder.dimensions), dtype=np.float32)
        return self._embedder.embed_questions(texts)


QUESTIONS = ModelRequest.Purpose.QUESTIONS
#: Passages of one document share a call, so that a question may need two: up to so many, of so many characters.
PASSAGES_A_CALL, CHARACTERS_A_CALL = 4, 4000
ANSWER_TOKENS_A_PASSAGE = 300
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """Passages to ask about: at most `passages` of those documents, or of those collections where none is named.

    The same seed chooses the same ones; a larger number adds to them.
    """

    collection_ids: tuple[int, ...] = ()
    document_ids: tuple[int, ...] = ()
    passages: int = 100
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Needed:
    """The work that is left: `prompt_tokens` is about what that costs, with the annotation of one question each."""

    passages: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Made:
    """Counts of a run.

    `failures` passages of the set got no question, `left` chosen ones are still to do; `unannotated` questions got no
    usable answer; `stopped` names why it ended early: `not_configured`, `another`, `time` or a code of
    ModelUnavailable.
    """

    questions: int = 0
    duplicates: int = 0
    unusable: int = 0
    failures: int = 0
    left: int = 0
    annotated: int = 0
    unannotated: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The subject of one call."""

    document_id: int
    sources: Sequence[Source]


def needed(choice: Choice, evaluation_set: EvaluationSet | None = None) -> Needed:
    """Return what is needed; `evaluation_set` is None if it is still to be made."""
    calls = _calls(choice, settled(evaluation_set, QUESTIONS), is_alone=False)
    hashes = [key for call in calls for key in call.keys]
    characters = sum(len(message["content"]) for call in calls for message in call.messages)
    units = Unit.objects.filter(passage__generation__state="live", passage__input_hash__in=hashes)
    with_units = units.aggregate(characters=Sum(Length("text")), passages=Count("passage__input_hash", distinct=True))
    asking = sum(len(message["content"]) for message in units_messages("", []))
    characters += (with_units["characters"] or 0) + with_units["passages"] * asking
    return Needed(len(hashes), characters // CHARACTERS_A_TOKEN)


def make_questions(
    evaluation_set: EvaluationSet,
    choice: Choice,
    *,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Propose questions for about `seconds`; `progress` gets (done, of) passages, then questions to annotate.

    Raise EmbeddingUnavailable.
    """
    if not is_configured():
        return Made(stopped="not_configured")
    with advisory_lock(Lock.QUESTION_PROPOSALS) as is_mine:  # two runs at once would pay twice
        return _Run(evaluation_set, choice, seconds).made(progress) if is_mine else Made(stopped="another")


def spread(passages: Iterable[tuple[str, int]], *, count: int, seed: int) -> list[str]:
    """So many of (input hash, document), a first one of every document before a second of any; pure.

    The order depends on the passages' hashes and the seed alone, so it is the same on every machine.
    """
    by_document: dict[int, list[str]] = defaultdict(list)
    for input_hash, document in dict(passages).items():
        by_document[document].append(input_hash)
    order = []
    for hashes in by_document.values():
        place = fingerprint(str(seed), min(hashes))
        hashes.sort(key=lambda input_hash: fingerprint(str(seed), input_hash))
        order += [(turn, place, input_hash) for turn, input_hash in enumerate(hashes)]
    return [input_hash for _turn, _place, input_hash in sorted(order)[:count]]


def _calls(choice: Choice, done: set[str], *, is_alone: bool) -> list[Call[Asked]]:
    """Build calls for the chosen passages that are not done; `is_alone`: one passage a call."""
    passages = Passage.objects.live().filter(document__status=Document.Status.PUBLISHED, is_withheld=False)
    if choice.document_ids:
        passages = passages.filter(document__in=choice.document_ids)
    else:
        passages = passages.in_collections(choice.collection_ids)
    hashes = passages.order_by("document_id", "position").values_list("input_hash", "document_id")
    chosen = spread(hashes, count=choice.passages, seed=choice.seed)
    rows = passages.filter(input_hash__in=set(chosen) - done).order_by("document_id", "position")
    sources: dict[str, tuple[int, Source]] = {}
    for document, title, input_hash, path, text in rows.values_list(
        "document_id", "document__title", "input_hash", "heading_path", "text"
    ):
        sources.setdefault(input_hash, (document, Source(input_hash, title, " › ".join(path), text)))
    return [
        Call(
            Asked(document, shared),
            tuple(source.input_hash for source in shared),
            questions_messages(shared),
            QUESTIONS_SCHEMA,
            ANSWER_TOKENS_A_PASSAGE * (len(shared) + 1),
        )
        for document, group in groupby(sources.values(), key=lambda pair: pair[0])
        for shared in _shares([source for _document, source in group], most=1 if is_alone else PASSAGES_A_CALL)
    ]


def _shares(sources: Sequence[Source], *, most: int) -> list[list[Source]]:
    shares: list[list[Source]] = []
    room = 0
    for source in sources:
        if not shares or len(shares[-1]) == most or len(source.text) > room:
            shares.append([])
            room = CHARACTERS_A_CALL
        shares[-1].append(source)
        room -= len(source.text)
    return shares


class _Run:
    """One run, and what came of it."""

    def __init__(self, evaluation_set: EvaluationSet, choice: Choice, seconds: float | None) -> None:
        self._set, self._choice = evaluation_set, choice
        self._asker = Asker(evaluation_set, seconds=seconds)
        self._known = KnownQuestions(evaluation_set)
        self._questions = self._duplicates = self._unusable = 0

    def made(self, progress: Callable[[int, int], None] | None) -> Made:
        for attempt in range(MOST_ATTEMPTS):
            calls = _calls(self._choice, settled(self._set, QUESTIONS), is_alone=attempt > 0)
            total, done = sum(len(call.keys) for call in calls), 0
            for call, answer in self._asker.ask(QUESTIONS, calls):
                self._take(call, answer)
                done += len(call.keys)
                if progress:
                    progress(done, total)
            if self._asker.stopped or not calls:
                break
        annotated, unannotated = (0, 0) if self._asker.stopped else annotate(self._set, self._asker, progress=progress)
        left = _calls(self._choice, settled(self._set, QUESTIONS), is_alone=False)
        failed = ModelRequest.objects.filter(evaluation_set=self._set, purpose=QUESTIONS).exclude(failure="")
        return Made(
            questions=self._questions,
            duplicates=self._duplicates,
            unusable=self._unusable,
            failures=failed.count(),
            left=sum(len(call.keys) for call in left),
            annotated=annotated,
            unannotated=unannotated,
            prompt_tokens=self._asker.prompt_tokens,
            answer_tokens=self._asker.answer_tokens,
            stopped=self._asker.stopped,
        )

    def _take(self, call: Call[Asked], answer: JsonAnswer) -> None:
        drafts: list[Draft] = []
        failure = "no_question"
        try:
            drafts, unusable = read_questions(answer.data, len(call.keys))
            self._unusable += unusable
        except WrongAnswer as wrong:
            failure = wrong.reason
        news = self._known.take_new([draft.question for draft in drafts])
        asked_about = {call.keys[place] for draft in drafts for place in draft.passages}
        with transaction.atomic():
            if Document.objects.select_for_update().filter(pk=call.subject.document_id).first():
                for draft, is_new in zip(drafts, news, strict=True):
                    if is_new:
                        self._save(draft, call.subject)
            self._asker.note(QUESTIONS, call, answer, {key: failure for key in call.keys if key not in asked_about})
        self._questions += sum(news)
        self._duplicates += len(news) - sum(news)

    def _save(self, draft: Draft, asked: Asked) -> None:
        question = EvaluationQuestion.objects.create(
            evaluation_set=self._set,
            external_id=f"made-{uuid.uuid4().hex}",
            text=draft.question,
            answerable=True,
            reference=draft.answer,
            labels={"made_by": settings.LLM_MODEL, "prompt": VERSION},
            status=EvaluationQuestion.Status.PROPOSED,
        )
        sources = [asked.sources[place] for place in draft.passages]
        Judgment.objects.create(
            question=question,
            document_id=asked.document_id,
            quote="\n\n".join(source.text for source in sources),
            passages=[source.input_hash for source in sources],
        )

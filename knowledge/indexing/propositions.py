"""Propositions: a language model splits a passage into short statements, each true and understood on its own.

After Chen et al. 2023, "Dense X Retrieval"; the prompt is our own. Results are kept by the passage's input hash (title,
headings and text: all that the model reads) with the version of the prompt. Only another version makes them stale:
another model is no reason to pay twice. Every answer is saved at once, so a killed run continues where it stopped.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from core.db.locks import Lock, advisory_lock
from core.inference.llm.client import JsonAnswer, ModelUnavailable, complete_json
from knowledge.chunking.propositions import SCHEMA, VERSION, SizedSource, WrongAnswer, build_messages, read_propositions
from knowledge.indexing.generations import active_generations, load_embedder
from knowledge.indexing.units import sync_units
from knowledge.models import Collection, Generation, Granularity, Passage, PropositionSet, Unit

logger = logging.getLogger(__name__)

#: A wrong answer is asked for again twice, then alone.
MOST_ATTEMPTS = 3
#: Short passages share a call, up to so many, and so many word pieces together.
PASSAGES_A_CALL, TOKENS_A_CALL = 8, 600
#: Calls at once, and calls between two rounds of adding units.
CALLS_AT_ONCE, CALLS_A_ROUND = 4, 40
CHARACTERS_A_TOKEN = 4
#: If other calls are answered meanwhile, these errors are caused by the request, and count as an attempt.
FAULTS_OF_THE_CALL = {"timeout", "garbage", "status_400", "status_413", "status_422"}
#: Results of a text that no passage has any more are kept for this time: edits are undone.
ORPHANS_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Needed:
    """The missing propositions; `prompt_tokens` estimates the cost of asking for them."""

    passages: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a run; `left` passages are still to do, and `stopped` names why it ended early.

    That is a code of ModelUnavailable, `time`, or `another` if another run is working.
    """

    passages: int = 0
    propositions: int = 0
    failures: int = 0
    left: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Progress in a collection; `given_up` passages got no usable answer, `tokens` were spent in all."""

    left: int
    given_up: int
    tokens: int


def needed(collection_id: int | None = None) -> Needed:
    """Estimate the work in one collection, or in all that ask for propositions."""
    calls = _calls(_sources(lacking(collection_id)))
    told = [sum(len(message["content"]) for message in build_messages(call)) for call in calls]
    return Needed(sum(len(call) for call in calls), sum(told) // CHARACTERS_A_TOKEN)


def standing(collection: Collection) -> Standing:
    hashes = _wanted(collection.pk).values("input_hash")
    sets = PropositionSet.objects.filter(input_hash__in=hashes)
    spent = sets.aggregate(tokens=Sum(F("prompt_tokens") + F("answer_tokens")))
    return Standing(
        left=lacking(collection.pk).values("input_hash").distinct().count(),
        given_up=sets.filter(_given_up(), prompt_version=VERSION).count(),
        tokens=spent["tokens"] or 0,
    )


def lacking(collection_id: int | None = None) -> QuerySet[Passage]:
    """Select published passages of active generations without propositions by this prompt, unless given up on."""
    current = PropositionSet.objects.filter(Q(failure="") | _given_up(), prompt_version=VERSION)
    return _wanted(collection_id).exclude(Exists(current.filter(input_hash=OuterRef("input_hash"))))


def make(
    collection_id: int | None = None,
    *,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Make missing propositions, for about `seconds`, and add their units; `progress` gets (done, of).

    It needs a language model. Raises EmbeddingUnavailable.
    """
    with advisory_lock(Lock.PROPOSITIONS) as acquired:  # two runs at once would pay twice
        if not acquired:
            return Made(stopped="another")
        _delete_orphans()
        run = _Run(collection_id, time.monotonic() + seconds if seconds is not None else None, progress)
        run.ask_for_all()
        add_units(collection_id)
        return run.made()


def add_units(collection_id: int | None = None) -> None:
    """Add the units of propositions that were made, also by a run that was killed before it did so."""
    made = PropositionSet.objects.exclude(propositions=[]).filter(input_hash=OuterRef("input_hash"))
    units = Unit.objects.filter(passage=OuterRef("pk"), granularity=Granularity.PROPOSITION)
    for generation in active_generations():
        waiting = _wanted(collection_id).filter(Exists(made), ~Exists(units), generation=generation)
        for document_id in list(waiting.order_by("document").values_list("document", flat=True).distinct()):
            sync_units(document_id, generation, load_embedder(generation))


def _wanted(collection_id: int | None) -> QuerySet[Passage]:
    passages = Passage.objects.filter(
        generation__state__in=[Generation.State.LIVE, Generation.State.BUILDING],
        document__status="published",
        is_withheld=False,
        document__collection__granularities__contains=[Granularity.PROPOSITION],
    )
    return passages if collection_id is None else passages.filter(document__collection=collection_id)


def _given_up() -> Q:
    return ~Q(failure="") & Q(attempts__gte=MOST_ATTEMPTS)


def _delete_orphans() -> None:
    used = Passage.objects.filter(input_hash=OuterRef("input_hash"))
    PropositionSet.objects.filter(~Exists(used), created_at__lt=timezone.now() - ORPHANS_KEPT).delete()


def _sources(passages: QuerySet[Passage]) -> list[tuple[SizedSource, bool]]:
    """List each text once, in reading order, and whether it is to be asked for alone."""
    failed = set(PropositionSet.objects.exclude(failure="").values_list("input_hash", flat=True))
    rows = passages.order_by("document", "position").values_list(
        "input_hash", "document__title", "heading_path", "text", "tokens"
    )
    found = {
        input_hash: SizedSource(input_hash, title, " › ".join(path), text, max(tokens, len(text) // CHARACTERS_A_TOKEN))
        for input_hash, title, path, text, tokens in rows
    }
    return [(source, source.input_hash in failed) for source in found.values()]


def _calls(sources: Sequence[tuple[SizedSource, bool]]) -> list[list[SizedSource]]:
    calls: list[list[SizedSource]] = []
    open_call: list[SizedSource] = []
    for source, is_alone in sources:
        if is_alone:
            calls.append([source])
            continue
        tokens = sum(each.tokens for each in open_call) + source.tokens
        if open_call and (len(open_call) == PASSAGES_A_CALL or tokens > TOKENS_A_CALL):
            calls.append(open_call)
            open_call = []
        open_call.append(source)
    return [*calls, open_call] if open_call else calls


class _Run:
    """One run's calls and what they cost."""

    def __init__(
        self, collection_id: int | None, deadline: float | None, progress: Callable[[int, int], None] | None
    ) -> None:
        self._collection_id, self._deadline, self._progress = collection_id, deadline, progress
        self._counts: dict[str, int] = defaultdict(int)
        self._stopped = ""

    def made(self) -> Made:
        left = lacking(self._collection_id).values("input_hash").distinct().count()
        return Made(**self._counts, left=left, stopped=self._stopped)

    def ask_for_all(self) -> None:
        """Ask for each text once a run, so that a wrong answer is tried again later, and alone."""
        calls = _calls(_sources(lacking(self._collection_id)))
        done, total = 0, sum(len(call) for call in calls)
        with asyncio.Runner() as runner:
            for number, group in enumerate(_groups(calls)):
                if self._deadline is not None and time.monotonic() >= self._deadline:
                    self._stopped = "time"
                if self._stopped:
                    return
                if number and number % (CALLS_A_ROUND // CALLS_AT_ONCE) == 0:
                    add_units(self._collection_id)
                answers = runner.run(_ask_at_once(group))
                is_there = any(isinstance(answer, JsonAnswer) for answer in answers)
                for call, answer in zip(group, answers, strict=True):
                    if isinstance(answer, JsonAnswer):
                        self._take(call, answer)
                    else:
                        self._miss(call, answer.code, is_there=is_there, is_only=len(group) == 1)
                    done += len(call)
                    if self._progress:
                        self._progress(done, total)

    def _take(self, call: Sequence[SizedSource], answer: JsonAnswer) -> None:
        found: dict[str, list[str]] = {}
        failure = "unusable"
        try:
            found = read_propositions(answer.data, call)
        except WrongAnswer as wrong:
            failure = wrong.reason
        _save(call, found, failure, answer.prompt_tokens, answer.answer_tokens)
        self._counts["passages"] += len(found)
        self._counts["propositions"] += sum(map(len, found.values()))
        self._counts["failures"] += len(call) - len(found)
        self._counts["prompt_tokens"] += answer.prompt_tokens
        self._counts["answer_tokens"] += answer.answer_tokens

    def _miss(self, call: Sequence[SizedSource], code: str, *, is_there: bool, is_only: bool) -> None:
        """Record a failed call; `is_there`: other calls were answered meanwhile."""
        is_fault_of_call = code in FAULTS_OF_THE_CALL
        logger.warning("no propositions code=%s passages=%d", code, len(call))
        if is_fault_of_call and (is_there or is_only):
            _save(call, {}, code, 0, 0)
            self._counts["failures"] += len(call)
        if not (is_fault_of_call and is_there):
            self._stopped = code


def _groups(calls: Sequence[list[SizedSource]]) -> Iterator[Sequence[list[SizedSource]]]:
    for start in range(0, len(calls), CALLS_AT_ONCE):
        yield calls[start : start + CALLS_AT_ONCE]


async def _ask_at_once(group: Sequence[Sequence[SizedSource]]) -> list[JsonAnswer | ModelUnavailable]:
    return list(await asyncio.gather(*map(_ask, group)))


async def _ask(call: Sequence[SizedSource]) -> JsonAnswer | ModelUnavailable:
    # Statements repeat what they are about, and JSON has its own signs: thrice the text.
    room = 512 + 3 * sum(source.tokens for source in call)
    try:
        return await complete_json(build_messages(call), schema=SCHEMA, max_tokens=room)
    except ModelUnavailable as unavailable:
        return unavailable


def _save(
    call: Sequence[SizedSource], found: dict[str, list[str]], failure: str, prompt_tokens: int, answer_tokens: int
) -> None:
    """Save the found propositions by input hash; the other passages of the call have failed."""
    shares = zip(call, _shares(prompt_tokens, call), _shares(answer_tokens, call), strict=True)
    with transaction.atomic():
        for source, prompt_share, answer_share in shares:
            kept, _created = PropositionSet.objects.select_for_update().get_or_create(input_hash=source.input_hash)
            kept.attempts = kept.attempts + 1 if kept.prompt_version == VERSION else 1
            kept.prompt_version, kept.model = VERSION, settings.LLM_MODEL
            kept.failure = "" if source.input_hash in found else failure
            kept.prompt_tokens += prompt_share
            kept.answer_tokens += answer_share
            if source.input_hash in found:
                former, kept.propositions = kept.propositions, found[source.input_hash]
                if former and former != kept.propositions:  # their units go, so that the new ones' are added
                    units = Unit.objects.filter(granularity=Granularity.PROPOSITION)
                    units.filter(passage__input_hash=source.input_hash).delete()
            kept.save()


def _shares(tokens: int, call: Sequence[SizedSource]) -> list[int]:
    """Split a call's tokens over its passages by their length; the shares add up."""
    weights = [max(1, source.tokens) for source in call]
    shares = [tokens * weight // sum(weights) for weight in weights]
    shares[0] += tokens - sum(shares)
    return shares

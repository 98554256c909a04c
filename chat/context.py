"""A question on its way to an answer: what is asked, what it is understood as, what was found for it."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chat.events import Contact, End
from chat.evidence import evidence_of
from chat.extractive import PASSAGES
from chat.models import EmergencyContact, Message
from chat.profiles import PROFILES, Profile, retrieve_with
from chat.prompt_templates import BUILT_IN, Template
from chat.retrieved import rows_of, steering_faq
from chat.rewriting import points_back
from chat.sources import Candidate, load_candidates
from chat.wording import terms
from knowledge.inference.chat_model import PROSE, Sampling, Usage
from knowledge.inference.embedder import EmbeddingUnavailable
from knowledge.inference.reranker import RerankerUnavailable
from knowledge.letters import composed
from knowledge.retrieval.contracts import Scope
from knowledge.retrieval.hybrid import Retrieval
from knowledge.retrieval.scoping import scope_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ask:
    """A checked question (`chat.guard`) with what it needs to be answered.

    `history` is (role, text), oldest first. `language` is that of the answer, one of the `languages` that are
    spoken. `audience` is what is known of who asks, as tags `kind:value`, and `asked_kinds` are the kinds that were
    asked for already. `caller` is who waits for the model, so that nobody's many questions hold up another's one;
    `may_write` is off where the model has no time for it. `emergency_contacts` are shown to a student in need; with
    `as_question` the student has said that the message is no cry for help.
    """

    text: str
    language: str = "en"
    languages: Sequence[str] = ()
    history: Sequence[tuple[str, str]] = ()
    collections: Sequence[str] = ()
    profile: Profile = PROFILES["default"]
    assistant: str = "MarcelCMS"
    institution: str = "the university"
    persona: str = ""
    template: Template = BUILT_IN
    sampling: Sampling = PROSE
    contact: Contact | None = None
    abstention: str = ""
    suggestions: Sequence[str] = ()
    audience: Sequence[str] = ()
    asked_kinds: Sequence[str] = ()
    caller: str = ""
    may_write: bool = True
    emergency_contacts: Sequence[EmergencyContact] = ()
    as_question: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", composed(self.text))
        object.__setattr__(self, "history", tuple((role, composed(text)) for role, text in self.history))


@dataclass(frozen=True, slots=True)
class Turn:
    """What the student's message is, and `question`, it made to stand alone; `by_model` says who made it so. One that
    `begins_anew` was found to be understood best without what was said before."""

    route: Message.Route
    question: str
    by_model: bool = False
    begins_anew: bool = False


@dataclass(slots=True)
class Context:
    """What is known of an answer on its way; `candidates` may be narrowed to what is the student's own concern, and to
    what finds room in a prompt: `found` is all that was found."""

    ask: Ask
    turn: Turn
    retrieval: Retrieval | None = None
    found: Sequence[Candidate] = ()
    candidates: list[Candidate] = field(default_factory=list)
    evidence: float | None = None
    scope: Scope | None = None
    model: str = ""
    notice: str = ""
    usage: list[Usage] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    timings_ms: dict[str, float] = field(default_factory=dict)

    def mark(self, name: str) -> None:
        """Notes the milliseconds from the beginning until now, once."""
        self.timings_ms.setdefault(name, (time.perf_counter() - self.started) * 1000)

    def end(self, status: Message.Status, strategy: Message.Strategy, *, notice: str = "") -> End:
        """The last event, with the record of how the answer came about."""
        self.mark("total")
        steering = steering_faq(self.retrieval) if self.retrieval else None
        return End(
            status=status.value,
            strategy=strategy.value,
            notice=notice or self.notice,
            model=self.model,
            profile=self.ask.profile.name,
            prompt=self.ask.template.name if self.model else "",
            route=self.turn.route.value,
            rewritten=self.turn.question if self.turn.question != self.ask.text else "",
            prompt_tokens=sum(usage.prompt_tokens for usage in self.usage) if self.usage else None,
            answer_tokens=sum(usage.answer_tokens for usage in self.usage) if self.usage else None,
            evidence=self.evidence,
            retrieved=self._retrieved(strategy),
            faq=steering.faq_id if steering else None,
            faq_similarity=steering.similarity if steering else None,
            timings_ms=self.timings_ms,
        )

    def _retrieved(self, strategy: Message.Strategy) -> list[dict[str, Any]]:
        if self.retrieval is None:
            return []
        given: Sequence[Candidate] = ()
        if strategy == Message.Strategy.EXTRACTIVE:
            given = self.candidates[:PASSAGES]
        elif self.model:
            given = self.candidates
        return rows_of(self.retrieval, self.found, {each.passage_id for each in given})


def found_for(ask: Ask) -> Context:
    """What retrieval finds for the question as it is asked; raises as `gather`."""
    context = Context(ask, Turn(Message.Route.QUESTION, ask.text))
    gather(context)
    return context


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found for one reading of a question."""

    question: str
    retrieval: Retrieval
    candidates: list[Candidate]
    evidence: float


def look_up(ask: Ask, turn: Turn, retrieved: Callable[[str], Retrieval], *, sources: int) -> Found:
    """A question that the rule put behind the one before only because it says little may begin anew: both readings are
    looked up, and the one is taken whose best passage has more of its own words, or else that the pages say more to."""
    readings = [turn.question]
    if turn.question != ask.text and not turn.by_model and not points_back(ask.text):
        readings.append(ask.text)
    found = []
    for question in readings:
        retrieval = retrieved(question)
        hits = [hit for hit in retrieval.hits[:sources] if hit.passage_id not in retrieval.other_periods]
        candidates = load_candidates(hits)
        found.append(Found(question, retrieval, candidates, evidence_of(question, retrieval, candidates)))
    own = terms(ask.text)

    def answers(each: Found) -> tuple[int, float]:
        return max((len(own & terms(best.text)) for best in each.candidates[:1]), default=0), each.evidence

    return max(found, key=answers)


def gather(context: Context, guesses: Sequence[str] = ()) -> None:
    """All database work before an answer: retrieval and its passages; raises UnknownCollection.

    Where the embedding model or the reranker is away, what is left of the profile searches, and `notice` says so.
    """
    began = time.perf_counter()
    ask = context.ask
    scope = context.scope = scope_of(ask.collections, audience=ask.audience)

    def retrieved(question: str, profile: Profile = ask.profile) -> Retrieval:
        return retrieve_with(profile, question, scope=scope, k=ask.profile.sources, guesses=guesses)

    def retrieved_anyhow(question: str) -> Retrieval:
        try:
            return retrieved(question)
        except EmbeddingUnavailable:
            logger.exception("searched by words alone")
            context.notice = "words_only"
            return retrieved(question, PROFILES["bm25"])
        except RerankerUnavailable:
            logger.exception("searched without reranking")
            context.notice = "not_reranked"
            return retrieved(question, replace(ask.profile, plan=replace(ask.profile.plan, rerank_first=0)))

    found = look_up(ask, context.turn, retrieved_anyhow, sources=ask.profile.sources)
    if found.question != context.turn.question:
        context.turn = replace(context.turn, question=found.question, begins_anew=True)
    context.retrieval, context.evidence = found.retrieval, found.evidence
    context.found = context.candidates = found.candidates
    context.timings_ms.update(found.retrieval.timings_ms)
    context.timings_ms["retrieval"] = (time.perf_counter() - began) * 1000

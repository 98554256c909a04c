"""A question on its way to an answer: what is asked, what it is understood as, what was found for it."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from chat.models import Assistant, EmergencyContact, Experiment, Kind, Message
from chat.pipeline.answering.help_contacts import list_contacts
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.office import SureFAQ
from chat.pipeline.retrieval.profiles import PROFILES, Profile, build_profile
from chat.pipeline.retrieval.trace import boosting_faq, describe_ranking, describe_readings
from chat.pipeline.understanding.own_examples.examples import NO_EXAMPLES, OwnExamples
from chat.pipeline.understanding.own_examples.loading import load_own_kinds, load_own_needs
from chat.pipeline.verification.classifier import Strictness
from chat.prompt_template import BUILT_IN, Template
from chat.protocol.answer_events import End, HeldBack
from chat.protocol.shapes import Contact
from core.inference.llm.client import PROSE, Sampling, Usage
from core.language import detect_language
from core.text import nfc
from faqs.answers.choice import ChosenAnswer
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Scope

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question (`chat.pipeline.guardrails.input`) with what it needs to be answered.

    `history` is (role, text), oldest first. `language` is that of the answer, one of the `languages` that are
    spoken. `audience` is what is known of who asks, as tags `kind:value`, and `asked_kinds` are the kinds that were
    asked for already. `caller` is who waits for the model, so that nobody's many questions hold up another's one;
    `uses_model` is off where staff want quotes alone, `allow_llm` where the model has no time for it.
    If it `may_lag`, pages may be read from a replica, some seconds old.
    `emergency_contacts` are shown to a student in need. Greetings and the like are looked up unless it
    `recognises_kinds`. The assistant's own examples of them are `own_kinds`, those of cries for help `own_needs`. With
    `as_question` the message is looked up whatever it sounds like: the student has said that it is no cry for help, or
    a published system is evaluated.
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
    strictness: Strictness = Strictness.STRICT
    template: Template = BUILT_IN
    sampling: Sampling = PROSE
    contact: Contact | None = None
    abstention: str = ""
    suggestions: Sequence[str] = ()
    audience: Sequence[str] = ()
    asked_kinds: Sequence[str] = ()
    caller: str = ""
    uses_model: bool = True
    allow_llm: bool = True
    emergency_contacts: Sequence[EmergencyContact] = ()
    recognises_kinds: bool = True
    own_kinds: OwnExamples = NO_EXAMPLES
    own_needs: OwnExamples = NO_EXAMPLES
    as_question: bool = False
    may_lag: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", nfc(self.text))
        object.__setattr__(self, "history", tuple((role, nfc(text)) for role, text in self.history))

    @property
    def may_ask_model(self) -> bool:
        return self.uses_model and self.allow_llm


@dataclass(frozen=True, slots=True)
class Turn:
    """The kind of the student's message, and `question`, it made to stand alone; `by_model` says who made it so.

    One that `begins_anew` was found to be understood best without what was said before. `kind` is what exactly it is,
    if examples told that it is no question.
    """

    route: Message.Route
    question: str
    by_model: bool = False
    begins_anew: bool = False
    kind: Kind | None = None


@dataclass(slots=True)
class SentenceRecord:
    """The outcome of the sentences that the language model wrote: those shown as written, and those held back."""

    shown: int = 0
    held_back: list[HeldBack] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """A question on its way through the pipeline, and what each stage found out.

    `guesses` are passages that a model made up to search with (HyDE). `found` are all passages of the ranking's head;
    `candidates` are those that concern the student, and from `choose_sources` on the ones that an answer is made from.
    `named` are the tags of readers that the question names. Making a prompt leaves out the candidates that find no
    room. `failure` is the code of the model's error, if it had one. `meant` is the FAQ that the question surely means.
    `office` is the answer to it in staff's own words, which is shown above what the pages say, as source 1; `pointed`
    is a passage of its page, if staff wrote no answer and nothing there is about the question. `evidence` is how likely
    an answer was found, and `without_faqs` the same without FAQs, if the closest one's pages say nothing about the
    question. `leads_on` are curated questions that an answer leads on to.
    """

    ask: Question
    turn: Turn
    guesses: Sequence[str] = ()
    retrieval: Retrieval | None = None
    found: Sequence[Candidate] = ()
    candidates: list[Candidate] = field(default_factory=list)
    named: Sequence[str] = ()
    evidence: float | None = None
    without_faqs: float | None = None
    scope: Scope | None = None
    model: str = ""
    failure: str = ""
    notice: str = ""
    meant: SureFAQ | None = None
    office: ChosenAnswer | None = None
    pointed: Candidate | None = None
    leads_on: tuple[str, ...] = ()
    usage: list[Usage] = field(default_factory=list)
    sentences: SentenceRecord = field(default_factory=SentenceRecord)
    started: float = field(default_factory=time.perf_counter)
    timings_ms: dict[str, float] = field(default_factory=dict)

    @property
    def is_question(self) -> bool:
        """Return whether pages are searched for an answer."""
        return self.turn.route == Message.Route.QUESTION

    @property
    def is_answerable(self) -> bool:
        """Return whether enough was found to answer from."""
        evidence = self.deciding_evidence
        return bool(self.candidates) and (evidence is None or evidence >= self.ask.profile.threshold)

    @property
    def deciding_evidence(self) -> float | None:
        """Return the evidence that decides if the question is answered from pages."""
        return self.evidence if self.without_faqs is None else self.without_faqs

    @property
    def first_source(self) -> int:
        """The number of the first page that is cited."""
        return 2 if self.office else 1

    def mark(self, name: str) -> None:
        """Note the milliseconds from the beginning until now, once."""
        self.timings_ms.setdefault(name, (time.perf_counter() - self.started) * 1000)

    def end(self, status: Message.Status, strategy: Message.Strategy, *, notice: str = "") -> End:
        """Make the last event, with the record of how the answer came about."""
        self.mark("total")
        steering = boosting_faq(self.retrieval) if self.retrieval else None
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
            evidence=self.deciding_evidence,
            readings=describe_readings(self.retrieval) if self.retrieval else [],
            retrieved=self._retrieved(strategy),
            faq=steering.faq_id if steering else None,
            faq_similarity=steering.similarity if steering else None,
            timings_ms=self.timings_ms,
            sentences_shown=self.sentences.shown if self.sentences.shown or self.sentences.held_back else None,
            held_back=tuple(self.sentences.held_back),
        )

    def _retrieved(self, strategy: Message.Strategy) -> list[dict[str, Any]]:
        if self.retrieval is None:
            return []
        given = self.candidates if self.model or strategy == Message.Strategy.EXTRACTIVE else ()
        return describe_ranking(self.retrieval, self.found, {each.passage_id for each in given})


def build_question(assistant: Assistant | None, text: str, language: str) -> Question:
    """Build a question to an assistant, as the first of a conversation.

    It is answered in the language that it is asked in; `language`, that of the page, decides where that cannot be told.
    """
    return replace(assistant_config(assistant, detect_language(text) or language), text=text)


def build_question_cached(
    assistant: int | None, experiment: int | None, versions: tuple[str | None, ...], text: str, language: str
) -> Question:
    """Build a question as `build_question` does; read the assistant only if its `versions` have changed.

    With an `experiment` it is answered with the settings of the other arm.
    """
    return replace(cached_config(assistant, experiment, versions, detect_language(text) or language), text=text)


@lru_cache(maxsize=128)
def cached_config(
    assistant: int | None, experiment: int | None, _versions: tuple[str | None, ...], language: str
) -> Question:
    row = Assistant.objects.select_related("prompt", "profile").filter(pk=assistant).first() if assistant else None
    tried = Experiment.objects.select_related("prompt", "profile").filter(pk=experiment).first() if experiment else None
    return assistant_config(row, language, tried)


def assistant_config(assistant: Assistant | None, language: str, experiment: Experiment | None = None) -> Question:
    """Build all of a question but its text; with an `experiment` as its other arm."""
    if assistant is None:
        return Question("", language=language, emergency_contacts=list_contacts(Assistant()))
    collections = tuple(experiment.collections.values_list("slug", flat=True)) if experiment else ()
    if experiment:
        assistant = experiment.lay_over(assistant)
    spoken = assistant.language_for(language)
    suggestions = (spoken == "de" and assistant.suggestions_de) or assistant.suggestions
    return Question(
        "",
        language=spoken,
        languages=tuple(assistant.languages),
        collections=collections or tuple(assistant.collections.values_list("slug", flat=True)),
        profile=profile_for(assistant),
        assistant=assistant.name,
        institution=assistant.institution,
        persona=assistant.persona,
        strictness=Strictness(assistant.strictness),
        template=assistant.template,
        uses_model=assistant.uses_model,
        sampling=Sampling(assistant.model, assistant.temperature, assistant.max_tokens or 0),
        contact=build_contact(assistant),
        abstention=assistant.abstention_in(spoken),
        emergency_contacts=list_contacts(assistant),
        recognises_kinds=assistant.recognises_kinds,
        own_kinds=load_own_kinds(assistant),
        own_needs=load_own_needs(assistant),
        suggestions=tuple(line.strip() for line in suggestions.splitlines() if line.strip()),
    )


def profile_for(assistant: Assistant | None) -> Profile:
    """Return the assistant's retrieval profile, with the threshold of its own if it has one."""
    row = assistant.profile if assistant else None
    if row is None or row.is_built_in:
        found = PROFILES[row.name if row else "default"]
    else:
        found = build_profile(row, row.legs.all())
    if assistant is None or assistant.evidence_needed is None:
        return found
    return replace(found, threshold=assistant.evidence_needed)


def build_contact(assistant: Assistant | None) -> Contact | None:
    if assistant is None or not (assistant.contact_name or assistant.contact_email or assistant.contact_url):
        return None
    return Contact(assistant.contact_name, assistant.contact_url, assistant.contact_email)

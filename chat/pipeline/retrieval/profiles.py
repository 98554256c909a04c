"""Retrieval profiles by name: which retrievers run, and how their rankings become one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from chat.models import ProfileLeg, RetrievalProfile
from chat.pipeline.retrieval import retrievers
from chat.pipeline.tuning import READ_PASSAGES
from knowledge.retrieval.fusion import Fusion
from knowledge.retrieval.registry import RETRIEVERS
from knowledge.retrieval.search import Plan, Retrieval, RetrieverConfig, retrieve
from knowledge.retrieval.types import Origin, Scope
from knowledge.words.readings import Step

Kind = ProfileLeg.Retriever
retrievers.register_all()


class UnknownProfile(ValueError):
    """A profile was named that does not exist; the message lists those that do."""


@dataclass(frozen=True, slots=True)
class Profile:
    """`sources` passages are given to an answer; below `threshold` of evidence the assistant abstains."""

    name: str
    plan: Plan
    sources: int = 6
    threshold: float = 0.4

    @property
    def legs(self) -> Sequence[RetrieverConfig]:
        return self.plan.legs

    @property
    def reads_sentences(self) -> bool:
        """Return whether sentences are compared with the question, and passages of other languages read beside.

        Published systems take the first passages.
        """
        return bool(self.plan.word_steps)

    @property
    def passages(self) -> int:
        """Return how many passages are read; those that answer best are the sources."""
        return max(self.sources, READ_PASSAGES) if self.reads_sentences else self.sources

    @property
    def origins(self) -> list[str]:
        return [leg.retriever.origin for leg in self.legs]

    @property
    def uses_hyde(self) -> bool:
        """Return whether a language model must guess an answer first (HyDE)."""
        return Origin.HYDE in self.origins


def _legs(*parts: tuple[Kind, float, int]) -> tuple[RetrieverConfig, ...]:
    return tuple(RetrieverConfig(RETRIEVERS[kind], weight, k) for kind, weight, k in parts)


#: How our own profiles read the words of a question.
WORD_STEPS = frozenset(Step)
LEXICAL, DENSE = (Kind.LEXICAL, 1.0, 100), (Kind.DENSE, 1.0, 100)
HARD_FAQ = (Kind.HARD_FAQ, 2.0, 10)
#: What the papers compare, by their own names, and ours: `default`. See benchmarks/RESULTS.md.
BUILT_IN: Mapping[str, tuple[str, Plan]] = {
    "default": (
        _("Words, meanings and several close FAQs, merged by score: best or close to it on all data sets measured."),
        Plan(
            _legs((Kind.LEXICAL, 0.4, 100), (Kind.DENSE, 0.6, 100), (Kind.FAQ, 2.0, 30)),
            Fusion.SCORES,
            word_steps=WORD_STEPS,
            prefers_editions=True,
        ),
    ),
    "bm25": (_("Words alone."), Plan(_legs(LEXICAL))),
    "okapi": (
        _("Words alone, with rank-bm25 as other papers’ baselines use it: slow, for comparisons."),
        Plan(_legs((Kind.OKAPI, 1.0, 100))),
    ),
    "marcel": (
        _("Marcel as published: rank-bm25 over whole pages, and the closest FAQ’s pages first. Slow, for comparisons."),
        Plan(_legs((Kind.OKAPI_PAGES, 1.0, 5), HARD_FAQ)),
    ),
    "dense": (_("Meanings alone."), Plan(_legs(DENSE))),
    "dense-sentence": (_("Meanings of sentences."), Plan(_legs((Kind.SENTENCES, 1.0, 100)))),
    "dense-proposition": (_("Meanings of propositions."), Plan(_legs((Kind.PROPOSITIONS, 1.0, 100)))),
    "bm25+dense": (_("Words and meanings, merged by rank."), Plan(_legs(LEXICAL, DENSE))),
    "bm25+hyde": (_("Words, and meanings of guessed answers."), Plan(_legs(LEXICAL, (Kind.HYDE, 1.0, 100)))),
    "bm25+faq": (_("Marcel: the closest FAQ’s documents first."), Plan(_legs(LEXICAL, HARD_FAQ))),
    "bm25+dense+rerank": (_("Marcel without FAQs, reranked."), Plan(_legs(LEXICAL, DENSE), rerank_first=20)),
    "bm25+faq+rerank": (
        _("Marcel with everything reranked, curated documents too."),
        Plan(_legs(LEXICAL, HARD_FAQ), rerank_first=20, protect_faqs=False),
    ),
    "bm25+faq+rerank-protected": (
        _("Marcel reranked, curated documents kept first."),
        Plan(_legs(LEXICAL, HARD_FAQ), rerank_first=20),
    ),
    "aueb-ensemble": (
        _("AUEB: words, and meanings at three granularities, merged by rank."),
        Plan(_legs(LEXICAL, DENSE, (Kind.SENTENCES, 0.5, 100), (Kind.PROPOSITIONS, 0.5, 100))),
    ),
    "syllabus-hybrid": (
        _("SyllabusRAG: words and meanings, merged by score."),
        Plan(_legs((Kind.LEXICAL, 0.5, 100), (Kind.DENSE, 0.5, 100)), Fusion.SCORES),
    ),
}
PROFILES = {name: Profile(name, plan) for name, (_description, plan) in BUILT_IN.items()}
KINDS = {id(retriever): kind for kind, retriever in RETRIEVERS.items()}


def get_profile(name: str) -> Profile:
    """Return a built-in profile, or one that staff made. Raise UnknownProfile."""
    if name in PROFILES:
        return PROFILES[name]
    row = RetrievalProfile.objects.filter(name=name, is_built_in=False).prefetch_related("legs").first()
    if row is None:
        raise UnknownProfile(f"No profile is called {name}. There are: {', '.join(profile_names())}.")
    return build_profile(row, row.legs.all())


def build_profile(row: RetrievalProfile, legs: Iterable[ProfileLeg]) -> Profile:
    """Build a profile of staff's own from its row and its retrievers; neither need be saved."""
    configs = tuple(RetrieverConfig(RETRIEVERS[leg.retriever], leg.weight, leg.k) for leg in legs)
    plan = Plan(
        configs, Fusion(row.fusion), row.rerank_first, row.protect_faqs, word_steps=WORD_STEPS, prefers_editions=True
    )
    return Profile(row.name, plan, row.sources, row.threshold)


def profile_names() -> list[str]:
    own = RetrievalProfile.objects.filter(is_built_in=False).order_by("name").values_list("name", flat=True)
    return [*PROFILES, *own]


def retrieve_with(profile: Profile, text: str, *, scope: Scope, k: int, guesses: Sequence[str] = ()) -> Retrieval:
    return retrieve(text, plan=profile.plan, scope=scope, k=k, guesses=guesses)


def write_built_in(**_: object) -> None:
    """Write the built-in profiles as rows after migrations, so that staff can choose and clone them."""
    for name, (description, plan) in BUILT_IN.items():
        row, _made = RetrievalProfile.objects.update_or_create(
            name=name,
            defaults={
                "description": description,
                "is_built_in": True,
                "fusion": plan.fusion.value,
                "rerank_first": plan.rerank_first,
                "protect_faqs": plan.protect_faqs,
                "threshold": PROFILES[name].threshold,
            },
        )
        row.legs.all().delete()
        for leg in plan.legs:
            row.legs.create(retriever=KINDS[id(leg.retriever)], weight=leg.weight, k=leg.k)
    RetrievalProfile.objects.filter(is_built_in=True).exclude(name__in=BUILT_IN).update(is_built_in=False)

"""Retrieval profiles by name: which retrievers run, how much each counts. The first place that knows both FAQs and
passages."""

from collections.abc import Sequence
from dataclasses import dataclass

from faqs.matching import FAQRetriever
from knowledge.retrieval.contracts import Origin, Scope
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.hybrid import Leg, Retrieval, retrieve
from knowledge.retrieval.lexical import LexicalRetriever


class UnknownProfile(ValueError):
    """A profile was named that does not exist; the message lists those that do."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    legs: Sequence[Leg]

    @property
    def origins(self) -> list[Origin]:
        return [leg.retriever.origin for leg in self.legs]


LEXICAL, DENSE = LexicalRetriever(), DenseRetriever()
PROFILES = {
    profile.name: profile
    for profile in (
        Profile("default", (Leg(LEXICAL, 1.0, 50), Leg(DENSE, 1.0, 50), Leg(FAQRetriever(), 2.0, 10))),
        Profile("bm25", (Leg(LEXICAL, 1.0, 100),)),
        Profile("dense", (Leg(DENSE, 1.0, 100),)),
        Profile("bm25+dense", (Leg(LEXICAL, 1.0, 100), Leg(DENSE, 1.0, 100))),
        Profile("bm25+faq", (Leg(LEXICAL, 1.0, 100), Leg(FAQRetriever(steering=False), 2.0, 10))),
    )
}


def get_profile(name: str) -> Profile:
    """Raises UnknownProfile."""
    if name not in PROFILES:
        raise UnknownProfile(f"No profile is called {name}. There are: {', '.join(PROFILES)}.")
    return PROFILES[name]


def retrieve_with(profile: Profile, text: str, *, scope: Scope, k: int) -> Retrieval:
    return retrieve(text, legs=profile.legs, scope=scope, k=k)

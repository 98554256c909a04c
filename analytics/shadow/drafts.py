"""Changes that wait in the database to go live: an FAQ, a document, a retrieval profile, a prompt.

Each knows what it reads from a row (`of`) and writes to one (`onto`), so that what is tested is what is published.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, ClassVar, Self, TypeVar

from django.core.serializers.json import DjangoJSONEncoder

from analytics.models import ShadowTest
from chat.models import Assistant, ProfileLeg, PromptVersion, RetrievalProfile
from chat.pipeline.retrieval.profiles import Profile, build_profile
from core.hashing import fingerprint
from faqs.models import FAQ
from faqs.versions.history import set_phrasings, set_sources
from knowledge.models import Document

Kind = ShadowTest.Kind
Row = TypeVar("Row")


class TargetGone(Exception):
    """The row that a draft changes was deleted."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A draft as JSON, and back."""

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**{name: _restored(name, value) for name, value in stored.items()})

    def dump(self) -> dict[str, Any]:
        stored: dict[str, Any] = json.loads(json.dumps(asdict(self), cls=DjangoJSONEncoder))
        return stored

    @property
    def fingerprint(self) -> str:
        return fingerprint(json.dumps(self.dump(), sort_keys=True))


def _restored(name: str, value: Any) -> Any:
    if name.startswith("valid_"):
        return date.fromisoformat(value) if value else None
    if isinstance(value, list):
        return tuple(tuple(each) if isinstance(each, list) else each for each in value)
    return value


@dataclass(frozen=True, slots=True)
class FAQDraft(_Stored):
    """`documents` are ids, best first."""

    kind: ClassVar[Kind] = Kind.FAQ
    question: str
    language: str
    status: str
    valid_from: date | None
    valid_until: date | None
    reference_answer: str
    phrasings: tuple[str, ...]
    documents: tuple[int, ...]

    @classmethod
    def of(cls, faq: FAQ) -> "FAQDraft":
        return cls(
            question=faq.question,
            language=faq.language,
            status=faq.status,
            valid_from=faq.valid_from,
            valid_until=faq.valid_until,
            reference_answer=faq.reference_answer,
            phrasings=tuple(faq.phrasings.order_by("pk").values_list("text", flat=True)),
            documents=tuple(faq.sources.values_list("document", flat=True)),
        )

    def onto(self, faq: FAQ) -> None:
        """Set the row's fields."""
        for name in ("question", "language", "status", "valid_from", "valid_until", "reference_answer"):
            setattr(faq, name, getattr(self, name))

    def write_parts(self, faq: FAQ) -> None:
        """Save the phrasings and sources of a saved FAQ."""
        set_phrasings(faq, self.phrasings)
        set_sources(faq, self.documents)


@dataclass(frozen=True, slots=True)
class DocumentDraft(_Stored):
    """`collection` is an id."""

    kind: ClassVar[Kind] = Kind.DOCUMENT
    title: str
    url: str
    collection: int
    language: str
    status: str
    text: str
    valid_from: date | None
    valid_until: date | None
    audience: tuple[str, ...]

    @classmethod
    def of(cls, document: Document) -> "DocumentDraft":
        return cls(
            title=document.title,
            url=document.url,
            collection=document.collection_id,
            language=document.language,
            status=document.status,
            text=document.text,
            valid_from=document.valid_from,
            valid_until=document.valid_until,
            audience=tuple(document.audience),
        )

    def onto(self, document: Document) -> None:
        """Set the row's fields; the service saves them, with what follows from that."""
        for name in ("title", "url", "language", "status", "text", "valid_from", "valid_until"):
            setattr(document, name, getattr(self, name))
        document.collection_id = self.collection
        document.audience = list(self.audience)


@dataclass(frozen=True, slots=True)
class ProfileDraft(_Stored):
    """`legs` are (retriever, weight, k)."""

    kind: ClassVar[Kind] = Kind.PROFILE
    name: str
    description: str
    fusion: str
    rerank_first: int
    protect_faqs: bool
    sources: int
    threshold: float
    legs: tuple[tuple[str, float, int], ...]

    @classmethod
    def of(cls, profile: RetrievalProfile) -> "ProfileDraft":
        legs = profile.legs.values_list("retriever", "weight", "k")
        own = {name: getattr(profile, name) for name in cls.__slots__ if name != "legs"}
        return cls(**own, legs=tuple(legs))

    def onto(self, profile: RetrievalProfile) -> list[ProfileLeg]:
        """Set the row's fields; return the retrievers that replace those it has."""
        for name in self.__slots__:
            if name != "legs":
                setattr(profile, name, getattr(self, name))
        return [ProfileLeg(retriever=retriever, weight=weight, k=k) for retriever, weight, k in self.legs]

    def as_profile(self) -> Profile:
        row = RetrievalProfile()
        return build_profile(row, self.onto(row))


@dataclass(frozen=True, slots=True)
class PromptDraft(_Stored):
    """The version of an assistant's prompt; None is the built-in one."""

    kind: ClassVar[Kind] = Kind.PROMPT
    version: int | None

    @classmethod
    def of(cls, assistant: Assistant) -> "PromptDraft":
        return cls(version=assistant.prompt_id)


Draft = FAQDraft | DocumentDraft | ProfileDraft | PromptDraft
DRAFTS: Mapping[str, type[Draft]] = {each.kind: each for each in (FAQDraft, DocumentDraft, ProfileDraft, PromptDraft)}


def read_draft(test: ShadowTest) -> Draft:
    return DRAFTS[test.kind].load(test.draft)


def present(test: ShadowTest) -> Draft:
    """Return the draft of what the test's target is now. Raise TargetGone."""
    match test.kind:
        case Kind.FAQ:
            return FAQDraft.of(_found(FAQ.objects.filter(pk=test.target_id).first()))
        case Kind.DOCUMENT:
            return DocumentDraft.of(_found(Document.objects.filter(pk=test.target_id).first()))
        case Kind.PROFILE:
            return ProfileDraft.of(_found(RetrievalProfile.objects.filter(pk=test.target_id).first()))
        case _:
            if test.target_id:
                _found(PromptVersion.objects.filter(pk=test.target_id).first())
            return PromptDraft.of(Assistant.objects.get(pk=test.assistant_id))


def _found(row: Row | None) -> Row:
    if row is None:
        raise TargetGone
    return row

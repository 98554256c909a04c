"""A change laid over the database inside a transaction that is always rolled back: what is tested is what would be
served, and nobody else sees any of it.

What takes long (cutting, embedding, reading an index) is done once, in `prepare`; `lay` only puts the rows back that
were made then, with the ids they had, so that a transaction is short however often a change is laid. See
docs/decisions/0014-shadow-tests.md.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from django.db import connection, transaction

from analytics.shadow.drafts import DocumentDraft, FAQDraft, ProfileDraft
from chat.pipeline.question import Context, Question
from chat.pipeline.retrieval.profiles import Profile
from chat.prompt_template import Template
from faqs.answers.pages import sync_pages
from faqs.indexing import sync_in as sync_faq_in
from faqs.models import FAQ, FAQVector
from faqs.retriever import by_phrasing
from knowledge.indexing.change_log import unrecorded
from knowledge.indexing.documents import sync_in as sync_document_in
from knowledge.indexing.generations import load_embedder
from knowledge.models import Document, Generation, Passage, Unit
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.live_index import own_index, served_generation
from knowledge.retrieval.types import Hit, Origin, Query, Retriever, Scope

if TYPE_CHECKING:
    from django.db.models import QuerySet

#: A test waits no longer for somebody who edits the same row.
LOCK_TIMEOUT = "2s"


class IndexReplaced(Exception):
    """Another generation of the index went live during a test."""


@contextmanager
def rolled_back() -> Iterator[None]:
    """Nothing that happens inside lasts, nor does anything wait for its commit."""
    with transaction.atomic(), unrecorded():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [LOCK_TIMEOUT])
        yield
        transaction.set_rollback(True)


class Overlay(Protocol):
    """A change that can be laid over what is served."""

    def prepare(self) -> None:
        """Prepare what takes long, once. Raise EmbeddingUnavailable."""

    def lay(self) -> None:
        """Apply the change until the transaction, one of `rolled_back`, ends. Raise IndexReplaced."""

    def asks(self, ask: Question) -> tuple[Question, Question]:
        """Return how the question is asked without the change and, once it is applied, with it."""

    def touches(self, before: Context, scope: Scope) -> bool:
        """Return whether the change, now applied, can make a difference to what was found without it."""

    def is_reached(self, context: Context) -> bool:
        """Return whether the question led to what is changed."""


class FAQOverlay:
    """An FAQ as drafted; of one that is not there yet, `faq_id` is None."""

    def __init__(self, draft: FAQDraft, faq_id: int | None) -> None:
        self.draft, self._faq_id = draft, faq_id
        self._vectors: list[FAQVector] = []

    def prepare(self) -> None:
        self._generation = _served_generation()
        with rolled_back():
            faq = self._write()
            sync_faq_in(faq.pk, self._generation, load_embedder(self._generation))
            self._faq_id = faq.pk
            self._vectors = list(faq.vectors.filter(generation=self._generation))

    def lay(self) -> None:
        _check(self._generation)
        faq = self._write()
        faq.vectors.filter(generation=self._generation).delete()
        FAQVector.objects.bulk_create(self._vectors)

    def asks(self, ask: Question) -> tuple[Question, Question]:
        """Search only the FAQs twice: an FAQ changes nothing for the other retrievers.

        Both times by the nearest phrasing: what the change would be learned to is known only once it is published.
        """
        plan = ask.profile.plan
        legs = [
            replace(
                leg,
                retriever=by_phrasing(leg.retriever)
                if leg.retriever.origin == Origin.FAQ
                else _Remembering(leg.retriever),
            )
            for leg in plan.legs
        ]
        remembering = replace(ask, profile=replace(ask.profile, plan=replace(plan, legs=legs)))
        return remembering, remembering

    def touches(self, before: Context, scope: Scope) -> bool:
        """Return whether other FAQs match, or the same ones otherwise."""
        if before.retrieval is None:
            return True
        query, runs = before.retrieval.query, before.retrieval.runs
        legs = [leg for leg in before.ask.profile.legs if leg.retriever.origin == Origin.FAQ]
        return any(list(leg.retriever.retrieve(query, k=leg.k, scope=scope)) != list(runs[Origin.FAQ]) for leg in legs)

    def is_reached(self, context: Context) -> bool:
        hits = context.retrieval.runs.get(Origin.FAQ, ()) if context.retrieval else ()
        return any(hit.faq_id == self._faq_id and hit.confidence > 0 for hit in hits)

    def _write(self) -> FAQ:
        faq = FAQ.objects.filter(pk=self._faq_id or 0).first() or FAQ(pk=self._faq_id)
        self.draft.onto(faq)
        faq.save()
        self.draft.write_parts(faq)
        sync_pages([faq.pk])
        return faq


class DocumentOverlay:
    """A document as drafted, with a lexical index of its own, since nobody else may see its words."""

    def __init__(self, draft: DocumentDraft, document_id: int) -> None:
        self.draft, self._document_id = draft, document_id

    def prepare(self) -> None:
        self._generation = _served_generation()
        index = own_index(self._generation.pk)
        before = index.as_now()
        with rolled_back():
            self._write()
            sync_document_in(self._document_id, self._generation, load_embedder(self._generation))
            self._passages = list(self._present_passages())
            self._units = list(Unit.objects.filter(passage__in=[passage.pk for passage in self._passages]))
            index.take_in(self._document_id)
        self._lexical = LexicalRetriever(before), LexicalRetriever(index)

    def lay(self) -> None:
        _check(self._generation)
        self._write()
        kept = [passage.pk for passage in self._passages]
        self._present_passages().exclude(pk__in=kept).delete()
        Passage.objects.bulk_create(
            self._passages, update_conflicts=True, unique_fields=["id"], update_fields=["position", "page"]
        )
        Unit.objects.filter(passage__in=kept).delete()
        Unit.objects.bulk_create(self._units)

    def asks(self, ask: Question) -> tuple[Question, Question]:
        before, after = (_with(ask.profile, Origin.LEXICAL, retriever) for retriever in self._lexical)
        return replace(ask, profile=before), replace(ask, profile=after)

    def touches(self, before: Context, scope: Scope) -> bool:
        return True

    def is_reached(self, context: Context) -> bool:
        return any(each.document_id == self._document_id for each in context.candidates)

    def _write(self) -> None:
        document = Document.objects.get(pk=self._document_id)
        self.draft.onto(document)
        document.save()

    def _present_passages(self) -> "QuerySet[Passage]":
        return Passage.objects.filter(document=self._document_id, generation=self._generation)


class ProfileOverlay:
    """A retrieval profile as drafted, beside the same one as it is; nothing has to be laid."""

    def __init__(self, draft: ProfileDraft, live: ProfileDraft) -> None:
        self._before, self._after = live.as_profile(), draft.as_profile()

    def prepare(self) -> None:
        pass

    def lay(self) -> None:
        pass

    def asks(self, ask: Question) -> tuple[Question, Question]:
        return replace(ask, profile=self._before), replace(ask, profile=self._after)

    def touches(self, before: Context, scope: Scope) -> bool:
        return True

    def is_reached(self, context: Context) -> bool:
        return True


class PromptOverlay:
    """Another prompt, beside the one that the assistant has; nothing has to be laid."""

    def __init__(self, template: Template) -> None:
        self._template = template

    def prepare(self) -> None:
        pass

    def lay(self) -> None:
        pass

    def asks(self, ask: Question) -> tuple[Question, Question]:
        return ask, replace(ask, template=self._template)

    def touches(self, before: Context, scope: Scope) -> bool:
        return True

    def is_reached(self, context: Context) -> bool:
        return True


class _Remembering:
    """A retriever that finds for a question what it found the first time; for one change's questions only."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self.origin, self.needs_vector = retriever.origin, retriever.needs_vector
        self._found: dict[tuple[str, int, Scope], Sequence[Hit]] = {}

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> Sequence[Hit]:
        key = query.text, k, scope
        if key not in self._found:
            self._found[key] = self._retriever.retrieve(query, k=k, scope=scope)
        return self._found[key]


def _with(profile: Profile, origin: Origin, retriever: Retriever) -> Profile:
    legs = [replace(leg, retriever=retriever) if leg.retriever.origin == origin else leg for leg in profile.legs]
    return replace(profile, plan=replace(profile.plan, legs=legs))


def _served_generation() -> Generation:
    return Generation.objects.get(pk=served_generation().pk)


def _check(generation: Generation) -> None:
    if served_generation().pk != generation.pk:
        raise IndexReplaced

"""Decisions about corrections: back to what was read, or what is to be read where the source changed too."""

from dataclasses import dataclass

from django.db import transaction

from core.hashing import fingerprint
from knowledge.corrections.merging import Words
from knowledge.corrections.readings import REFERENCES
from knowledge.models import Correction, Document
from knowledge.services.documents import save_document


class DecidedMeanwhile(Exception):
    """The document or its correction is not as it was shown; nothing was saved."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A document with its correction; `state` changes with either."""

    document: Document
    correction: Correction | None

    @property
    def state(self) -> str:
        kept = self.correction
        return fingerprint(
            self.document.content_hash, self.document.read_hash, str(kept.found_at) if kept else "", str(bool(kept))
        )


def read_corrected(document: Document) -> Corrected:
    return Corrected(document, Correction.objects.filter(document=document).first())


@transaction.atomic
def restore_original(*, document: Document, state: str) -> Document:
    """Go back to what was read from the source. Raises DecidedMeanwhile, ValidationError."""
    seen = _locked(document, state)
    if seen.correction is None or seen.correction.is_conflict:
        raise DecidedMeanwhile
    seen.document.title, seen.document.text = seen.correction.title, seen.correction.text
    return save_document(document=seen.document)


@transaction.atomic
def take_new_text(*, document: Document, state: str) -> Document:
    """Decide a conflict for what the source says now. Raises DecidedMeanwhile, ValidationError."""
    seen = _locked(document, state)
    if seen.correction is None or not seen.correction.is_conflict:
        raise DecidedMeanwhile
    return _save(seen.document, seen.correction, Words(seen.correction.new_title, seen.correction.new_text))


@transaction.atomic
def save_merged(*, document: Document, words: Words, state: str) -> Document:
    """Decide a conflict for these words, whose links are numbered by the new text's.

    Where it is decided already, they are a further edit. Raises DecidedMeanwhile, ValidationError.
    """
    seen = _locked(document, state)
    if seen.correction is None or not seen.correction.is_conflict:
        seen.document.title, seen.document.text = words.title, words.text
        return save_document(document=seen.document)
    return _save(seen.document, seen.correction, words)


def _save(document: Document, correction: Correction, words: Words) -> Document:
    links = correction.new_references
    metadata = {name: value for name, value in document.metadata.items() if name != REFERENCES}
    document.metadata = {**metadata, REFERENCES: links} if links else metadata
    correction.follow(title=correction.new_title, text=correction.new_text)
    correction.save()
    document.title, document.text = words.title, words.text
    return save_document(document=document)


def _locked(document: Document, state: str) -> Corrected:
    """Lock the document; raises DecidedMeanwhile if it is not in this state any more."""
    seen = read_corrected(Document.objects.select_for_update(no_key=True).get(pk=document.pk))
    if seen.state != state:
        raise DecidedMeanwhile
    return seen

"""What a new reading of its source, or an edit by staff, does to a document and its correction."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from django.utils import timezone

from core.hashing import fingerprint
from knowledge.chunking.numbered_links import list_addresses, renumber
from knowledge.corrections.merging import Merged, Words, merge, same_words
from knowledge.models import Correction, Document
from knowledge.models.courses import find_course

REFERENCES = "references"


class Reading(Enum):
    """What came of a reading: `SAME` leaves title and text as they are, `HELD` does so until staff decide."""

    SAME = "same"
    TAKEN = "taken"
    OVERWRITTEN = "overwritten"
    MERGED = "merged"
    HELD = "held"


def take_reading(document: Document, *, title: str, text: str, metadata: Mapping[str, Any]) -> Reading:
    """Set what the source says of a document, whose row is locked; what staff corrected stays. The caller saves it.

    A document that is not corrected costs no query.
    """
    seen = fingerprint(title, text)
    correction = None
    if document.read_hash and document.content_hash != document.read_hash:
        correction = Correction.objects.filter(document=document).first()
    if correction:
        return _beside_correction(document, correction, Words(title, text), dict(metadata))
    before, document.read_hash, document.metadata = document.read_hash, seen, dict(metadata)
    if seen in {before, document.content_hash}:
        return Reading.SAME
    document.title, document.text = title, text
    return Reading.OVERWRITTEN if before and document.content_hash != before else Reading.TAKEN


def _beside_correction(document: Document, correction: Correction, new: Words, metadata: dict[str, Any]) -> Reading:
    seen, before = fingerprint(new.title, new.text), document.read_hash
    links = metadata.get(REFERENCES, [])
    if seen == before and correction.is_conflict:
        if correction.new_references != links:
            correction.new_references = links
            correction.save(update_fields=["new_references"])
        document.metadata = _with_links(metadata, document.metadata.get(REFERENCES))
        return Reading.SAME
    document.read_hash = seen
    if seen in {before, document.content_hash} or seen == fingerprint(correction.title, correction.text):
        if seen == document.content_hash:
            correction.delete()
        elif correction.is_conflict:  # the source is as it was again
            correction.follow(title=new.title, text=new.text)
            correction.save()
        document.metadata = metadata
        return Reading.SAME
    merged = merge_with(document, correction, new, links)
    if not merged.is_clean:
        correction.new_title, correction.new_text, correction.new_references = new.title, new.text, links
        correction.found_at = timezone.now()
        correction.save()
        document.metadata = _with_links(metadata, document.metadata.get(REFERENCES))
        return Reading.HELD
    document.metadata = metadata
    if same_words(merged.words, new):
        document.title, document.text = new.title, new.text
        correction.delete()
        return Reading.TAKEN
    document.title, document.text = merged.words.title, merged.words.text
    correction.follow(title=new.title, text=new.text)
    correction.merged_at = timezone.now()
    correction.save()
    return Reading.MERGED


def merge_with(document: Document, correction: Correction, new: Words, links: Any) -> Merged:
    """Merge with a new text that has these links; the result's links are numbered by them."""
    old, numbered = list_addresses(document.metadata.get(REFERENCES)), list_addresses(links)
    original = Words(correction.title, renumber(correction.text, old, numbered))
    return merge(original, Words(document.title, renumber(document.text, old, numbered)), new)


def note_edit(document: Document) -> None:
    """Note what staff are about to save as a correction if its text was read from a source; its row is locked."""
    before = Document.objects.filter(pk=document.pk).first() if document.pk else None
    if before is None:
        return
    document.read_hash = before.read_hash
    is_edited = fingerprint(document.title, document.text) != before.content_hash
    if not is_edited or not before.read_hash or find_course(document):
        return
    correction = Correction.objects.filter(document=document).first()
    if correction is None:
        if before.content_hash != before.read_hash:  # it is not known what was read
            return
        correction = Correction(document=document, title=before.title, text=before.text)
    _keep_edit(document, correction)


def _keep_edit(document: Document, correction: Correction) -> None:
    is_conflict = correction.is_conflict
    read = Words(correction.new_title, correction.new_text) if is_conflict else Words(correction.title, correction.text)
    if same_words(Words(document.title, document.text), read):
        document.title, document.text = read.title, read.text
        if is_conflict:
            document.metadata = _with_links(document.metadata, correction.new_references)
        if not correction._state.adding:
            correction.delete()
        _cache(document, None)
        return
    correction.corrected_at = timezone.now()
    correction.save()
    _cache(document, correction)


def _cache(document: Document, correction: Correction | None) -> None:
    """Have `document.correction` say what was just saved."""
    Correction._meta.get_field("document").remote_field.set_cached_value(document, correction)


def _with_links(metadata: Mapping[str, Any], links: Any) -> dict[str, Any]:
    others = {name: value for name, value in metadata.items() if name != REFERENCES}
    return {**others, REFERENCES: links} if links else others

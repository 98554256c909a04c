"""Flagged texts: finds paragraphs that seem to address a program, and keeps their passages out of answers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from core.hashing import fingerprint
from knowledge.chunking.page_markers import without_markers
from knowledge.chunking.sentences import split_sentences
from knowledge.guardrails.injection import flag_document
from knowledge.models import Document, FlaggedText, Passage

#: Of a longer paragraph, such as a table, staff see the sentence and its neighbours.
LONGEST_PARAGRAPH = 1000


@dataclass(frozen=True, slots=True)
class Flag:
    """A paragraph to be checked, and the names of its signs."""

    text: str
    signs: tuple[str, ...]

    @property
    def text_hash(self) -> str:
        """Hash of the text, the same however the words are wrapped."""
        return fingerprint(_on_one_line(self.text))


class FlagFinder:
    """Finds the flags of one document's passages.

    A flag is the paragraph of the document around a sentence with a sign, so it does not depend on how the document is
    cut into passages.
    """

    def __init__(self, *, title: str, text: str) -> None:
        self._title, self._text = title, text

    def find(self, heading_path: Sequence[str], passage: str) -> tuple[Flag, ...]:
        """Return the flags of a passage; its title and headings count, since they are shown with it."""
        heads = [self._title, *heading_path]
        if not flag_document("\n".join((*heads, passage))):
            return ()
        signs: dict[str, set[str]] = {}
        rest = []
        for head in heads:
            if found := flag_document(head):
                signs.setdefault(head, set()).update(found)
            else:
                rest.append(head)
        for sentence in split_sentences(passage):
            if found := flag_document(sentence):
                for paragraph in self._around(sentence):
                    signs.setdefault(paragraph, set()).update(found)
            else:
                rest.append(sentence)
        # Signs that only several sentences show together.
        if found := flag_document("\n".join(rest) if signs else "\n".join((*heads, passage))):
            signs.setdefault(passage, set()).update(found)
        return tuple(Flag(text, tuple(sorted(names))) for text, names in signs.items())

    def _around(self, sentence: str) -> Iterable[str]:
        """Return each paragraph of the document with this sentence, or the sentence if there is none."""
        wanted = _on_one_line(sentence)
        found = [text for text, line in self._paragraphs if wanted in line]
        return [_near(text, wanted) for text in found] or [sentence]

    @cached_property
    def _paragraphs(self) -> list[tuple[str, str]]:
        """Paragraphs, each as it stands and on one line."""
        blocks = without_markers(self._text.replace("\r\n", "\n")).split("\n\n")
        return [(block.strip(), _on_one_line(block)) for block in blocks if block.strip()]


def _near(paragraph: str, sentence: str) -> str:
    if len(paragraph) <= LONGEST_PARAGRAPH:
        return paragraph
    parts = split_sentences(paragraph)
    place = next((at for at, part in enumerate(parts) if sentence in _on_one_line(part)), None)
    return sentence if place is None else "\n".join(parts[max(0, place - 1) : place + 2])


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


# --- saving flags ---


def record_flags(document: Document, flags: Iterable[Flag]) -> frozenset[str]:
    """Add the flags that the document does not have yet; return the hashes of those that staff cleared.

    Call it in the transaction that writes the document's passages, which holds its lock.
    """
    by_hash = {flag.text_hash: flag for flag in flags}
    known = {row.text_hash: row for row in document.flagged_texts.all()}
    added = []
    for text_hash, flag in by_hash.items():
        if text_hash not in known:
            added.append(FlaggedText(document=document, text=flag.text, text_hash=text_hash, signs=list(flag.signs)))
        elif known[text_hash].signs != list(flag.signs):
            FlaggedText.objects.filter(pk=known[text_hash].pk).update(signs=list(flag.signs))
    FlaggedText.objects.bulk_create(added)
    return cleared_hashes(document)


def cleared_hashes(document: Document) -> frozenset[str]:
    """Return the hashes of the document's flags that staff cleared."""
    cleared = document.flagged_texts.filter(state=FlaggedText.State.CLEARED)
    return frozenset(cleared.values_list("text_hash", flat=True))


def drop_unused_flags(document: Document) -> None:
    """Delete the flags whose text no passage of the document has any more, in any generation."""
    used = {text_hash for (hashes,) in _flagged(document).values_list("flags") for text_hash in hashes}
    document.flagged_texts.exclude(text_hash__in=used).delete()


def is_withheld(hashes: Iterable[str], cleared: Collection[str]) -> bool:
    """Decide whether a passage with these flags is kept out of answers."""
    return any(text_hash not in cleared for text_hash in hashes)


def public_text(document: Document) -> str:
    """Return the document's text without the paragraphs that are withheld; empty if its title is.

    Paragraphs that were not indexed yet are checked here, so that none is public before it is withheld.
    """
    flags: dict[bool, list[str]] = {True: [], False: []}
    for flag in document.flagged_texts.all():
        flags[flag.state == FlaggedText.State.CLEARED].append(flag.text)
    if _is_hidden(document.title, flags):
        return ""
    blocks = document.text.replace("\r\n", "\n").split("\n\n")
    return "\n\n".join(block for block in blocks if not _is_hidden(block, flags))


def has_withheld(document: Document) -> bool:
    """Return whether anything of the document is withheld."""
    return public_text(document) != document.text.replace("\r\n", "\n")


def _is_hidden(block: str, flags: Mapping[bool, Sequence[str]]) -> bool:
    """Return whether a paragraph has a flag, or is part of a flagged passage, that staff did not clear."""
    line = _on_one_line(block)
    cleared, withheld = (
        any(_on_one_line(text) in line or line in map(_on_one_line, text.split("\n\n")) for text in flags[state])
        for state in (True, False)
    )
    return withheld or (bool(flag_document(block)) and not cleared)


def withhold_passages(document: Document) -> None:
    """Bring the passages of a document in line with what staff decided; the caller records the change."""
    cleared = list(cleared_hashes(document))
    flagged = _flagged(document)
    flagged.filter(is_withheld=True, flags__contained_by=cleared).update(is_withheld=False)
    flagged.filter(is_withheld=False).exclude(flags__contained_by=cleared).update(is_withheld=True)


def _flagged(document: Document) -> QuerySet[Passage]:
    return Passage.objects.filter(document=document).exclude(flags=[])

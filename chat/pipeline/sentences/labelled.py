"""Values under a label that a question asks for: “LP: 6” where it asks how many credits; English and German; pure.

A module's record in a handbook has no sentences that a question is close to. Which of its rows answers is told by the
label, once the question names the record: by its heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chat.pipeline.retrieval.candidates import BETWEEN, Candidate
from chat.pipeline.sentences.quotable import Quotable
from core.terms import content_words
from knowledge.courses.labels import find_label

#: What a question asks for, by the labels' field, or their kind if they have no field.
ASKED = {
    key: re.compile(pattern, re.IGNORECASE)
    for key, pattern in {
        "ects": r"\b(?:credits?|credit points?|ects|cp|lp|leistungspunkte?n?|kreditpunkte?n?|anrechnungspunkte?n?)\b",
        "year": r"\b(?:which|what) (?:semester|term|year)\b|\bwelche[mns]? (?:\w*semester|studienjahr)\b",
        "turn": r"\b(?:which|what) (?:semester|term)\b|\bwelche[mns]? \w*semester\b|\bhow often\b|\bwie oft\b"
        r"|\bwhen .*\b(?:offered|taught|take place)\b|\bwann .*\b(?:angeboten|statt)\b|\bturnus\b",
        "prerequisites": r"\bprerequisites?\b|\brequirements?\b|voraussetzung|\bvorkenntnisse?n?\b",
        "assessment": r"\bexam(?:s|ination|inations|ined)?\b|\bassess|\bgrad(?:ed|ing)\b|prüfung|klausur|\bgeprüft\b|\bbenote"
        r"|\b(?:grade|mark)\b.*\b(?:composed|consists?|made up|determined|calculated)\b"
        r"|\bnote\b.*\b(?:setzt|zusammen|besteht|ergibt|gebildet|berechnet)",
        "people": r"\bwho\b.*\b(?:responsible|teach(?:es)?|lectur|coordinat|in charge)|\blecturers?\b|\bdozent"
        r"|\bwer\b.*\b(?:verantwort|hält|lehrt|unterrichtet|leitet|zuständig)|verantwortlich|\bmodulbeauftragte",
        "duration": r"\bhow long\b|\bwie lange?\b|\bduration\b",
        "language": r"\b(?:which|what) language|\btaught in (?:english|german)\b|\bwelche[rn]? \w*sprache\b"
        r"|\bauf (?:englisch|deutsch)\b",
        "contents": r"\bworum geht\b|\bwas (?:lern|behandelt)|\binhalte?n?\b|\bwhat is\b.*\babout\b|\bcontents?\b|\btopics?\b"
        r"|\bwhat (?:do|will|would) (?:i|we|you) learn\b",
        "weight": r"\b(?:overall|final) (?:grade|mark)|\bgpa\b|\bgesamt(?:note|durch)|\babschlussnote|\bnotendurchschnitt",
        "workload": r"\bworkload\b|\bhow many hours\b|\barbeitsaufwand\b|\bwie ?viele stunden\b",
    }.items()
}
#: What parts the labelled values of a row.
PARTS = re.compile(r";\s+")
#: A label that only refers to one: “Prüfungsleistungen (siehe Teil 8)”.
REFERS = re.compile(r"\((?:siehe|s\.|vgl\.|see|cf\.)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AskedLabels:
    """`keys` of ASKED that a question asks for, and the words by which it may name a section."""

    keys: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def are_answered_by(self, candidate: Candidate, quote: Quotable) -> bool:
        """Return whether a quote has a value under one of the labels, in a section that the question names."""
        return self.are_said(quote) and self.name(candidate)

    def are_said(self, quote: Quotable) -> bool:
        """Return whether a quote has a value under one of the labels."""
        return bool(self.keys) and not self.keys.isdisjoint(_labels(quote.shown))

    def name(self, candidate: Candidate) -> bool:
        """Return whether the question has all words of a passage's innermost heading, but for codes."""
        words = content_words(candidate.label.rsplit(BETWEEN, 1)[-1])
        words = {word for word in words if not any(letter.isdigit() for letter in word)}
        return bool(words) and words <= self.words


def read_labels(question: str, *, within: str = "") -> AskedLabels:
    """Return the labels that a question asks for; the sections may be named in the whole that it is a part of."""
    keys = frozenset(key for key, pattern in ASKED.items() if pattern.search(question))
    return AskedLabels(keys, frozenset(content_words(within or question)))


def _labels(text: str) -> Iterator[str]:
    for part in PARTS.split(text):
        words, colon, value = part.partition(":")
        label = find_label(words) if colon and value.strip() and not REFERS.search(words) else None
        # Course work is no examination: its label says more than the field.
        if label and not (label.field == "assessment" and label.kind == "said"):
            yield label.field
            yield label.kind

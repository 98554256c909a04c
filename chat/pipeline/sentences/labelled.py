"""Values under a label that a question asks for: “LP: 6” where it asks how many credits; English and German; pure.

A module's record in a handbook has no sentences that a question is close to. Which of its rows answers is told by the
label, once the question names the record: by its heading.
"""

import re
from collections.abc import Iterator, Set

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
        "language": r"\b(?:which|what) language|\btaught in (?:english|german)\b|\bwelche[rn]? \w*sprache\b"
        r"|\bauf (?:englisch|deutsch)\b",
        "workload": r"\bworkload\b|\bhow many hours\b|\barbeitsaufwand\b|\bwie ?viele stunden\b",
    }.items()
}
#: What parts the labelled values of a row.
PARTS = re.compile(r";\s+")


def asked_labels(question: str) -> frozenset[str]:
    """Return the labels whose values a question asks for, as keys of ASKED."""
    return frozenset(key for key, pattern in ASKED.items() if pattern.search(question))


def says(quote: Quotable, wanted: Set[str]) -> bool:
    """Return whether a quote is, or has among its parts, a value under one of the wanted labels."""
    return bool(wanted) and not wanted.isdisjoint(_labels(quote.text))


def is_named(candidate: Candidate, asked: Set[str]) -> bool:
    """Return whether a question of these `content_words` has all words of a passage's innermost heading, but for codes."""
    heading = candidate.label.rsplit(BETWEEN, 1)[-1]
    words = {word for word in content_words(heading) if not any(letter.isdigit() for letter in word)}
    return bool(words) and words <= asked


def _labels(text: str) -> Iterator[str]:
    for part in PARTS.split(text):
        words, colon, _value = part.partition(":")
        if colon and (label := find_label(words)):
            yield label.field
            yield label.kind

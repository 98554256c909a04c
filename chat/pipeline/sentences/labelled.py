"""Values under a label that a question asks for: “LP: 6” where it asks how many credits; English and German; pure.

A module's record in a handbook has no sentences that a question is close to. The question names the record by its
heading. Then the label tells which row answers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chat.pipeline.retrieval.candidates import BETWEEN, Candidate
from chat.pipeline.sentences.quotable import Quotable
from core.terms import content_words, distinct_words
from knowledge.courses.labels import find_label

#: Words between two of a pattern.
_SOME = r"\b[^?\n]{0,200}?"
#: What a question asks for, by the labels' field, or their kind if they have no field.
ASKED = {
    key: re.compile("|".join(patterns), re.IGNORECASE)
    for key, patterns in {
        # "I have 80 ECTS" tells how many there are.
        "ects": (
            r"(?<!\d)(?<!\d\s)\b(?:credits?|credit points?|ects|cp|lp|(?:leistungs|kredit|anrechnungs)punkten?)\b",
        ),
        "year": (r"\b(?:which|what) (?:semester|term|year)\b", r"\bwelche[mns]? (?:\w*semester|studienjahr)\b"),
        "turn": (
            r"\b(?:which|what) (?:semester|term)\b|\bwelche[mns]? \w*semester\b|\bhow often\b|\bwie oft\b|\bturnus\b",
            rf"\bwhen{_SOME}\b(?:offered|taught|take place)\b",
            rf"\b(?:offered|taught|held){_SOME}\b(?:summer|winter|spring|fall)\b",
            rf"\b(?:wann|(?:sommer|winter)(?:semester)?){_SOME}\b(?:angeboten|statt)\b",
        ),
        "prerequisites": (
            r"\bprerequisites?\b|\brequirements?\b|voraussetzung|\bvorkenntniss?e?n?\b",
            rf"\bbefore{_SOME}\b(?:taken|passed|completed|attended)\b",
            rf"\b(?:take|pass|complete|attend|know|need){_SOME}\bbefore\b",
            rf"\bvor(?:her)?{_SOME}\b(?:gehört|belegt|bestanden|absolviert|besucht|abgeschlossen)\b",
        ),
        "assessment": (
            r"\bexam(?:s|inations?|ined)?\b|\bassess|\bgrad(?:ed|ing)\b|prüfung|klausur|\bgeprüft\b|\bbenote",
            rf"\b(?:grade|mark){_SOME}\b(?:composed|consists?|made up|determined|calculated)\b",
            rf"\bnote{_SOME}\b(?:setzt|zusammen|besteht|ergibt|gebildet|berechnet)",
        ),
        "people": (
            rf"\bwho{_SOME}\b(?:responsible|teach(?:es)?|lectur|coordinat|in charge)|\blecturers?\b|\bdozent",
            r"\b(?:whom?|where) (?:do|can|should) i (?:ask|contact)\b|\ban wen\b|\bansprechpartner",
            rf"\bwer{_SOME}\b(?:verantwort|hält|lehrt|unterrichtet|leitet|zuständig)|\bmodul(?:verantwortlich|beauftragte)",
        ),
        "duration": (r"\bhow long\b|\bwie lange?\b|\bduration\b",),
        "language": (
            r"\b(?:which|what) language|\btaught in (?:english|german)\b",
            r"\bwelche[rn]? \w*sprache\b|\bauf (?:englisch|deutsch)\b",
        ),
        "contents": (
            rf"\bwhat is{_SOME}\babout\b|\bcontents?\b|\btopics?\b|\bwhat (?:do|will|would) (?:i|we|you) learn\b",
            r"\bworum geht\b|\bwas (?:lern|behandelt)|\binhalten?\b",
        ),
        "weight": (
            r"\b(?:overall|final) (?:grade|mark)|\bgpa\b|\bgesamt(?:note|durch)|\babschlussnote|\bnotendurchschnitt",
        ),
        "workload": (r"\bworkload\b|\bhow many hours\b|\barbeitsaufwand\b|\bwie ?viele stunden\b",),
    }.items()
}
#: Letters of a word that may have an ending, at least, and of an ending, at most.
SHORTEST_STEM, ENDING = 4, 2
#: What tells “Marketing 2” and “Marketing II” from others.
NUMERAL = re.compile(r"\d+|[ivx]+")
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
        """Return whether the question has all words and numbers of a passage's innermost heading.

        Codes and short words need not be there.
        """
        heading = distinct_words(candidate.label.rsplit(BETWEEN, 1)[-1])
        told = [word for word in heading if NUMERAL.fullmatch(word) or (content_words(word) and word.isalpha())]
        return bool(told) and all(any(_are_one(word, said) for said in self.words) for word in told)


def read_labels(question: str, *, within: str = "") -> AskedLabels:
    """Return the labels that a question asks for; the sections may be named in the whole that it is a part of."""
    keys = frozenset(key for key, pattern in ASKED.items() if pattern.search(question))
    return AskedLabels(keys, frozenset(distinct_words(within or question)))


def _are_one(word: str, other: str) -> bool:
    """Return whether two words are the same but for an ending."""
    short, long = sorted((word, other), key=len)
    return word == other or (
        len(short) >= SHORTEST_STEM and long.startswith(short) and len(long) - len(short) <= ENDING
    )


def _labels(text: str) -> Iterator[str]:
    for part in PARTS.split(text):
        words, colon, value = part.partition(":")
        label = find_label(words) if colon and value.strip() and not REFERS.search(words) else None
        # Course work is no examination: its label says more than the field.
        if label and not (label.field == "assessment" and label.kind == "said"):
            yield label.field
            yield label.kind

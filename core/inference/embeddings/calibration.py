"""Calibration of a model's cosines, measured on a few texts in English and German."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np


@dataclass(frozen=True, slots=True)
class Band:
    """Mean cosines of one model: `unrelated` of texts about different things, `same` of those that belong together."""

    unrelated: float
    same: float

    def to(self, other: "Band", cosine: float) -> float:
        """Convert a cosine to the other band, 0 to 1: straight lines through both means, up to 1 for equal texts."""
        if cosine < self.same:
            slope = (other.same - other.unrelated) / (self.same - self.unrelated)
        else:
            slope = (1 - other.same) / (1 - self.same)
        return min(1.0, max(0.0, other.same + (cosine - self.same) * slope))


@dataclass(frozen=True, slots=True)
class Scale:
    """Bands of a model: cosines between questions lie elsewhere than those between a question and a passage."""

    questions: Band
    passages: Band

    def of_question(self, cosine: float) -> float:
        """Return the similarity of two questions, 0 to 1, whatever the model."""
        return self.questions.to(COMMON.questions, cosine)

    def of_passage(self, cosine: float) -> float:
        """Return the similarity of a question and a passage, 0 to 1, whatever the model."""
        return self.passages.to(COMMON.passages, cosine)


#: Measured by `calibration.measured_scale` for all-MiniLM-L6-v2.
COMMON = Scale(questions=Band(0.10, 0.62), passages=Band(0.09, 0.55))


if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]


#: Questions, the same asked otherwise, and what answers them; each about something else.
ENGLISH = (
    ("How much is the semester fee?", "What do I have to pay each term?", "The semester contribution is 318 euros."),
    ("When does the library close?", "Until what time is the library open?", "The library is open until midnight."),
    ("How do I reset my password?", "I forgot my password, what can I do?", "A new password is set at the IT desk."),
    ("Where can I park my car?", "Is there a car park on campus?", "Students park in the garage on North Street."),
    ("How long is a bachelor's thesis?", "How many pages must my thesis have?", "The thesis has 30 to 40 pages."),
    ("Can I study abroad for a year?", "How do I spend two terms abroad?", "Exchanges last one or two semesters."),
    (
        "What if I am ill on the day of an exam?",
        "I am sick and miss my exam.",
        "Hand in a doctor's note within 3 days.",
    ),
    (
        "Is there a vegan menu in the canteen?",
        "Does the canteen cook vegan?",
        "The canteen has a vegan dish every day.",
    ),
    (
        "How do I rent a room in a hall?",
        "How can I get student housing?",
        "Rooms in halls are let by student services.",
    ),
    ("Who helps me with writing a CV?", "Where is my CV checked?", "The career service advises on applications."),
)
GERMAN = (
    (
        "Wie bewerbe ich mich für einen Master?",
        "Wie läuft die Masterbewerbung?",
        "Für den Master bewirbt man sich online.",
    ),
    (
        "Was kostet das Deutschlandticket?",
        "Wie teuer ist das Ticket für Bus und Bahn?",
        "Das Semesterticket kostet 208 Euro.",
    ),
    (
        "Wann ist die Sprechstunde der Dekanin?",
        "Wann kann ich die Dekanin sprechen?",
        "Die Dekanin berät dienstags ab 14 Uhr.",
    ),
    (
        "Wie lasse ich mich exmatrikulieren?",
        "Wie melde ich mich vom Studium ab?",
        "Der Antrag auf Exmatrikulation geht ans Amt.",
    ),
    ("Wer betreut Studierende mit Kind?", "Gibt es Kinderbetreuung?", "Die Kita nimmt Kinder von Studierenden auf."),
    ("Wie drucke ich auf dem Campus?", "Wo steht ein Drucker?", "Gedruckt wird mit der Karte an jedem Kopierer."),
    (
        "Welche Sportkurse gibt es?",
        "Was bietet der Hochschulsport?",
        "Der Hochschulsport bietet 80 Kurse, von Yoga bis Rudern.",
    ),
    (
        "Wie bekomme ich ein Stipendium?",
        "Wer fördert mein Studium mit Geld?",
        "Stipendien vergeben Stiftungen nach Leistung.",
    ),
    ("Wann beginnt die Vorlesungszeit?", "Ab wann sind Vorlesungen?", "Die Vorlesungen beginnen am 12. Oktober."),
    (
        "Wie richte ich das WLAN ein?",
        "Wie komme ich ins Internet der Uni?",
        "Das WLAN eduroam wird mit der Kennung eingerichtet.",
    ),
)
#: All of them.
TEXTS = [text for examples in (ENGLISH, GERMAN) for example in examples for text in example]
#: The least distance of the two means: a model below it cannot distinguish texts.
LEAST_WIDTH = 0.02
NEARLY = 0.6


def measured_scale(embed_questions: "Embed", embed: "Embed") -> Scale:
    """Measure the scale over the languages that the model knows.

    These are the languages whose texts it separates nearly as well as those of the other.
    """
    scales = []
    for examples in (ENGLISH, GERMAN):
        asked, again, answers = zip(*examples, strict=True)
        questions = embed_questions([*asked, *again])
        first, second = np.split(questions, 2)
        scales.append(Scale(_band(first @ second.T), _band(first @ embed(answers).T)))
    widths = [scale.passages.same - scale.passages.unrelated for scale in scales]
    known = [scale for scale, width in zip(scales, widths, strict=True) if width >= NEARLY * max(widths)]
    return Scale(_mean([scale.questions for scale in known]), _mean([scale.passages for scale in known]))


def _mean(bands: Sequence[Band]) -> Band:
    return Band(fmean(band.unrelated for band in bands), fmean(band.same for band in bands))


def _band(cosines: "NDArray[np.float32]") -> Band:
    """Measure the band of a square matrix whose diagonal holds the pairs that belong together."""
    others = ~np.eye(len(cosines), dtype=bool)
    same = min(0.99, float(np.diag(cosines).mean()))
    return Band(unrelated=min(same - LEAST_WIDTH, float(cosines[others].mean())), same=same)

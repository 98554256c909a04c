"""Judges how a question was answered, without a model, and sums up the outcomes of a trial; pure."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean, median
from typing import Any

from analytics.model_trials.questions import KnownQuestion
from chat.pipeline.guardrails.figures import figures, keys
from chat.prompt_template import LAYOUTS, Layout
from core.language import detect_language
from core.terms import content_words

#: Least share of the expected figures; where none is expected, of the expected words. Chosen by hand on the demo.
FIGURES_SHARE, WORDS_SHARE = 0.5, 0.3
#: Ways to answer beside the layouts: quoting without a model, and the prompt version that staff wrote.
QUOTES, OWN = "quotes", "own"
FINALISTS = 2


def code(layout: Layout) -> str:
    """Return the name of a layout in stored outcomes."""
    refusal = "refuse" if layout.may_refuse else "write"
    return f"{refusal}/{'question' if layout.is_question_first else 'sources'}/{layout.most_sources}"


LAYOUT_BY_CODE: Mapping[str, Layout] = {code(layout): layout for layout in LAYOUTS}


class Verdict(StrEnum):
    """Judgement of a reply. BESIDE cites another document or lacks the fact. SILENT rightly gives no answer."""

    RIGHT = "right"
    BESIDE = "beside"
    DECLINED = "declined"
    WRONG = "wrong"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, answered in one way. `first_seconds` is the time to the first sentence that is shown.

    `is_held_back`: the page was quoted in place of a sentence that the model wrote. `failure` is the model's error.
    """

    way: str
    question: str
    verdict: Verdict
    first_seconds: float | None
    seconds: float
    tokens: int
    is_held_back: bool
    failure: str = ""

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Outcome":
        return cls(**{**stored, "verdict": Verdict(stored["verdict"])})


def judge(question: KnownQuestion, *, text: str, documents: AbstractSet[int], is_answered: bool) -> Verdict:
    """Judge what a student would see: `text`, which cites `documents`."""
    if not question.is_answerable:
        return Verdict.WRONG if is_answered else Verdict.SILENT
    if not is_answered:
        return Verdict.DECLINED
    is_right = bool(documents & question.documents) and holds(text, question.expected, language=question.language)
    return Verdict.RIGHT if is_right else Verdict.BESIDE


def holds(text: str, expected: str, *, language: str) -> bool:
    """Return whether a text holds the expected figures, or if there are none, a share of the expected words.

    Words are not compared across languages: without a figure, a text in another one holds whatever is expected.
    """
    if wanted := figures(expected):
        said = keys(text)
        found = sum(any(reading <= said for reading in figure.readings) for figure in wanted)
        return found >= FIGURES_SHARE * len(wanted)
    words = content_words(expected)
    if not words or detect_language(text) not in (None, language):
        return True
    return len(words & content_words(text)) >= WORDS_SHARE * len(words)


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of one way: `right` and `declined` of `answerable` questions, `wrong` of `withheld` ones.

    `held_back` is the share of answers with a quote in place of a sentence; seconds are medians, tokens a mean.
    """

    way: str
    answerable: int
    withheld: int
    right: int
    declined: int
    wrong: int
    held_back: float
    first_seconds: float | None
    seconds: float
    tokens: float

    @property
    def asked(self) -> int:
        return self.answerable + self.withheld

    @property
    def standing(self) -> int:
        """Count right less wrong answers: the best way has the most."""
        return self.right - self.wrong


def tally(way: str, outcomes: Iterable[Outcome]) -> Tally | None:
    """Sum up one way's outcomes; None if it answered nothing yet."""
    own = [outcome for outcome in outcomes if outcome.way == way]
    if not own:
        return None
    verdicts = [outcome.verdict for outcome in own]
    firsts = [outcome.first_seconds for outcome in own if outcome.first_seconds is not None]
    withheld = verdicts.count(Verdict.WRONG) + verdicts.count(Verdict.SILENT)
    return Tally(
        way=way,
        answerable=len(own) - withheld,
        withheld=withheld,
        right=verdicts.count(Verdict.RIGHT),
        declined=verdicts.count(Verdict.DECLINED),
        wrong=verdicts.count(Verdict.WRONG),
        held_back=mean(outcome.is_held_back for outcome in own),
        first_seconds=median(firsts) if firsts else None,
        seconds=median(outcome.seconds for outcome in own),
        tokens=mean(outcome.tokens for outcome in own),
    )


def best_layouts(outcomes: Sequence[Outcome], *, among: Iterable[str], count: int) -> list[str]:
    """Return the codes of the best layouts: by right minus wrong, then by seconds."""
    found = [each for each in (tally(way, outcomes) for way in among) if each]
    return [each.way for each in sorted(found, key=lambda each: (-each.standing, each.seconds))[:count]]

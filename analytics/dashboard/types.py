"""Values of the dashboard: sums, parts, steps and lists, each with how many people are behind it; pure."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Outcomes of the language model's sentences, in the order of `Written`.
SENTENCES = ("sentences_shown", "sentences_quoted", "sentences_left_out", "held_back_rightly", "held_back_wrongly")
#: What became of conversations (`counts.outcomes`), the good ones first.
OUTCOMES = ("confirmed", "silent", "rephrased", "disliked", "unanswered", "handed_over", "abandoned")
#: Answers from which students went to a contact, by what they used.
CONTACTS = ("contact_email", "contact_phone", "contact_page")
#: So many conversations must have been rated before those that were not are judged after them.
LEAST_RATED = 10
#: Figures that are added up as they are.
NUMBERS = (
    *("visitors", "newcomers", "conversations", "messages"),
    *("questions", "answered", "abstained", "failed", "stopped", "asked_back"),
    *("thumbs_up", "thumbs_down", "ratings", "stars", "prompt_tokens", "answer_tokens"),
    *SENTENCES,
    *OUTCOMES,
    *CONTACTS,
)


@dataclass(frozen=True, slots=True)
class People:
    """Bounds of how many different people are behind some rows of counts (`models.counts.Counted`).

    The same person may ask on two days, in two languages or on two sites: visitors of several rows cannot be added
    up. Newcomers can, and the visitors of the busiest row on one day are different people too.
    """

    newcomers: int = 0
    busiest: int = 0

    @property
    def at_least(self) -> int:
        return max(self.newcomers, self.busiest)

    def __add__(self, other: "People") -> "People":
        """Add the people of other rows."""
        return People(self.newcomers + other.newcomers, max(self.busiest, other.busiest))


@dataclass(frozen=True, slots=True)
class Written:
    """Sentences of the language model by what became of them, and what staff found of those held back."""

    shown: int = 0
    quoted: int = 0
    left_out: int = 0
    rightly: int = 0
    wrongly: int = 0

    @property
    def sentences(self) -> int:
        return self.shown + self.quoted + self.left_out

    @property
    def held_back_share(self) -> float | None:
        """Return the share that was not shown as written, from 0 to 1."""
        return 1 - self.shown / self.sentences if self.sentences else None

    @property
    def judged(self) -> int:
        return self.rightly + self.wrongly

    @property
    def rightly_share(self) -> float | None:
        """Return the share of the judged sentences that were rightly held back, from 0 to 1."""
        return self.rightly / self.judged if self.judged else None

    def __add__(self, other: "Written") -> "Written":
        """Add the sentences of other rows."""
        return Written(
            self.shown + other.shown,
            self.quoted + other.quoted,
            self.left_out + other.left_out,
            self.rightly + other.rightly,
            self.wrongly + other.wrongly,
        )


#: The people behind what each wider view holds besides (`visibility.wider`).
Complement = Mapping[int, People]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over some days; visitors are counted once a day. `busiest` is no sum (`people`). Thumbs, stars with their
    ratings, outcomes of conversations, and contacts used are None if suppressed (`suppression`).

    `complement` are the sums of what each wider view holds besides (`visibility.wider`), for readers who may not see
    small groups.
    """

    visitors: int = 0
    newcomers: int = 0
    conversations: int = 0
    messages: int = 0
    questions: int = 0
    answered: int = 0
    abstained: int = 0
    failed: int = 0
    stopped: int = 0
    asked_back: int = 0
    thumbs_up: int | None = 0
    thumbs_down: int | None = 0
    ratings: int | None = 0
    stars: int | None = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    sentences_shown: int = 0
    sentences_quoted: int = 0
    sentences_left_out: int = 0
    held_back_rightly: int = 0
    held_back_wrongly: int = 0
    confirmed: int | None = 0
    silent: int | None = 0
    rephrased: int | None = 0
    disliked: int | None = 0
    unanswered: int | None = 0
    handed_over: int | None = 0
    abandoned: int | None = 0
    contact_email: int | None = 0
    contact_phone: int | None = 0
    contact_page: int | None = 0
    busiest: int = 0
    complement: Mapping[int, "Totals"] = field(default_factory=dict)

    @property
    def people(self) -> People:
        return People(self.newcomers, self.busiest)

    @property
    def is_empty(self) -> bool:
        return not self.messages and not self.conversations

    @property
    def rating(self) -> float | None:
        """Return the average of the stars, from 1 to 5."""
        return self.stars / self.ratings if self.stars and self.ratings else None

    @property
    def questions_a_conversation(self) -> float | None:
        return self.questions / self.conversations if self.conversations else None

    @property
    def abstained_share(self) -> float | None:
        """Return the share of the questions that came to an end, from 0 to 1."""
        ended = self.answered + self.abstained + self.failed + self.stopped + self.asked_back
        return self.abstained / ended if ended else None

    @property
    def written(self) -> Written:
        return Written(*(getattr(self, name) for name in SENTENCES))

    @property
    def sentences(self) -> int:
        """Return how many sentences the language model wrote."""
        return self.written.sentences

    @property
    def held_back_share(self) -> float | None:
        """Return the share of them that was not shown as written, from 0 to 1."""
        return self.written.held_back_share

    @property
    def rightly_share(self) -> float | None:
        """Return the share of the judged ones that were rightly held back, from 0 to 1."""
        return self.written.rightly_share

    @property
    def liked_share(self) -> float | None:
        """Return the share of the thumbs, from 0 to 1, or None if a count is suppressed: the share would reveal it."""
        if self.thumbs_up is None or self.thumbs_down is None:
            return None
        thumbs = self.thumbs_up + self.thumbs_down
        return self.thumbs_up / thumbs if thumbs else None

    @property
    def shows_contacts(self) -> bool:
        """Return whether students used contacts, or whether they did is suppressed."""
        return any(getattr(self, name) != 0 for name in CONTACTS)

    @property
    def outcomes(self) -> int:
        """Return of how many conversations it is known what became of them."""
        return sum(getattr(self, name) or 0 for name in OUTCOMES)

    @property
    def resolution_rate(self) -> float | None:
        """Return the share of the conversations that were resolved, from 0 to 1.

        Silence is no praise: of the answered conversations in which nobody said anything, the same share is taken to
        be resolved as of those that were rated. None where too few were.
        """
        rated = (self.confirmed or 0) + (self.disliked or 0)
        if not self.outcomes or (self.silent and rated < LEAST_RATED):
            return None
        good = self.confirmed or 0
        return (good + (self.silent or 0) * good / max(rated, 1)) / self.outcomes

    @property
    def resolved(self) -> float | None:
        """Return the number of conversations that this is."""
        return None if self.resolution_rate is None else self.resolution_rate * self.outcomes

    @property
    def resolved_bounds(self) -> tuple[float, float] | None:
        """Return the share that students called resolved, and the one that nothing speaks against."""
        if not self.outcomes:
            return None
        good, quiet = self.confirmed or 0, self.silent or 0
        return good / self.outcomes, (good + quiet) / self.outcomes

    def __add__(self, other: "Totals") -> "Totals":
        """Add the sums of other rows."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in NUMBERS}
        complement = {
            wider: self.complement.get(wider, Totals()) + other.complement.get(wider, Totals())
            for wider in {**self.complement, **other.complement}
        }
        return Totals(**sums, busiest=max(self.busiest, other.busiest), complement=complement)


@dataclass(frozen=True, slots=True)
class Part:
    """The share of one assistant, site or language in the period; `written` is what the language model wrote."""

    questions: int
    people: People
    written: Written = field(default_factory=Written)

    def __add__(self, other: "Part") -> "Part":
        """Add the part of other rows."""
        return Part(self.questions + other.questions, self.people + other.people, self.written + other.written)


@dataclass(frozen=True, slots=True)
class Spread:
    """Counts by hour of the day, by reason of a bad rating, and the median and 95th percentile of times in ms.

    `parts` are by assistant, site and language, and by its id or code; nobody's has the key "". A count is None if
    suppressed. `cells` are all that could be chosen: assistants, sites, languages.
    """

    hours: Sequence[int | None]
    newcomers_by_hour: Sequence[int]
    reasons: Mapping[str, int | None]
    newcomers_by_reason: Mapping[str, int]
    first_token: tuple[float | None, float | None]
    total: tuple[float | None, float | None]
    parts: Mapping[str, Mapping[str, Part]]
    cells: Mapping[tuple[str, str, str], People]
    complement_by_hour: Sequence[Complement]
    complement_by_reason: Mapping[str, Complement]


@dataclass(frozen=True, slots=True)
class Point:
    """A day, week or month; `is_whole` where the period holds all of it. `totals` are None if suppressed."""

    start: datetime.date
    is_whole: bool
    totals: Totals | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """An FAQ, a document or a topic with how many answers it was behind, and how many before.

    None stands for a suppressed count. `further_complement` are the sums beside the view, by name and wider view.
    """

    pk: int
    name: str
    answers: int
    before: int | None
    people: People
    people_before: People
    thumbs_up: int | None = 0
    thumbs_down: int | None = 0
    newcomers_up: int = 0
    newcomers_down: int = 0
    complement: Complement = field(default_factory=dict)
    complement_before: Complement = field(default_factory=dict)
    complement_up: Complement = field(default_factory=dict)
    complement_down: Complement = field(default_factory=dict)
    further: Mapping[str, int | None] = field(default_factory=dict)
    further_complement: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NeverCited:
    count: int
    documents: Sequence[tuple[int, str]]

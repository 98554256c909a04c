"""A made-up year of which everything is known: topics and outcomes of conversations, and whether answers are right.

Conversations come when `usage_data` has them, and go as the stories of `outcomes` do. Questions are those of `clinc150`
by intent, and in both languages those of `data/year_topics.json`. Each is asked in several ways: with a greeting, in
small letters, or with two letters swapped. Most answers are right, but for a fortnight of one assistant.
"""

import datetime
import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction

from benchmarks.environment import ROOT
from benchmarks.gaps import labelled
from benchmarks.outcomes import NEAREST, STORIES
from benchmarks.usage_data import BLOCK, University, _copy, _drawn, _Making
from chat.models import Case, Conversation, Feedback, Message
from core.hashing import fingerprint
from core.inference.embeddings import get_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Vectors, as it takes minutes to make them: delete it to make them anew.
KEPT = ROOT / "var" / "year"
BATCH = 128
TOPICS = Path(__file__).parent / "data" / "year_topics.json"
#: Ways to ask each question, so that a night has more than 10,000 distinct ones, and how often each language is asked.
WAYS = {"en": 6, "de": 30}
LANGUAGES = (("en", 70), ("de", 30))
GREETINGS = {
    "en": ("Hello, ", "Hi! ", "Quick question: ", "Excuse me, ", ""),
    "de": ("Hallo, ", "Guten Tag! ", "Kurze Frage: ", "Entschuldigung, ", ""),
}
#: The share of right answers, and that of the days of the planted drop: a fortnight from the 200th on.
RIGHT, RIGHT_IN_DROP = 0.9, 0.3
DROP_BEGINS, DROP_DAYS = 200, 14
QUESTION, CHIT_CHAT = Message.Route.QUESTION, Message.Route.CHIT_CHAT


@dataclass(frozen=True, slots=True)
class Matter:
    """A topic by its languages: what is asked about it, in several ways each."""

    name: str
    ways: Mapping[str, Sequence[Sequence[str]]]


@dataclass(slots=True)
class Truth:
    """What is known of the year: `wrong` are ids of answers, `topics` the matter of each question's text."""

    topics: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    outcomes: dict[uuid.UUID, str] = field(default_factory=dict)
    wrong: set[int] = field(default_factory=set)
    drop: tuple[datetime.date, datetime.date] | None = None


def read_matters(data: Path, chance: random.Random) -> list[Matter]:
    """Return the intents of `clinc150`, in English, and the topics in both languages."""
    by_intent: dict[str, list[str]] = {}
    for _name, texts, about in labelled(data)[:2]:
        for text, intent in zip(texts, about, strict=True):
            by_intent.setdefault(intent, []).append(text)
    found = [Matter(name, {"en": _said(texts, "en", chance)}) for name, texts in by_intent.items()]
    both = json.loads(TOPICS.read_text("utf-8"))
    for name, spoken in both.items():
        found.append(Matter(name, {code: _said(texts, code, chance) for code, texts in spoken.items()}))
    return found


def _said(texts: Sequence[str], language: str, chance: random.Random) -> list[list[str]]:
    return [list(dict.fromkeys(_ways(text, language, chance))) for text in dict.fromkeys(texts)]


def _ways(text: str, language: str, chance: random.Random) -> Iterator[str]:
    yield text
    for _way in range(WAYS[language] - 1):
        said = chance.choice(GREETINGS[language]) + (text.lower() if chance.random() < 0.5 else text)
        if chance.random() < 0.5:
            at = chance.randrange(1, len(said) - 2)
            said = said[:at] + said[at + 1] + said[at] + said[at + 2 :]
        yield said


def embed(matters: Sequence[Matter]) -> dict[str, "NDArray[np.float32]"]:
    """Return the vector of each distinct question; those that were embedded before are read from `var/year`."""
    texts = list(dict.fromkeys(way for each in matters for said in each.ways.values() for ways in said for way in ways))
    embedder = get_embedder()
    file = KEPT / f"{fingerprint(embedder.recipe, *texts)[:16]}.npy"
    if not file.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        parts = [embedder.embed_questions(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        np.save(file, np.concatenate(parts))
    return dict(zip(texts, np.load(file), strict=True))


@transaction.atomic
def add_year(
    at: University,
    matters: Sequence[Matter],
    vectors: Mapping[str, "NDArray[np.float32]"],
    *,
    messages: int,
    first: datetime.date,
    last: datetime.date,
) -> Truth:
    making = _MakingYear(at, matters, vectors, first, last)
    while making.made < messages:
        making.fill(min(BLOCK, messages - making.made))
        making.copy()
    making.advance_sequences()
    return making.truth


class _MakingYear(_Making):
    """Conversations by the stories of outcomes, about matters."""

    def __init__(
        self,
        at: University,
        matters: Sequence[Matter],
        vectors: Mapping[str, "NDArray[np.float32]"],
        first: datetime.date,
        last: datetime.date,
    ) -> None:
        super().__init__(at, random.Random(1), first, last)
        self.next[Case] = 1
        self.rows[Case] = []
        self.matters = {code: [each for each in matters if code in each.ways] for code, _weight in LANGUAGES}
        self.nearest = {code: _nearest(each, code, vectors) for code, each in self.matters.items()}
        begins = first + datetime.timedelta(days=DROP_BEGINS)
        self.truth = Truth(drop=(begins, begins + datetime.timedelta(days=DROP_DAYS - 1)))
        for each in matters:
            for code, said in each.ways.items():
                for text in (way for ways in said for way in ways):
                    self.truth.topics[text], self.truth.languages[text] = each.name, code

    def _converse(self, moment: datetime.datetime) -> None:
        chance = self.chance
        assistant = chance.choices(self.at.assistants, range(len(self.at.assistants), 0, -1))[0]
        conversation = uuid.UUID(int=chance.getrandbits(128), version=4)
        language = _drawn(chance, LANGUAGES)
        ((outcome, events),) = chance.choices(
            [(outcome, events) for outcome, events, _weight in STORIES], [weight for *_story, weight in STORIES]
        )
        self.truth.outcomes[conversation] = outcome
        row = {
            "id": conversation,
            "visitor_id": self._visitor(moment),
            "assistant_id": assistant.pk,
            "site_id": chance.choice(self.at.sites[assistant.pk]).pk,
            "stars": None,
            "created_at": moment,
            "updated_at": moment + datetime.timedelta(minutes=2 * len(events)),
        }
        self.rows[Conversation].append(row)
        matter, said, text, answer = chance.randrange(len(self.matters[language])), [""], "", 0
        for number, event in enumerate(events):
            now = moment + datetime.timedelta(minutes=2 * number)
            match event.split():
                case ["ask" | "again" | "same" | "other" as what, status]:
                    if what == "other":
                        matter = self._another(matter, language)
                    if what != "same":
                        ways = self.matters[language][matter].ways[language]
                        said = chance.choice([each for each in ways if each is not said] or ways)
                        text = chance.choice(said)
                    answer = self._say(conversation, assistant, language, text, status, now)
                case ["thanks"]:
                    thanks = "Danke!" if language == "de" else "Thank you!"
                    self._say(conversation, assistant, language, thanks, "complete", now, CHIT_CHAT)
                case ["up" | "down" as thumb]:
                    value = {"message_id": answer, "value": 1 if thumb == "up" else -1, "reasons": []}
                    self.rows[Feedback].append({"id": self._id(Feedback), "updated_at": now} | value)
                case ["leave"]:
                    self._leave(conversation, assistant, language, text, answer, now)
                case [stars, _word]:
                    row["stars"] = {"five": 5, "one": 1}[stars]

    def _another(self, matter: int, language: str) -> int:
        if self.chance.random() < NEAREST:
            return self.nearest[language][matter]
        return (matter + self.chance.randrange(1, len(self.matters[language]))) % len(self.matters[language])

    def _say(
        self,
        conversation: uuid.UUID,
        assistant: Any,
        language: str,
        text: str,
        status: str,
        moment: datetime.datetime,
        route: str = QUESTION,
    ) -> int:
        chance = self.chance
        question, answer = self._id(Message), self._id(Message)
        first_token = chance.lognormvariate(6.6, 0.5)
        said = {"conversation_id": conversation, "language": language, "created_at": moment, "finished_at": moment}
        said["route"] = route
        asked = {"id": question, "role": "user", "text": text, "client_id": uuid.uuid4()}
        answered = {
            "id": answer,
            "role": "assistant",
            "question_id": question,
            "text": "You do it like this.",
            "status": status,
            "reason": "no_evidence" if status == "abstained" else "",
            "prompt_tokens": chance.randrange(900, 2_400),
            "answer_tokens": chance.randrange(40, 300),
            "timings_ms": {"first_token": first_token, "total": first_token * chance.uniform(2, 6)},
        }
        self.rows[Message] += [said | asked, said | answered]
        self.made += 2
        if status == "complete" and route == QUESTION:
            self._cite(answer)
        if chance.random() >= self._right_share(assistant, moment.date()):
            self.truth.wrong.add(answer)
        return answer

    def _right_share(self, assistant: Any, day: datetime.date) -> float:
        begins, ends = self.truth.drop or (day, day)
        is_dropped = assistant.pk == self.at.assistants[0].pk and begins <= day <= ends
        return RIGHT_IN_DROP if is_dropped else RIGHT

    def _leave(
        self, conversation: uuid.UUID, assistant: Any, language: str, text: str, answer: int, moment: datetime.datetime
    ) -> None:
        row = {"id": self._id(Case), "conversation_id": conversation, "assistant_id": assistant.pk, "about_id": answer}
        row |= {"question": text, "language": language, "reason": "person", "client_id": uuid.uuid4()}
        self.rows[Case].append(row | {"opened_at": moment, "state_at": moment})

    def copy(self) -> None:
        cases = self.rows.pop(Case)
        super().copy()
        _copy(Case, cases)
        self.rows[Case] = []


def _nearest(matters: Sequence[Matter], language: str, vectors: Mapping[str, "NDArray[np.float32]"]) -> list[int]:
    """Return the matter that is nearest to each one, by the middles of what is asked about them."""
    middles = np.stack(
        [np.mean([vectors[way] for ways in each.ways[language] for way in ways], axis=0) for each in matters]
    )
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    similarity = middles @ middles.T
    np.fill_diagonal(similarity, -1)
    return [int(each) for each in similarity.argmax(axis=1)]

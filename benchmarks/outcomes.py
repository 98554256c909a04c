"""Measures what is found to have become of conversations: a confusion matrix, on made-up traffic with known outcomes.

Each conversation is one of `STORIES`, drawn as often as such conversations are, with questions of `clinc150`: asked
again is another question of the intent, another matter is one of another intent. Half of the time that is the nearest
intent, which is the hardest to tell from the same.
"""

import random
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analytics.counts.outcomes import OUTCOMES, with_outcome
from analytics.counts.rephrasing import SAME
from analytics.models import Rephrasing
from analytics.shadow.questions import embed_asked
from benchmarks.gaps import labelled
from benchmarks.measuring import say, table
from chat.models import Assistant, Case, Conversation, Feedback, Message, Visitor
from core.inference.embeddings import get_embedder

CONVERSATIONS, QUICK = 2_000, 500
NEAREST = 0.5
NONE = ""
#: Outcome, what happens one after the other, and of how many of a hundred conversations. A question is "ask", "again"
#: (the one before in other words), "same" (in the same words) or "other" (another matter), with its answer's status.
STORIES: Sequence[tuple[str, Sequence[str], float]] = (
    ("silent", ("ask complete",), 24),
    ("silent", ("ask complete", "other complete"), 14),
    ("silent", ("ask complete", "other complete", "other complete"), 8),
    ("silent", ("ask complete", "thanks"), 4),
    ("silent", ("ask failed", "same complete"), 1),
    ("silent", ("ask clarifying", "again complete"), 2),
    ("confirmed", ("ask complete", "up"), 6),
    ("confirmed", ("ask complete", "other complete", "up"), 3),
    ("confirmed", ("ask complete", "five stars"), 2),
    ("disliked", ("ask complete", "down"), 3),
    ("disliked", ("ask complete", "up", "other complete", "down"), 1),
    ("disliked", ("ask complete", "down", "again complete"), 1),
    ("disliked", ("ask complete", "one star"), 1),
    ("rephrased", ("ask complete", "again complete"), 5),
    ("rephrased", ("ask abstained", "again complete"), 3),
    ("rephrased", ("ask complete", "other complete", "again complete"), 2),
    ("unanswered", ("ask abstained",), 4),
    ("unanswered", ("ask complete", "other abstained"), 3),
    ("unanswered", ("ask abstained", "other complete"), 2),
    ("unanswered", ("ask abstained", "again abstained"), 2),
    ("unanswered", ("ask failed",), 1),
    ("handed_over", ("ask abstained", "leave"), 2),
    ("handed_over", ("ask complete", "again complete", "leave"), 1),
    ("handed_over", ("ask complete", "down", "leave"), 1),
    ("abandoned", ("ask stopped",), 1),
    ("abandoned", ("ask complete", "other stopped"), 1),
    ("abandoned", ("ask clarifying",), 1),
    (NONE, ("thanks",), 1),
)


def measure(data: Path | None, *, quick: bool) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds clinc150 and stackfaq-dev.")
        return {}
    _name, texts, about = labelled(data)[1]
    making = _Making(random.Random(0), texts, about)
    began = time.process_time()
    truth = {making.converse(events): made for made, events in _drawn(making.chance, QUICK if quick else CONVERSATIONS)}
    made_in = time.process_time() - began
    embed_asked(get_embedder(), most=10 * len(truth))
    began = time.perf_counter()
    found = dict(with_outcome(Conversation.objects.all()).values_list("pk", "outcome"))
    seconds = time.perf_counter() - began
    matrix = Counter((made, found[pk]) for pk, made in truth.items())
    names = (*OUTCOMES, NONE)
    rows = [(made or "none", *(matrix[made, other] for other in names), _recall(matrix, made)) for made in names]
    rows.append(("precision", *(_precision(matrix, other) for other in names), ""))
    table(("made / found", *(name or "none" for name in names), "recall"), rows)
    right = sum(count for (made, other), count in matrix.items() if made == other) / len(truth)
    say(f"\n{right:.3f} of {len(truth)} conversations, {Rephrasing.objects.count()} rephrasings from {SAME} on.")
    say(f"Made in {made_in:.0f} s of CPU, told in {seconds:.2f} s.")
    return {
        "matrix": {f"{made} / {other}": count for (made, other), count in sorted(matrix.items())},
        "right": round(right, 3),
        "resolution": _resolution(truth, found),
    }


def _drawn(chance: random.Random, number: int) -> list[tuple[str, Sequence[str]]]:
    drawn = chance.choices(STORIES, [weight for _made, _events, weight in STORIES], k=number)
    return [(made, events) for made, events, _weight in drawn]


def _recall(matrix: Counter[tuple[str, str]], made: str) -> str:
    every = sum(count for (each, _found), count in matrix.items() if each == made)
    return f"{matrix[made, made] / every:.3f}" if every else ""


def _precision(matrix: Counter[tuple[str, str]], found: str) -> str:
    every = sum(count for (_made, each), count in matrix.items() if each == found)
    return f"{matrix[found, found] / every:.3f}" if every else ""


def _resolution(truth: dict[uuid.UUID, str], found: dict[uuid.UUID, str]) -> dict[str, float]:
    """Return the resolution rate by what was made, and by what was found."""
    rates = {}
    for name, outcomes in (("made", Counter(truth.values())), ("found", Counter(found.values()))):
        good, bad, silent = (outcomes[each] for each in ("confirmed", "disliked", "silent"))
        every = sum(outcomes[each] for each in OUTCOMES)
        rates[name] = round((good + silent * good / (good + bad)) / every, 3)
    say(f"Resolution rate: {rates['made']} by what was made, {rates['found']} by what was found.")
    return rates


class _Making:
    def __init__(self, chance: random.Random, texts: Sequence[str], about: Sequence[str]) -> None:
        self.chance = chance
        by_intent: dict[str, list[str]] = {}
        for text, intent in zip(texts, about, strict=True):
            by_intent.setdefault(intent, []).append(text)
        self.intents = [asked for asked in by_intent.values() if len(asked) > 1]
        self.nearest = self._nearest()
        self.assistant = Assistant.objects.create(slug="outcomes", name="Outcomes", institution="Outcomes")

    def _nearest(self) -> list[int]:
        """Return the intent that is nearest to each one, by the middles of their questions."""
        embedder = get_embedder()
        middles = np.stack([np.mean(embedder.embed_questions(asked), axis=0) for asked in self.intents])
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        similarity = middles @ middles.T
        np.fill_diagonal(similarity, -1)
        return [int(each) for each in similarity.argmax(axis=1)]

    def converse(self, events: Sequence[str]) -> uuid.UUID:
        said = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=self.assistant)
        intent, text, answer = self.chance.randrange(len(self.intents)), "", None
        for event in events:
            match event.split():
                case ["ask" | "again" | "same" | "other" as what, status]:
                    if what == "other":
                        intent = self._another(intent)
                    if what != "same":
                        text = self.chance.choice([each for each in self.intents[intent] if each != text])
                    answer = self._ask(said, text, status)
                case ["thanks"]:
                    self._ask(said, "Thank you!", "complete", route=Message.Route.CHIT_CHAT)
                case ["up" | "down" as thumb] if answer:
                    Feedback.objects.create(message=answer, value=1 if thumb == "up" else -1)
                case ["leave"]:
                    self._leave(said, answer, text)
                case [stars, _word]:
                    Conversation.objects.filter(pk=said.pk).update(stars={"five": 5, "one": 1}[stars])
        return said.pk

    def _another(self, intent: int) -> int:
        if self.chance.random() < NEAREST:
            return self.nearest[intent]
        return self.chance.choice([each for each in range(len(self.intents)) if each != intent])

    def _ask(self, said: Conversation, text: str, status: str, route: str = Message.Route.QUESTION) -> Message:
        common: dict[str, Any] = {"conversation": said, "language": "en", "route": route}
        asked = Message.objects.create(role="user", client_id=uuid.uuid4(), text=text, **common)
        return Message.objects.create(role="assistant", question=asked, status=status, **common)

    def _leave(self, said: Conversation, answer: Message | None, text: str) -> None:
        Case.objects.create(
            conversation=said,
            assistant=self.assistant,
            about=answer,
            question=text,
            language="en",
            reason="person",
            client_id=uuid.uuid4(),
        )

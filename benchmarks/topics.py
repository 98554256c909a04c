"""Measures topics of everything asked.

V-measure (Rosenberg and Hirschberg 2007) against the intents of `clinc150` and the FAQs of `stackfaq-dev`, of topics
that grew over ten nights and of one night, beside k-means told the true number, on the same vectors, and the share of
the questions in a topic that are in another one the next night. Then the CPU seconds of a night with 10,000 distinct
questions.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from analytics.gaps.clustering import Bridge, measured_bridge, to_cosine
from analytics.models import AskedVector, Topic, TopicQuestion
from analytics.topics.clustering import Clustered, cluster_topics
from analytics.topics.run import LEAST_QUESTIONS, SIMILARITY, update_topics
from benchmarks.gaps import labelled, measures
from benchmarks.measuring import say, table
from chat.models import Assistant, Conversation, Message, Visitor
from core.inference.embeddings import get_embedder

MANY, NEW = 10_000, 1_000
#: Which percentage of the questions is there after each night.
TEN_NIGHTS, SMALL_NIGHTS = range(10, 101, 10), range(90, 101)
TRIED = (0.42, 0.46, 0.5, 0.54, 0.58, 0.62)


def measure(data: Path | None) -> dict[str, Any]:
    if data is None:
        say("Name the folder with the data sets: --data FOLDER, which holds clinc150 and stackfaq-dev.")
        return {}
    embedder = get_embedder()
    bridge = measured_bridge(embedder.embed_questions)
    sets = labelled(data)
    began = time.process_time()
    vectors = {name: _units(embedder.embed_questions(texts)) for name, texts, _truth in sets}
    each = (time.process_time() - began) / sum(map(len, vectors.values()))
    rows = [row for name, _texts, truth in sets for row in compared(name, vectors[name], truth, bridge)]
    table(("set", "questions", "topics", "way", "found", "homogeneity", "completeness", "V", "CPU s"), rows)
    night = a_night(np.concatenate(list(vectors.values())), bridge)
    night["embedding of 10,000"] = round(each * MANY, 1)
    say()
    table(("10,000 distinct questions", "CPU s"), list(night.items()))
    say()
    return {"clusterings": rows, "night": night}


def _units(vectors: Any) -> Any:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def compared(name: str, vectors: Any, truth: Sequence[Any], bridge: Bridge) -> list[tuple[Any, ...]]:
    count = len(set(truth))
    moved = {"a tenth": nights(vectors, bridge, TEN_NIGHTS)[1], "a hundredth": nights(vectors, bridge, SMALL_NIGHTS)[1]}
    ways: dict[str, Callable[[], Any]] = {
        f"ten nights, {SIMILARITY}": lambda: nights(vectors, bridge, TEN_NIGHTS)[0],
        **{f"one night, {at}": lambda at=at: one(vectors, [None] * len(vectors), bridge, at).labels for at in TRIED},
        f"k-means, k = {count}": lambda: KMeans(count, n_init=10, random_state=0).fit_predict(vectors),
    }
    rows = []
    for way, cluster in ways.items():
        began = time.process_time()
        labels = cluster()
        seconds = round(time.process_time() - began, 1)
        rows.append((name, len(truth), count, way, len(set(labels)), *measures(truth, labels).values(), seconds))
    for new, shares in moved.items():
        say(f"{name}, {new} is new each night: of the questions in a topic left it, in %: {shares}")
    return rows


def one(vectors: Any, topics: Sequence[int | None], bridge: Bridge, similarity: float) -> Clustered:
    threshold = to_cosine(get_embedder().scale.questions, similarity)
    return cluster_topics(vectors, ["en"] * len(vectors), topics, threshold=threshold, bridge=bridge)


def nights(vectors: Any, bridge: Bridge, percentages: Sequence[int]) -> tuple[Any, list[float]]:
    """Return the clusters after the last night, and for each night but the first how many questions left their topic.

    Questions arrive in random order; the latter are percentages of the questions that were in a topic. What goes with
    its topic into another one does not leave it.
    """
    order = np.random.default_rng(0).permutation(len(vectors))
    topics: list[int | None] = [None] * len(vectors)
    free = iter(range(1, 10**9))
    labels, moved = np.arange(len(vectors)), []
    for percentage in percentages:
        rows = order[: len(order) * percentage // 100]
        found = one(vectors[rows], [topics[row] for row in rows], bridge, SIMILARITY)
        goes_on = dict(found.topics)
        for label, size in enumerate(np.bincount(found.labels).tolist()):
            if size >= LEAST_QUESTIONS and label not in goes_on:
                goes_on[label] = next(free)
        into = {topic: goes_on.get(label) for topic, label in found.joined.items()}
        before = {row: into.get(topic, topic) for row in rows.tolist() if (topic := topics[row]) is not None}
        labels[rows] = found.labels
        for row, label in zip(rows.tolist(), found.labels.tolist(), strict=True):
            topics[row] = goes_on.get(label)
        if before:
            moved.append(round(100 * sum(topics[row] != topic for row, topic in before.items()) / len(before), 1))
    return labels, moved


def a_night(vectors: Any, bridge: Bridge) -> dict[str, float]:
    """CPU seconds of a run with 10,000 distinct questions in the database, and of the next one with 1,000 more."""
    chance = np.random.default_rng(0)
    first, second, third = chance.integers(0, len(vectors), (3, MANY + NEW))
    made = _units(vectors[first] + 0.5 * (vectors[second] - vectors[third]))
    assistant = Assistant.objects.create(slug="bench", name="Bench", institution="Bench")
    place = Conversation.objects.create(pk=uuid.uuid4(), visitor=Visitor.objects.create(), assistant=assistant)
    found: dict[str, float] = {}
    for name, rows in (("first night", made[:MANY]), ("next night, 1,000 more", made[MANY:])):
        asked = Message.objects.bulk_create(
            Message(conversation=place, role="user", client_id=uuid.uuid4(), text="?", language=("en", "de")[at % 2])
            for at in range(len(rows))
        )
        Message.objects.bulk_create(
            Message(conversation=place, role="assistant", question=question) for question in asked
        )
        AskedVector.objects.bulk_create(
            AskedVector(message=question, recipe=get_embedder().recipe, of="bench", embedding=vector)
            for question, vector in zip(asked, rows, strict=True)
        )
        began = time.process_time()
        update_topics()
        found[name] = round(time.process_time() - began, 1)
    found["topics"] = Topic.objects.count()
    found["questions in a topic"] = TopicQuestion.objects.count()
    Conversation.objects.all().delete()
    return found

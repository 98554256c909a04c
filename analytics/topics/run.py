"""The nightly run: all questions are clustered again, topics go on, are named and counted again."""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.db import transaction
from django.db.models import Q, QuerySet

from analytics.gaps.clustering import Bridge, compute_centroid, measured_bridge, to_cosine
from analytics.gaps.labels import SHOWN, name_after, name_gently
from analytics.models import Gap, Topic, TopicCount, TopicQuestion
from analytics.privacy import anonymised_texts
from analytics.topics.clustering import Clustered, cluster_topics
from analytics.topics.collect import Asked, read_questions
from analytics.topics.counting import count_topics
from chat.models import Message
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import Embedder, get_embedder
from core.inference.llm.client import is_configured

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats

logger = logging.getLogger(__name__)

#: Mean similarity of the questions of a topic, on the scale of all models. See docs/decisions/0043-topics.md.
SIMILARITY = 0.54
#: Fewer questions are no topic yet: they wait for others.
LEAST_QUESTIONS = 3
#: New topics that a language model names in one night.
NAMED_A_NIGHT = 30


def update_topics() -> int:
    """Bring the topics up to date; return how many are new. Do nothing if another process does.

    Raise EmbeddingUnavailable.
    """
    with advisory_lock(Lock.TOPICS) as is_mine:
        return _update() if is_mine else 0


def _update() -> int:
    embedder = get_embedder()
    bridge = measured_bridge(embedder.embed_questions)
    fresh: list[int] = []
    asked = read_questions(embedder.recipe, bridge)
    for assistant in asked:
        fresh += _update_assistant(assistant, asked[assistant], embedder, bridge)
    name_again(Topic.objects.all())
    _name_by_model(fresh)
    count_topics()
    _forget_empty()
    logger.info("topics updated questions=%d new=%d", sum(map(len, asked.values())), len(fresh))
    return len(fresh)


@transaction.atomic
def _update_assistant(assistant: int | None, asked: Sequence[Asked], embedder: Embedder, bridge: Bridge) -> list[int]:
    """Place one assistant's questions; return the new topics."""
    topics = {each.pk: each for each in Topic.objects.select_for_update().filter(assistant=assistant, merged_into=None)}
    placed = [each.topic_id if each.topic_id in topics else None for each in asked]
    # A topic whose questions are all too old goes on with its middle, so that exams are one topic every term.
    alone = [each for each in topics.values() if each.recipe == embedder.recipe and each.pk not in set(placed)]
    # What staff joined may lie apart from the rest: its middle goes on to take in what is near it.
    joined = [
        each
        for each in Topic.objects.filter(assistant=assistant, merged_into__in=topics, recipe=embedder.recipe)
        if each.is_joined_by_staff
    ]
    middles = [*alone, *joined]
    vectors = np.stack([each.vector for each in asked] + [read_centroid(each) for each in middles])
    clustered = cluster_topics(
        vectors,
        [*(each.language for each in asked), *(each.language for each in middles)],
        [*placed, *(each.pk for each in alone), *(None for _each in joined)],
        threshold=to_cosine(embedder.scale.questions, SIMILARITY),
        bridge=bridge,
        kept={pk for pk, each in topics.items() if each.is_kept} | {each.merged_into_id or 0 for each in joined},
        parts={len(asked) + len(alone) + at: each.merged_into_id or 0 for at, each in enumerate(joined)},
    )
    return _place(assistant, asked, vectors, placed, clustered, topics, embedder.recipe)


def read_centroid(topic: Topic) -> "Floats":
    found: Floats = np.frombuffer(topic.centroid, dtype=np.float16).astype(np.float32)
    return found


def move_topic(topic: Topic, into: Topic) -> None:
    """Join a topic to another one: what was asked of it is asked of that one now, and was."""
    TopicQuestion.objects.filter(topic=topic).update(topic=into)
    TopicCount.objects.filter(topic=topic).update(topic=into)
    Topic.objects.filter(merged_into=topic).update(merged_into=into)
    topic.merged_into = into
    if topic.named_by == Gap.NamedBy.QUESTION:
        topic.name, topic.named_after = "", None
    topic.save()


def _place(
    assistant: int | None,
    asked: Sequence[Asked],
    vectors: "Floats",
    placed: Sequence[int | None],
    clustered: Clustered,
    topics: Mapping[int, Topic],
    recipe: str,
) -> list[int]:
    members: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(clustered.labels[: len(asked)].tolist()):
        members[label].append(place)
    sizes = Counter(placed)
    of_label = {label: topics[topic] for label, topic in clustered.topics.items()}
    fresh: list[int] = []
    rows: list[TopicQuestion] = []
    alone: list[int] = []
    for label, places in members.items():
        topic = of_label.get(label)
        if topic is None and len(places) < LEAST_QUESTIONS:
            alone += [asked[place].pk for place in places if placed[place] is not None]
            continue
        moved = [place for place in places if topic is None or placed[place] != topic.pk]
        if topic is not None and not moved and len(places) == sizes[topic.pk]:
            continue
        centroid = compute_centroid(vectors[places])
        centralities = dict(zip(places, (vectors[places] @ centroid).tolist(), strict=True))
        topic = topic or Topic(assistant_id=assistant)
        _describe(topic, [asked[place] for place in places], centroid, recipe)
        if topic._state.adding:
            topic.named_after_id = asked[max(places, key=lambda place: centralities[place])].pk
            topic.save()
            fresh.append(topic.pk)
            of_label[label] = topic
        else:
            topic.save(update_fields=["language", "centroid", "recipe", "named_after"])
        rows += [
            TopicQuestion(message_id=asked[place].pk, topic=topic, centrality=centralities[place]) for place in moved
        ]
    _save_questions(rows, alone)
    for joined, label in clustered.joined.items():
        if label in of_label:
            move_topic(topics[joined], of_label[label])
    return fresh


def _save_questions(rows: Sequence[TopicQuestion], alone: Sequence[int]) -> None:
    # A question may have been deleted meanwhile.
    there = set(Message.objects.filter(pk__in=[row.message_id for row in rows]).values_list("pk", flat=True))
    TopicQuestion.objects.bulk_create(
        (row for row in rows if row.message_id in there),
        batch_size=2_000,
        update_conflicts=True,
        unique_fields=["message"],
        update_fields=["topic", "centrality", "joined_from"],
    )
    TopicQuestion.objects.filter(message__in=alone).delete()


def _describe(topic: Topic, questions: Sequence[Asked], centroid: "Floats", recipe: str) -> None:
    languages = [each.language for each in questions]
    topic.language = max(sorted(set(languages)), key=languages.count)
    topic.centroid, topic.recipe = centroid.astype(np.float16).tobytes(), recipe
    if topic.named_after_id not in {each.pk for each in questions}:
        topic.named_after = None


def name_again(topics: QuerySet[Topic]) -> None:
    """Name topics after their most central question, where nobody else named them and that one is new or gone."""
    unnamed = topics.filter(Q(name="") | Q(named_after=None), named_by=Gap.NamedBy.QUESTION, merged_into=None)
    for topic in unnamed.defer("centroid"):
        central = topic.questions.order_by("-centrality", "pk")
        if topic.named_after_id is None:
            topic.named_after_id = central.values_list("message", flat=True).first()
        question = Message.objects.select_related("answer").filter(pk__in=[topic.named_after_id]).first()
        topic.name = name_after(anonymised_texts([question])[0]) if question else ""
        topic.save(update_fields=["name", "named_after"])


def _name_by_model(fresh: Collection[int]) -> None:
    """Have the language model name new topics, the largest first, if there is one."""
    if not is_configured():
        return
    largest = sorted(fresh, key=lambda pk: -TopicQuestion.objects.filter(topic=pk).count())
    for topic in Topic.objects.in_bulk(largest[:NAMED_A_NIGHT]).values():
        questions = topic.questions.order_by("-centrality", "pk").values_list("message", flat=True)[:SHOWN]
        messages = Message.objects.select_related("answer").filter(pk__in=list(questions))
        name, goes_on = name_gently(anonymised_texts(list(messages)), topic.language)
        if name:
            # Staff may have named it meanwhile.
            unnamed = Topic.objects.filter(pk=topic.pk, named_by=Gap.NamedBy.QUESTION)
            unnamed.update(name=name, named_by=Gap.NamedBy.MODEL)
        if not goes_on:
            return


def _forget_empty() -> None:
    """Delete topics of which nothing is left: no question, no count, nothing that staff did, no topic to lead to."""
    untouched = Topic.objects.filter(is_pinned=False, merged=None, merged_into=None).exclude(named_by=Gap.NamedBy.STAFF)
    counted = TopicCount.objects.values("topic")
    untouched.filter(questions=None).exclude(pk__in=counted).delete()

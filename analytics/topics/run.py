"""The nightly run: new questions find their topics, topics are named and counted again."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.db import transaction
from django.db.models import Q

from analytics.gaps.clustering import Bridge, compute_centroid, measured_bridge, to_cosine
from analytics.gaps.labels import SHOWN, name_after, name_gently
from analytics.models import Gap, Topic, TopicCount, TopicQuestion
from analytics.privacy import anonymised_texts
from analytics.topics.collect import Asked, read_questions
from analytics.topics.counting import count_topics
from analytics.topics.growing import Grown, grow
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
    _name_again()
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
    joined = list(Topic.objects.filter(assistant=assistant, merged_into__in=topics, recipe=embedder.recipe))
    middles = [*alone, *joined]
    vectors = np.stack([each.vector for each in asked] + [read_centroid(each) for each in middles])
    grown = grow(
        vectors,
        [*(each.language for each in asked), *(each.language for each in middles)],
        [*placed, *(each.pk for each in alone), *(None for _each in joined)],
        threshold=to_cosine(embedder.scale.questions, SIMILARITY),
        bridge=bridge,
        kept=[pk for pk, each in topics.items() if each.is_kept],
        parts={len(asked) + len(alone) + at: each.merged_into_id or 0 for at, each in enumerate(joined)},
    )
    for topic, into in grown.joined.items():
        move_topic(topics[topic], topics[into])
    return _place(assistant, asked, vectors, placed, grown, topics, embedder.recipe)


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
    grown: Grown,
    topics: Mapping[int, Topic],
    recipe: str,
) -> list[int]:
    members: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(grown.labels[: len(asked)].tolist()):
        members[label].append(place)
    fresh: list[int] = []
    rows: list[TopicQuestion] = []
    for label, places in members.items():
        added = [place for place in places if placed[place] is None]
        if not added or (label not in grown.topics and len(places) < LEAST_QUESTIONS):
            continue
        centroid = compute_centroid(vectors[places])
        centralities = (vectors[places] @ centroid).tolist()
        topic = topics[grown.topics[label]] if label in grown.topics else Topic(assistant_id=assistant)
        _describe(topic, [asked[place].language for place in places], centroid, recipe)
        if topic._state.adding:
            topic.named_after_id = asked[places[int(np.argmax(centralities))]].pk
            topic.save()
            fresh.append(topic.pk)
        else:
            topic.save(update_fields=["language", "centroid", "recipe"])
        rows += [
            TopicQuestion(message_id=asked[place].pk, topic=topic, centrality=centrality)
            for place, centrality in zip(places, centralities, strict=True)
            if placed[place] is None
        ]
    # A question may have been deleted meanwhile.
    there = set(Message.objects.filter(pk__in=[row.message_id for row in rows]).values_list("pk", flat=True))
    TopicQuestion.objects.bulk_create((row for row in rows if row.message_id in there), batch_size=2_000)
    return fresh


def _describe(topic: Topic, languages: Sequence[str], centroid: "Floats", recipe: str) -> None:
    topic.language = max(sorted(set(languages)), key=languages.count)
    topic.centroid, topic.recipe = centroid.astype(np.float16).tobytes(), recipe


def _name_again() -> None:
    """Name topics after their most central question, where nobody else named them and that one is new or gone."""
    unnamed = Topic.objects.filter(Q(name="") | Q(named_after=None), named_by=Gap.NamedBy.QUESTION, merged_into=None)
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
    """Delete topics of which nothing is left: no question, no count, and nothing that staff did."""
    untouched = Topic.objects.filter(is_pinned=False, merged=None).exclude(named_by=Gap.NamedBy.STAFF)
    counted = TopicCount.objects.values("topic")
    untouched.filter(questions=None).exclude(pk__in=counted).delete()

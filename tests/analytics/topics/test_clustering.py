"""Topics clustered anew: they keep their identity, and what is one meaning is one topic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.gaps.clustering import Bridge, cluster_vectors
from analytics.topics.clustering import cluster_topics

DIMENSIONS = 24
#: Languages whose questions lie apart; a translation is near where it is moved by that.
BRIDGE = Bridge({"en": np.zeros(DIMENSIONS, np.float32), "de": np.full(DIMENSIONS, 0.1, np.float32)}, 0.9)


def points(count, topics, seed=0, spread=0.05):
    """Return unit vectors, of so many topics, and which topic each is of."""
    chance = np.random.default_rng(seed)
    middles = np.linalg.qr(chance.normal(size=(DIMENSIONS, DIMENSIONS)))[0][:topics]
    truth = np.arange(count) % topics
    made = middles[truth] + spread * chance.normal(size=(count, DIMENSIONS))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32), truth


def clustered(vectors, topics, kept=frozenset(), languages=None, **also):
    languages = languages or ["en"] * len(vectors)
    return cluster_topics(vectors, languages, topics, threshold=0.7, bridge=BRIDGE, kept=kept, **also)


def test_the_first_night_finds_what_the_clustering_of_gaps_finds():
    vectors, truth = points(60, 6)
    labels = clustered(vectors, [None] * 60).labels
    assert labels.tolist() == truth.tolist()
    there = cluster_vectors(vectors, ["en"] * 60, threshold=0.7, bridge=BRIDGE)
    assert labels.tolist() == there.tolist()


@given(st.integers(1, 59), st.integers(0, 3))
def test_new_questions_join_the_topics_that_there_are(known, seed):
    vectors, truth = points(60, 6, seed)
    found = clustered(vectors, [*(100 + truth[:known]).tolist(), *[None] * (60 - known)])
    assert found.joined == {}
    for label, topic in found.topics.items():
        assert set(truth[found.labels == label]) == {topic - 100}


def test_topics_that_turn_out_to_be_one_are_joined_the_smaller_to_the_larger():
    vectors, _truth = points(9, 1)
    found = clustered(vectors, [7, 7, 3, 3, 3, 3, None, None, None])
    assert set(found.labels.tolist()) == {0}
    assert found.topics == {0: 3}
    assert found.joined == {7: 0}


def test_a_topic_of_two_meanings_is_split_and_goes_on_with_the_larger():
    vectors, truth = points(9, 2)
    found = clustered(vectors, [5] * 9)
    assert found.labels.tolist() == truth.tolist()
    assert found.topics == {0: 5}
    assert found.joined == {}


def test_what_staff_keep_stays_together_however_small_it_is():
    vectors, _truth = points(9, 1)
    one = clustered(vectors, [7, 7, 3, 3, 3, 3, None, None, None], kept={7})
    assert (one.topics, one.joined) == ({0: 7}, {3: 0})
    both = clustered(vectors, [7, 7, 3, 3, 3, 3, None, None, None], kept={3, 7})
    assert both.joined == {}
    assert set(both.topics.values()) == {3, 7}
    apart, _truth = points(9, 2)
    assert set(clustered(apart, [5] * 9, kept={5}).labels.tolist()) == {0}


def test_what_lies_near_a_joined_part_belongs_to_its_topic():
    vectors, _truth = points(12, 2)
    found = clustered(vectors, [4, None] * 6, kept={4}, parts={1: 4})
    assert set(found.labels.tolist()) == {0}
    assert found.topics == {0: 4}


def test_the_same_question_is_in_one_topic_with_itself():
    vectors, _truth = points(4, 4)
    found = clustered(vectors[[0, 0, 1, 0]], [5, None, None, None])
    assert found.labels.tolist() == [0, 0, 1, 0]


def test_a_topic_takes_in_its_translation():
    vectors, _truth = points(8, 2)
    german = vectors + 0.1
    german /= np.linalg.norm(german, axis=1, keepdims=True)
    both = np.concatenate([vectors, german.astype(np.float32)])
    found = clustered(both, [4, 9] * 4 + [None] * 8, languages=["en"] * 8 + ["de"] * 8)
    assert found.labels.tolist() == [0, 1] * 8
    assert found.topics == {0: 4, 1: 9}


@pytest.mark.parametrize("languages", [[], ["en"]])
def test_nothing_or_one_question_is_no_error(languages):
    vectors, _truth = points(1, 1)
    assert len(clustered(vectors[: len(languages)], [None] * len(languages), languages=languages).labels) == len(
        languages
    )

"""Vectors compared by what texts say, not by the language that they say it in."""

import numpy as np
import pytest

from chat.pipeline.understanding.kind_fitting import measure_language_means
from core.inference.embeddings import get_embedder
from core.inference.embeddings.e5.embedder import MULTILINGUAL
from core.inference.embeddings.ensemble import JOINED, centred_multilingual, only_multilingual
from core.inference.embeddings.language_means import centre, load_means

#: A question in one language, what answers it in the other, and a sentence of its own language about something near.
PAIRS = (
    ("Was kostet das Essen in der Mensa?", "Lunch in the canteen is €2.60.", "Das Semesterticket kostet 208 Euro."),
    ("Bekomme ich Hilfe bei Prüfungsangst?", "The course helps against exam anxiety.", "Die Mensa kocht vegan."),
    ("Who looks after my child?", "Die Kita nimmt Kinder von Studierenden auf.", "Sports courses are booked online."),
)


@pytest.mark.parametrize(("question", "answer", "beside"), PAIRS)
def test_an_answer_in_the_other_language_is_closer_than_a_sentence_beside_the_point(
    question: str, answer: str, beside: str
) -> None:
    asked = "en" if question.startswith("Who") else "de"
    other = "de" if asked == "en" else "en"
    vectors = get_embedder(MULTILINGUAL).embed_questions([question, answer, beside])
    as_it_is = vectors[1:] @ vectors[0]
    centred = centre(vectors, [asked, other, asked])
    apart = centred[1:] @ centred[0]
    assert apart[0] > apart[1]
    assert apart[0] - apart[1] > as_it_is[0] - as_it_is[1]


def test_centred_vectors_have_the_length_one() -> None:
    vectors = get_embedder(MULTILINGUAL).embed_questions(["Wo ist die Mensa?", "Où est la cantine ?", "canteen"])
    assert np.allclose(np.linalg.norm(centre(vectors, ["de", "fr", None]), axis=1), 1, atol=1e-5)


def test_a_joined_vector_is_centred_in_its_multilingual_half() -> None:
    joined = get_embedder(JOINED).embed_questions(["Wann öffnet die Bibliothek?"])[0]
    whole, centred = only_multilingual(joined), centred_multilingual(joined, "de")
    assert not centred[:384].any()
    assert np.allclose(centred[384:], centre(whole[None, 384:], ["de"])[0], atol=1e-5)


def test_the_stored_means_are_those_of_the_examples() -> None:
    measured = measure_language_means()
    assert measured.keys() == load_means().keys() == {"de", "en"}
    # Other processors round differently.
    assert all(np.allclose(mean, load_means()[language], atol=0.01) for language, mean in measured.items())

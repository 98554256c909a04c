"""Measures of texts against cases computed by hand."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from analytics.evaluation.metrics.text import bertscore, overlap, without_markers


@pytest.mark.slow
def test_the_same_text_is_fully_right_and_another_not_at_all() -> None:
    same = overlap("By 15 July at the registrar.", "By 15 July at the registrar.")
    assert [same[name] for name in ("rouge1", "rouge2", "rouge3", "rouge4", "rougel")] == [1] * 5
    assert same["bleu"] == pytest.approx(1)
    other = overlap("Quite another matter altogether", "By 15 July at the registrar.")
    assert [other[name] for name in ("rouge1", "rouge4", "rougel", "meteor_exact_stem")] == [0] * 4


def test_rouge_is_as_by_hand() -> None:
    # answer: the cat sat on the mat (6 words); reference: the cat lay on the mat (6): 5 words, 3 pairs of 5 shared,
    # 1 triple of 4, no four words, longest common subsequence 5
    found = overlap("The cat sat on the mat.", "the cat lay on the mat")
    assert found["rouge1"] == pytest.approx(5 / 6)
    assert found["rouge2"] == pytest.approx(3 / 5)
    assert found["rouge3"] == pytest.approx(1 / 4)
    assert found["rouge4"] == 0
    assert found["rougel"] == pytest.approx(5 / 6)


def test_precision_and_recall_differ_where_lengths_do() -> None:
    # 2 of 4 words are right, of 2 wanted: P 1/2, R 1, F 2/3
    assert overlap("room costs money surely", "room costs")["rouge1"] == pytest.approx(2 / 3)


def test_bleu_is_as_by_hand() -> None:
    # precisions 3/4, 2/3, 1/2, and 0 of 1 four words, smoothed to 1/2 of it; the answer is one word short: e^(1 - 5/4)
    found = overlap("the cat sat down", "the cat sat on it")["bleu"]
    assert found == pytest.approx(exp(1 - 5 / 4) * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25)


def test_meteor_matches_stems_and_counts_pieces() -> None:
    # all 3 words match (one by its stem) in one piece: 1 - 0.5 * (1/3)^3
    assert overlap("the cats sat", "the cat sat")["meteor_exact_stem"] == pytest.approx(1 - 0.5 / 27)
    # 3 of 3 in 3 pieces: 1 - 0.5
    assert overlap("sat cat the", "the cat sat")["meteor_exact_stem"] == pytest.approx(0.5)


@given(st.text(alphabet="abcdefgh .,;'\"!?-0123\n", max_size=60), st.text(alphabet="abcdefgh .,;-0123\n", max_size=60))
def test_in_english_rouge_is_that_of_its_own_tokenizer(answer: str, reference: str) -> None:
    theirs = RougeScorer(["rouge1", "rougeL"], use_stemmer=True).score(reference, answer)
    ours = overlap(answer, reference)
    assert ours["rouge1"] == pytest.approx(theirs["rouge1"].fmeasure)
    assert ours["rougel"] == pytest.approx(theirs["rougeL"].fmeasure)


def test_german_words_stay_whole() -> None:
    # rouge-score alone would cut both at the umlaut and find an f in common
    assert overlap("für", "föhn")["rouge1"] == 0
    assert overlap("Prüfungsamt", "prüfungsamt")["rouge1"] == 1


def test_an_empty_answer_is_worth_nothing() -> None:
    assert {value for name, value in overlap("", "by 15 July").items() if name != "meteor"} == {0}


def test_bertscore_matches_greedily() -> None:
    answer = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    reference = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    # cosines: (1, 0, 1) and (0.6, 0.8, 0.6)
    found = bertscore(answer, reference)
    precision, recall = (1 + 0.8) / 2, (1 + 0.8 + 1) / 3
    assert found["bertscore_precision"] == pytest.approx(precision)
    assert found["bertscore_recall"] == pytest.approx(recall)
    assert found["bertscore_f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert bertscore(answer[:0], reference)["bertscore_f1"] == 0


def test_word_pieces_have_vectors_of_their_own() -> None:
    from analytics.evaluation.metrics.text import get_token_encoder

    pieces = get_token_encoder().pieces("The library opens at eight.")
    assert pieces.shape == (6, 384)
    assert np.linalg.norm(pieces, axis=1) == pytest.approx(1, abs=1e-5)
    assert bertscore(pieces, pieces)["bertscore_f1"] == pytest.approx(1, abs=1e-5)
    assert get_token_encoder().pieces("").shape == (0, 384)


def test_markers_of_sources_are_no_words() -> None:
    assert without_markers("It is 318 euros [1]. In [2024] too [2][13].") == "It is 318 euros. In [2024] too."

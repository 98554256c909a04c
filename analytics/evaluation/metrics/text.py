"""Similarity of an answer to a reference answer, by words and by their meaning; pure.

ROUGE (Lin 2004, rouge-score), BLEU (Papineni et al. 2002, sacrebleu), METEOR (Lavie and Agarwal 2007, NLTK) and
BERTScore (Zhang et al. 2020). All are from 0 to 1. The libraries take seconds to load, so nothing that serves imports
this.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from nltk.corpus import wordnet
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu

from core.inference.embeddings.minilm import MINILM, MiniLMEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

WORD = re.compile(r"[^\W_]+")
#: Markers that point at a source are no words of an answer.
MARKER = re.compile(r"[ \t]*\[\d{1,3}\]")
ROUGE = {"rouge1": "rouge1", "rouge2": "rouge2", "rouge3": "rouge3", "rouge4": "rouge4", "rougel": "rougeL"}
#: Words of up to so many letters are not stemmed, as in the original ROUGE.
UNSTEMMED = 3


class Words:
    """rouge-score's words, stemmed by Porter, but of any alphabet: its own tokenizer cuts at every umlaut."""

    def __init__(self) -> None:
        self._stemmer = PorterStemmer()

    def tokenize(self, text: str) -> list[str]:
        return [self._stemmer.stem(word) if len(word) > UNSTEMMED else word for word in words(text)]


class NoSynonyms:
    """Synonyms for METEOR without WordNet: none."""

    def synsets(self, _word: str) -> "Sequence[Any]":
        return ()


_rouge = RougeScorer(list(ROUGE.values()), tokenizer=Words())


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def without_markers(text: str) -> str:
    return MARKER.sub("", text)


@cache
def has_wordnet() -> bool:
    """Return whether NLTK finds WordNet's data, which no package brings."""
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return False
    return True


def overlap(answer: str, reference: str) -> dict[str, float | None]:
    """ROUGE-1, 2, 3, 4 and L (F), BLEU with exponential smoothing, METEOR; `meteor` is None where there is no WordNet.

    `meteor_exact_stem` is METEOR whose words match exactly or by their stems, and never as synonyms.
    """
    rouge = _rouge.score(reference, answer)
    found: dict[str, float | None] = {name: float(rouge[key].fmeasure) for name, key in ROUGE.items()}
    found["bleu"] = sentence_bleu(answer, [reference], smooth_method="exp").score / 100
    right, said = words(reference), words(answer)
    found["meteor"] = single_meteor_score(right, said) if has_wordnet() else None
    found["meteor_exact_stem"] = single_meteor_score(right, said, wordnet=NoSynonyms())
    return found


def bertscore(answer: "NDArray[np.float32]", reference: "NDArray[np.float32]") -> dict[str, float]:
    """Greedy matching of word pieces by cosine, without weights or rescaling.

    Both are unit vectors of word pieces, of shape (pieces, dimensions).
    """
    if not len(answer) or not len(reference):
        return {"bertscore_precision": 0.0, "bertscore_recall": 0.0, "bertscore_f1": 0.0}
    cosines = answer @ reference.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {"bertscore_precision": precision, "bertscore_recall": recall, "bertscore_f1": f1}


#: Whose vectors they are, as the results name it.
MODEL = f"{MINILM}, last layer"


class TokenEncoder(MiniLMEmbedder):
    """all-MiniLM-L6-v2 before its word pieces are averaged: English, the first 256 of them."""

    def pieces(self, text: str) -> "NDArray[np.float32]":
        """Return unit vectors of shape (pieces, dimensions), without those of the marks at both ends."""
        inner = self.encode_pieces(text)[1:-1]
        inner /= np.linalg.norm(inner, axis=1, keepdims=True)
        return inner


@cache
def get_token_encoder() -> TokenEncoder:
    return TokenEncoder()

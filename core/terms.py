"""Words of a text: the tokenizers, the stemmer and the stop words of the whole project; pure.

Who needs others says why: BM25 (`knowledge.retrieval.bm25`) and ROUGE (`analytics.evaluation.metrics.text`) run as they
were published, and languages are told apart (`core.language`) by words that only one of them has.
"""

import re
from pathlib import Path

from core.text import nfc

WORD = re.compile(r"\w+")
#: A word of letters alone.
LETTERS = re.compile(r"[^\W\d_]+")
#: A word as it is written, to be shown: with its hyphens, or an abbreviation with its dots ("M.Sc.").
WRITTEN_WORD = re.compile(r"(?:[^\W\d_]{1,3}\.){2,8}(?!\w)|\w+(?:[-'’]\w+)*")
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
#: Letters that two inflections of a word share.
STEM_LETTERS = 6
#: Characters of a first question that name its conversation.
TITLE_LENGTH = 80


def _read_words(folder: Path) -> frozenset[str]:
    """Return the words of a folder's files, one a language; lines that begin with # are comments."""
    lines = (line for path in sorted(folder.glob("*.txt")) for line in path.read_text("utf-8").splitlines())
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


#: Words that say nothing about a topic.
STOP_WORDS = _read_words(Path(__file__).parent / "stop_words")
#: Words that no page needs, although a question that has them stands alone.
GENERAL_WORDS = _read_words(Path(__file__).parent / "stop_words" / "general")


def distinct_words(text: str) -> set[str]:
    """Return all words in lower case, the same however letters with marks are encoded."""
    return set(WORD.findall(nfc(text.lower())))


def content_words(text: str) -> set[str]:
    """Return the stems of words that are long enough to carry meaning, and whole numbers.

    Stop words of four letters and more count: the thresholds of evidence were measured with them. Of three letters only
    words count that say something, such as "vpd" and "gym".
    """
    return {stem(word) for word in distinct_words(text) if len(word) > 3 or word.isdecimal() or _is_short_topic(word)}


def _is_short_topic(word: str) -> bool:
    return len(word) == 3 and word not in STOP_WORDS and word not in GENERAL_WORDS


def topic_words(text: str) -> list[str]:
    """Return the words that say what a text is about, in their order and as they are written."""
    words = WRITTEN_WORD.findall(text)
    return [word for word in words if word.lower() not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def stems(text: str, *, letters: int = STEM_LETTERS) -> set[str]:
    """Return the stems of a text's topic words in lower case."""
    return {stem(word.lower(), letters=letters) for word in topic_words(text)}


def stem(word: str, *, letters: int = STEM_LETTERS) -> str:
    """Cut a word to its beginning, which serves English and German alike."""
    return word[:letters]


def figures(text: str) -> set[str]:
    """Return the numbers in a text as they are written."""
    return set(FIGURE.findall(text))


def make_title(question: str) -> str:
    """Return the title of a conversation that begins with this question."""
    words = " ".join(question.split())
    return words if len(words) <= TITLE_LENGTH else f"{words[:TITLE_LENGTH].rsplit(' ', 1)[0]} …"

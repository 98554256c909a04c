"""Synthetic university pages from a fixed seed, with word frequencies like those of real text; knows no Django.

Words: those of the demo pages in order of their frequency, then compounds of two of them, `VOCABULARY` in all, drawn
with Zipf-Mandelbrot's law, so that posting lists are as uneven as real ones. A page has a topic: a fifth of its words
comes from a few rare ones, which its title, headings and questions use too.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "marcelcms" / "demo"
TOKENIZER = ROOT / "core" / "inference" / "minilm-tokenizer.json"
SEED = 20_251
VOCABULARY = 60_000
SECTIONS = 4
#: Word pieces of a page with its title and headings.
PAGE_TOKENS = 700
TOPIC_WORDS = 40
WORD = re.compile(r"[^\W\d_]{2,}")
OF_ADDRESSES = {"https", "www", "lindental", "example", "uni"}
OPENINGS = ("How do I get", "Who decides about", "When is", "Where can I find", "What does the university say about")

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Page:
    """One synthetic page; every section makes one passage."""

    number: int
    title: str
    language: str
    sections: Sequence[tuple[str, str]]
    topic: Sequence[str]

    @property
    def url(self) -> str:
        return f"https://www.uni-lindental.example/bench/{self.number}"

    @property
    def markdown(self) -> str:
        return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in self.sections)

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.markdown}"


class Corpus:
    """Pages by number: page 7 is the same in a corpus of 249 and of 24,900."""

    def __init__(self) -> None:
        self.words = _vocabulary()
        tokenizer = Tokenizer.from_file(str(TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        encoded = tokenizer.encode_batch(self.words, add_special_tokens=False)
        self._pieces = np.array([len(encoding.ids) for encoding in encoded])
        weights = (np.arange(1, len(self.words) + 1) + 2.7) ** -1.15
        self._cumulated = np.cumsum(weights / weights.sum())

    def page(self, number: int) -> Page:
        random = np.random.default_rng((SEED, number))
        drawn = np.searchsorted(self._cumulated, random.random(PAGE_TOKENS + 60))
        topic = (150 * (len(self.words) / 150) ** random.random(TOPIC_WORDS)).astype(int)
        on_topic = random.random(len(drawn)) < 0.2
        drawn[on_topic] = topic[(random.pareto(1.0, on_topic.sum()) * 3).astype(int) % TOPIC_WORDS]
        names = [self.words[word] for word in topic]
        budget = PAGE_TOKENS - int(self._pieces[topic[:3]].sum())
        sections, at = [], 0
        for section in range(SECTIONS):
            heading = names[3 + 2 * section : 5 + 2 * section]
            limit = budget // SECTIONS - int(self._pieces[topic[3 + 2 * section : 5 + 2 * section]].sum())
            text, at = self._prose(drawn, at, limit, random)
            sections.append((" ".join(heading).capitalize(), text))
        language = "de" if number % 5 == 4 else "en"
        return Page(number, " ".join(names[:3]).title(), language, sections, names)

    def _prose(self, drawn: NDArray[np.int64], at: int, limit: int, random: np.random.Generator) -> tuple[str, int]:
        """Sentences of at most `limit` word pieces from the words at `at` on, and where they end."""
        sentences, used = [], 0
        while True:
            end = min(at + int(random.integers(7, 22)), len(drawn))
            pieces = np.cumsum(self._pieces[drawn[at:end]]) + 1
            fitting = int(np.searchsorted(pieces, limit - used, side="right"))
            if fitting == 0:
                return " ".join(sentences), at
            sentences.append(" ".join(self.words[word] for word in drawn[at : at + fitting]).capitalize() + ".")
            used += int(pieces[fitting - 1])
            at += fitting

    def questions(self, count: int, *, pages: int, kind: int = 0) -> list[str]:
        """Alternately one of the demo's and one about some page's topic; `kind` gives other ones."""
        demo = [json.loads(line)["text"] for line in (DEMO / "questions.jsonl").read_text().splitlines()]
        random = np.random.default_rng((SEED, pages, kind))
        order = random.permutation(len(demo))
        found: list[str] = []
        while len(found) < count:
            if len(found) % 2 == 0:
                found.append(demo[order[len(found) // 2 % len(demo)]])
                continue
            topic = self.page(int(random.integers(pages))).topic
            chosen = [topic[index] for index in random.choice(11, 3, replace=False)]
            found.append(f"{OPENINGS[len(found) // 2 % len(OPENINGS)]} {chosen[0]} {chosen[1]} and {chosen[2]}?")
        return found

    def faqs(self, count: int, *, pages: int) -> Iterator[tuple[str, list[str], list[int]]]:
        """(question, phrasings, page numbers)."""
        random = np.random.default_rng((SEED, 1))
        for number in range(count):
            linked = [int(page) for page in random.choice(pages, 2, replace=False)]
            topic = self.page(linked[0]).topic
            first, *others = (
                f"{OPENINGS[(number + place) % len(OPENINGS)]} {topic[place]} {topic[place + 1]}?" for place in range(3)
            )
            yield first, others, linked


def derived_vectors(real: Vectors, count: int, *, start: int = 0) -> Vectors:
    """`count` unit vectors like the `real` ones: each is one of them with noise, which is half of a difference of two
    others and so lies in the directions in which real vectors differ."""
    random = np.random.default_rng((SEED, 2, start))
    one, other, third = (real[random.integers(len(real), size=count)] for _ in range(3))
    noisy = one + 0.5 * (other - third)
    unit: Vectors = noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
    return unit


def _vocabulary() -> list[str]:
    counted: Counter[str] = Counter()
    for page in sorted((DEMO / "pages").glob("*.md")):
        counted.update(WORD.findall(page.read_text().lower()))
    words = sorted(counted.keys() - OF_ADDRESSES, key=lambda word: (-counted[word], word))
    known = set(words)
    parts = [word for word in words if 4 <= len(word) <= 9]
    random = np.random.default_rng((SEED, 3))
    while len(words) < VOCABULARY:
        compound = "".join(parts[part] for part in random.integers(len(parts), size=2))
        if compound not in known:
            known.add(compound)
            words.append(compound)
    return words

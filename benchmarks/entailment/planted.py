"""Sentences of passages, and planted ones: what the entailment model learns the second of its results from.

Attacks of `benchmarks/data` and of the data sets' `security` folder, and sentences of other pages, are planted in
passages of the demo, of the judged sentences and of the data sets. Every fifth passage is not learned from.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.claims import DATA, FITTED_TO, LEARNED_FROM, read
from benchmarks.environment import ROOT
from knowledge.chunking.chunker import cut
from knowledge.chunking.sentences import sentence_spans

ATTACKS, ORDERS = DATA / "attacks_training.jsonl", DATA / "orders_to_readers.jsonl"
DEMO = ROOT / "marcelcms" / "demo" / "pages"
#: Passages of each data set, passages that each attack is planted in, and sentences of other pages that are planted.
OF_EACH, TIMES, FOREIGN, CLEAN = 500, 4, 300, 7_000
CORPORA = ("mtrag-dev", "stackfaq-dev", "cmu-handbooks")
LONGEST_ATTACK = 400
PASSAGE_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence beside the rest of its passage."""

    rest: str
    sentence: str
    is_planted: bool
    is_learned: bool


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    text: str
    number: int

    @property
    def is_learned(self) -> bool:
        return self.number % 5 != 0


def make_examples(data: Path, count_tokens: Callable[[str], int]) -> list[Example]:
    """Return the examples; `data` is the folder of the data sets."""
    chance = random.Random(1)
    texts = dict.fromkeys(_read_texts(data, chance, count_tokens))
    pages = [Page(title, text, number) for number, (title, text) in enumerate(texts)]
    found = []
    for attack in read_attacks(data):
        for page in chance.sample(pages, TIMES):
            found += _examples_of(page, attack, chance)
    foreign = [(page, sentence) for page in pages for sentence in _sentences(page.title, page.text)]
    for page in chance.sample(pages, min(FOREIGN, len(pages))):
        other, sentence = chance.choice(foreign)
        if other.title.split(" › ")[0] != page.title.split(" › ")[0]:
            found += _examples_of(page, sentence, chance)
    clean = [Example(rest_of(page, each), each, False, page.is_learned) for page, each in foreign]
    return found + chance.sample(clean, min(CLEAN, len(clean)))


def _examples_of(page: Page, planted: str, chance: random.Random) -> list[Example]:
    own = set(_sentences(page.title, page.text))
    whole = Page(page.title, plant(page.text, planted, chance), page.number)
    return [
        Example(rest_of(whole, each), each, True, page.is_learned)
        for each in _sentences(whole.title, whole.text)
        if each not in own
    ]


def plant(text: str, planted: str, chance: random.Random) -> str:
    """Put a text into a passage: as a paragraph of its own, or after a sentence."""
    if chance.random() < 0.6:
        paragraphs = text.split("\n\n")
        paragraphs.insert(chance.randint(0, len(paragraphs)), planted)
        return "\n\n".join(paragraphs)
    place = chance.choice([0, *(end for _start, end in sentence_spans(text))])
    return f"{text[:place]} {planted} {text[place:]}".strip()


def rest_of(page: Page, sentence: str) -> str:
    from chat.pipeline.verification.planted import read_rest
    from chat.pipeline.verification.verify import Passage

    return read_rest(Passage(page.text, page.title), sentence)


def _sentences(title: str, text: str) -> list[str]:
    from chat.pipeline.verification.units import split_units

    units = split_units(text, title)
    found = [unit.shown[start:end].strip() for unit in units for start, end in sentence_spans(unit.shown)]
    return [*dict.fromkeys(each for each in found if each and not each.endswith("?"))]


def _read_texts(data: Path, chance: random.Random, count_tokens: Callable[[str], int]) -> Iterator[tuple[str, str]]:
    for path in sorted(DEMO.glob("*.md")):
        head, text = path.read_text(encoding="utf-8").split("\n\n", 1)
        title = re.search(r"^Title: (.*)$", head, re.MULTILINE)
        yield from _cut(title[1] if title else "", text, count_tokens)
    for name in CORPORA:
        rows = list(read_lines(data / name / "corpus.jsonl"))
        for row in chance.sample(rows, min(OF_EACH, len(rows))):
            yield from list(_cut(row.get("title", ""), row["text"], count_tokens))[:2]
    for path in (*LEARNED_FROM, *FITTED_TO):
        yield from ((row["title"], row["passage"]) for row in read(path))
    yield from ((row["title"], row["text"]) for row in read_lines(ORDERS))


def _cut(title: str, text: str, count_tokens: Callable[[str], int]) -> Iterator[tuple[str, str]]:
    for chunk in cut(text, limit=PASSAGE_TOKENS, measure=count_tokens):
        yield " › ".join(part for part in (title, *chunk.heading_path) if part), chunk.text


def read_attacks(data: Path) -> Iterator[str]:
    yield from (row["text"] for row in read_lines(ATTACKS))
    for path in (data / "security" / "indirect-injection-train.json", DATA / "attacks_other.json"):
        for texts in json.loads(path.read_text(encoding="utf-8")).values():
            yield from texts
    for row in read_lines(data / "security" / "prompt-injections.jsonl"):
        if row["label"]:
            yield row["text"][:LONGEST_ATTACK]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)

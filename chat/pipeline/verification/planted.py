"""Finds sentences of a passage that were planted there: they are about another matter, or say what the reader's answer
should be like.

A model that obeys such a sentence would repeat it, and the page would prove it. What the sentence demands is said in
endless ways, so an entailment network that learned from examples (`benchmarks/entailment`) reads it beside the rest of
its passage.
"""

from collections.abc import Callable
from functools import lru_cache

from chat.pipeline.verification.units import as_sentence, split_units
from chat.pipeline.verification.verify import Passage
from knowledge.chunking.sentences import sentence_spans

#: Given a passage's other sentences, after title and heading, and a sentence: the logarithm of the odds that it was
#: planted there.
PlantedLogit = Callable[[str, str], float]

#: Least logarithm of the odds by which a sentence is taken for a planted one: 0.01 of the faithful sentences of
#: `benchmarks/data/claims_sealed.jsonl` rest on words that reach it.
LEAST = 3.0


@lru_cache(maxsize=4096)
def is_planted(unit: str, passage: Passage, logit: PlantedLogit) -> bool:
    """Return whether one of the sentences of a unit, as `verify` returns it, was planted in the passage."""
    sentences = [unit[start:end].strip() for start, end in sentence_spans(unit)]
    return any(logit(read_rest(passage, each), each) >= LEAST for each in sentences if each)


def read_rest(passage: Passage, sentence: str) -> str:
    """Return what stands beside a sentence as the network reads it: after title and heading, and without the rest of
    the sentence's own paragraph where that is the smaller part, since planted sentences speak for each other."""
    paragraphs = [each for each in passage.text.split("\n\n") if each.strip()]
    others = "\n\n".join(each for each in paragraphs if sentence not in as_sentence(each))
    text = others if 2 * len(others) > len(passage.text) else passage.text
    said = [unit.text for unit in split_units(text) if unit.text != sentence]
    return f"{passage.label}: {' '.join(said)}"

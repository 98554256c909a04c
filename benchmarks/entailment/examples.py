"""Writes what the entailment model learns from, as pieces of its vocabulary.

`python -m benchmarks.entailment.examples OUT --data FOLDER`: each judged sentence stands beside the words of its
passage that the check aligns it with, each planted sentence, and others, beside the rest of their passage.
`OUT/examples.npz` and `OUT/e5.npz`, the weights that training begins with, are all that
`benchmarks.entailment.training` reads.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.claims import FITTED_TO, LEARNED_FROM, configure, read, remembered
from benchmarks.entailment.planted import make_examples
from benchmarks.measuring import say

if TYPE_CHECKING:
    from core.inference.embeddings.e5.package import PackagedE5


def write_examples(folder: Path, data: Path) -> None:
    from chat.pipeline.verification.verify import Meaning, Passage, examine, read_unit
    from core.inference.embeddings.e5.embedder import model_file
    from core.inference.embeddings.e5.package import PackagedE5
    from core.inference.embeddings.e5.pieces import load_pieces
    from core.inference.entailment.model import PLANTED, REST_PIECES, SAYS, SENTENCE_PIECES, TEXT_PIECES

    meaning = Meaning(remembered(), lambda _text, _sentence: 0.0)
    made = model_file()
    pieces = load_pieces(made.with_name(f"{made.name}.model"))
    rows = [(row, True) for path in LEARNED_FROM for row in read(path)]
    rows += [(row, False) for path in FITTED_TO for row in read(path)]
    sentences, texts, asked, is_true, is_learned = [], [], [], [], []
    for row, learned in rows:
        passage = Passage(row["passage"], row["title"])
        checked = examine(row["sentence"], passage, meaning=meaning)
        if checked is None:
            continue
        sentences.append(pieces.ids(row["sentence"])[:SENTENCE_PIECES])
        texts.append(pieces.ids(read_unit(checked, passage))[:TEXT_PIECES])
        asked.append(SAYS)
        is_true.append(row["supported"])
        is_learned.append(learned)
    for each in make_examples(data, lambda text: len(pieces.ids(text))):
        sentences.append(pieces.ids(each.sentence)[:SENTENCE_PIECES])
        texts.append(pieces.ids(each.rest)[:REST_PIECES])
        asked.append(PLANTED)
        is_true.append(each.is_planted)
        is_learned.append(each.is_learned)
    package = PackagedE5()
    special = (package.special.begin, package.special.end, package.special.padding)
    used = sorted({piece for each in (*sentences, *texts, special) for piece in each})
    place = {piece: number for number, piece in enumerate(used)}
    flat = [place[piece] for each in (*sentences, *texts) for piece in each]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        folder / "examples.npz",
        pieces=np.array(flat, np.int32),
        ends=np.cumsum([len(each) for each in (*sentences, *texts)]),
        asked=np.array(asked),
        is_true=np.array(is_true),
        is_learned=np.array(is_learned),
        special=np.array([place[piece] for piece in special]),
    )
    np.savez_compressed(folder / "e5.npz", **begin_with(package, used))
    say(f"{len(asked)} sentences, {sum(is_learned)} of them to learn from, and {len(used)} pieces are in {folder}.")


def begin_with(package: "PackagedE5", used: list[int]) -> dict[str, Any]:
    """Return the weights that training begins with, by the package's names, in float16: they have four bits there."""
    from core.inference.embeddings.e5.package import unpacked

    shape = package.shape
    weights: dict[str, Any] = {
        "words": unpacked(package.words()[used]),
        "places": package.vector("emb.pos").reshape(shape.window, -1) + package.vector("emb.type")[: shape.width],
        "emb.ln.w": package.vector("emb.ln.w"),
        "emb.ln.b": package.vector("emb.ln.b"),
    }
    for layer in range(shape.layers):
        for name in ("q", "k", "v", "ao", "fi", "fo"):
            rows = shape.feed_forward if name == "fi" else shape.width
            weights[f"l{layer}.{name}.w"] = package.matrix(f"l{layer}.{name}.w", rows)
            weights[f"l{layer}.{name}.b"] = package.vector(f"l{layer}.{name}.b")
        for name in ("aln", "oln"):
            weights |= {f"l{layer}.{name}.{part}": package.vector(f"l{layer}.{name}.{part}") for part in "wb"}
    return {name: values.astype(np.float16) for name, values in weights.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.entailment.examples", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    configure()
    write_examples(arguments.folder, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

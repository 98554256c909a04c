"""Learns the entailment model's weights with PyTorch: `python benchmarks/entailment/training.py FOLDER [LEARNED]`.

It is run as a script: it reads what `benchmarks.entailment.examples` wrote to FOLDER and needs torch and numpy alone,
so it can run on another machine. Two cores that multiply bfloat16 take half an hour. It writes FOLDER/adapted.npz. With
LEARNED, such a file of an earlier run, it goes on from there.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS = 12, 384, 12
RANK, RATE, STEPS, BATCH, DROPPED, DECAY, SEED = 16, 5e-4, 500, 64, 0.2, 0.01, 1
#: Batches are cut from so many at once, ordered by length, so that little of a batch is padding.
ORDERED = 16
NARROW = ("q", "k", "v", "ao", "fi", "fo")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HALF = torch.bfloat16


class Projection(nn.Module):
    """A projection that stays as it is, with a learned bias and the product of two narrow matrices added to it."""

    def __init__(self, weights: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights.to(HALF).T)
        self.b = nn.Parameter(bias)
        self.down = nn.Parameter(torch.randn(RANK, weights.shape[1]) / math.sqrt(weights.shape[1]))
        self.up = nn.Parameter(torch.zeros(weights.shape[0], RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        plain = torch.addmm(self.b.to(HALF), x.flatten(0, 1), self.weights).view(*x.shape[:2], -1)
        return plain + (x @ self.down.to(HALF).T) @ self.up.to(HALF).T


class Layer(nn.Module):
    """One layer of the encoder; attention is written out, which is faster on a processor."""

    def __init__(self, begun: dict[str, torch.Tensor], number: int) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(
            {name: Projection(begun[f"l{number}.{name}.w"], begun[f"l{number}.{name}.b"]) for name in NARROW}
        )
        self.aln, self.oln = (normalisation(begun, f"l{number}.{name}") for name in ("aln", "oln"))

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        rows, length, _width = x.shape
        q, k, v = (self.parts[name](x).view(rows, length, HEADS, -1).transpose(1, 2) for name in "qkv")
        weights = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + hidden, -1)
        attended = self.parts["ao"]((weights @ v).transpose(1, 2).reshape(rows, length, WIDTH))
        x = normalised(self.aln, x + dropped(attended, self.training))
        return normalised(self.oln, x + dropped(self.parts["fo"](functional.gelu(self.parts["fi"](x))), self.training))


class Reader(nn.Module):
    """Reads a sentence and a text; returns two logarithms of odds: that the text says the sentence, and that the
    sentence was planted beside the text."""

    def __init__(self, begun: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.register_buffer("words", begun["words"])
        self.register_buffer("places", begun["places"])
        self.ln = normalisation(begun, "emb.ln")
        self.both = nn.Parameter(torch.zeros(2, WIDTH))
        self.layers = nn.ModuleList(Layer(begun, number) for number in range(LAYERS))
        self.head, self.dropout = nn.Linear(WIDTH, 2), nn.Dropout(DROPPED)

    def forward(self, ids: torch.Tensor, second: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.ln(self.words[ids] + self.places[: ids.shape[1]] + functional.embedding(second, self.both)).to(HALF)
        hidden = torch.where(mask, 0.0, -1e4)[:, None, None, :].to(HALF)
        for layer in self.layers:
            x = layer(x, hidden)
        kept = mask[..., None].float()
        return self.head(self.dropout((x.float() * kept).sum(1) / kept.sum(1)))

    def learnable(self) -> dict[str, nn.Parameter]:
        """Return what is learned, by the names that `core.inference.entailment.model` reads."""
        found = {"parts": self.both, "head.w": self.head.weight, "head.b": self.head.bias}
        found |= {"emb.ln.w": self.ln.weight, "emb.ln.b": self.ln.bias}
        for number, layer in enumerate(self.layers):
            for name in NARROW:
                found |= {f"l{number}.{name}.{each}": getattr(layer.parts[name], each) for each in ("down", "up", "b")}
            for name in ("aln", "oln"):
                norm = getattr(layer, name)
                found |= {f"l{number}.{name}.w": norm.weight, f"l{number}.{name}.b": norm.bias}
        return found


def normalisation(begun: dict[str, torch.Tensor], name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(WIDTH, eps=1e-12)
    norm.weight.data, norm.bias.data = begun[f"{name}.w"].clone(), begun[f"{name}.b"].clone()
    return norm


def normalised(norm: nn.LayerNorm, x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, (WIDTH,), norm.weight.to(HALF), norm.bias.to(HALF), norm.eps)


def dropped(x: torch.Tensor, is_training: bool) -> torch.Tensor:
    """Return `x` without a random share; bytes are drawn, because that is faster than to draw floats."""
    if not is_training:
        return x
    least = int(256 * DROPPED)
    drawn = torch.empty(x.shape, dtype=torch.uint8, device=x.device).random_(0, 256)
    return x * ((drawn >= least).to(HALF) / (1 - least / 256))


class Examples:
    """Pairs of a sentence and a text as pieces.

    `asked` is the place of the result that a pair is about, `is_true` whether it is so, `is_learned` whether it is
    learned from.
    """

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "examples.npz") as file:
            ends, pieces = file["ends"], file["pieces"]
            self.asked, self.is_true, self.is_learned = file["asked"], file["is_true"], file["is_learned"]
            self.begin, self.end, self.padding = map(int, file["special"])
        texts = [pieces[start:end] for start, end in zip((0, *ends[:-1]), ends, strict=True)]
        self.sentences, self.texts = texts[: len(self.asked)], texts[len(self.asked) :]
        self.lengths = np.array([len(each) + len(text) for each, text in zip(self.sentences, self.texts, strict=True)])

    def batch(self, chosen: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rows = [
            (
                [self.begin, *self.sentences[place], self.end, self.end, *self.texts[place], self.end],
                len(self.sentences[place]) + 2,
            )
            for place in chosen
        ]
        longest = max(len(ids) for ids, _first in rows)
        ids = torch.full((len(rows), longest), self.padding)
        second, mask = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        for row, (pieces, first) in enumerate(rows):
            ids[row, : len(pieces)] = torch.tensor(pieces)
            second[row, first : len(pieces)] = 1
            mask[row, : len(pieces)] = True
        return ids.to(DEVICE), second.to(DEVICE), mask.to(DEVICE)

    def batches(self, places: Any, chance: np.random.Generator) -> Iterator[Any]:
        """Yield batches without end, of sentences of about one length."""
        while True:
            order, found = chance.permutation(places), []
            for start in range(0, len(order), BATCH * ORDERED):
                part = order[start : start + BATCH * ORDERED]
                part = part[np.argsort(self.lengths[part], kind="stable")]
                found += [part[at : at + BATCH] for at in range(0, len(part) - BATCH + 1, BATCH)]
            chance.shuffle(found)
            yield from found


def learn(examples: Examples, reader: Reader, places: Any) -> None:
    weights = list(reader.parameters())
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY, betas=(0.9, 0.98))
    rise = STEPS // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / rise) * (1 - step / STEPS))
    batches = examples.batches(places, np.random.default_rng(SEED))
    reader.train()
    for _step, chosen in zip(range(STEPS), batches, strict=False):
        right = torch.from_numpy(examples.is_true[chosen]).float().to(DEVICE)
        said = reader(*examples.batch(chosen)).gather(1, torch.from_numpy(examples.asked[chosen])[:, None].to(DEVICE))
        loss = functional.binary_cross_entropy_with_logits(said[:, 0], right)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def rank(examples: Examples, reader: Reader, asked: int) -> float:
    """Return the area under the curve of the pairs that were not learned from: how often a true one has more than one
    that is not."""
    reader.eval()
    places = np.flatnonzero(~examples.is_learned & (examples.asked == asked))
    parts = [reader(*examples.batch(places[at : at + 128]))[:, asked].cpu() for at in range(0, len(places), 128)]
    logits, is_true = torch.cat(parts).numpy(), examples.is_true[places]
    return float((logits[is_true][:, None] > logits[~is_true][None, :]).mean())


def main(folder: Path, learned: Path | None = None) -> None:
    torch.manual_seed(SEED)
    examples = Examples(folder)
    with np.load(folder / "e5.npz") as file:
        reader = Reader({name: torch.from_numpy(file[name]).float() for name in file.files}).to(DEVICE)
    if learned is not None:
        with np.load(learned) as file:
            for name, parameter in reader.learnable().items():
                parameter.data = torch.from_numpy(file[name]).float().to(DEVICE)
    learn(examples, reader, np.flatnonzero(examples.is_learned))
    for asked, name in enumerate(("says", "planted")):
        print(f"Area under the curve, other sentences, {name}: {rank(examples, reader, asked):.3f}")
    found = {name: value.detach().half().cpu().numpy() for name, value in reader.learnable().items()}
    np.savez_compressed(folder / "adapted.npz", **found)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

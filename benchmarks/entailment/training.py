"""Learns the entailment model's weights with PyTorch: `python benchmarks/entailment/training.py FOLDER`, as a script.

It reads what `benchmarks.entailment.examples` wrote to FOLDER and needs torch and numpy alone, so it can run on another
machine: a graphics card takes some minutes. It writes `adapted.npz`, learned from all sentences, and
`claims_entailment.npz`: what models say that were learned without a sentence's passage, for the fit of the check.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, WIDE = 12, 384, 12, 1536
RANK, RATE, STEPS, BATCH, DROPPED, DECAY, SEED = 16, 5e-4, 500, 64, 0.2, 0.01, 1
NARROW = ("q", "k", "v", "ao", "fi", "fo")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Projection(nn.Module):
    """A projection that stays as it is, with a learned bias and the product of two narrow matrices added to it."""

    def __init__(self, weights: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", weights)
        self.b = nn.Parameter(bias)
        self.down = nn.Parameter(torch.randn(RANK, weights.shape[1]) / math.sqrt(weights.shape[1]))
        self.up = nn.Parameter(torch.zeros(weights.shape[0], RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weights, self.b) + (x @ self.down.T) @ self.up.T


class Layer(nn.Module):
    def __init__(self, begun: dict[str, torch.Tensor], number: int) -> None:
        super().__init__()
        self.parts = nn.ModuleDict(
            {name: Projection(begun[f"l{number}.{name}.w"], begun[f"l{number}.{name}.b"]) for name in NARROW}
        )
        self.aln, self.oln = (normalisation(begun, f"l{number}.{name}") for name in ("aln", "oln"))
        self.dropout = nn.Dropout(DROPPED)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows, length, _width = x.shape
        q, k, v = (self.parts[name](x).view(rows, length, HEADS, -1).transpose(1, 2) for name in "qkv")
        attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = self.aln(x + self.dropout(self.parts["ao"](attended.transpose(1, 2).reshape(rows, length, WIDTH))))
        wide = functional.gelu(self.parts["fi"](x))
        return self.oln(x + self.dropout(self.parts["fo"](wide)))


class Reader(nn.Module):
    def __init__(self, begun: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.register_buffer("words", begun["words"])
        self.register_buffer("places", begun["places"])
        self.ln = normalisation(begun, "emb.ln")
        self.both = nn.Parameter(torch.zeros(2, WIDTH))
        self.layers = nn.ModuleList(Layer(begun, number) for number in range(LAYERS))
        self.head, self.dropout = nn.Linear(WIDTH, 1), nn.Dropout(DROPPED)

    def forward(self, ids: torch.Tensor, second: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.ln(self.words[ids] + self.places[: ids.shape[1]] + self.both[second])
        for layer in self.layers:
            x = layer(x, mask)
        pooled = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(self.dropout(pooled))[:, 0].float()

    def learned(self) -> dict[str, Any]:
        """Return what was learned, by the names that `core.inference.entailment.model` reads."""
        found = {"parts": self.both, "head.w": self.head.weight, "head.b": self.head.bias}
        found |= {"emb.ln.w": self.ln.weight, "emb.ln.b": self.ln.bias}
        for number, layer in enumerate(self.layers):
            for name in NARROW:
                found |= {f"l{number}.{name}.{each}": getattr(layer.parts[name], each) for each in ("down", "up", "b")}
            for name in ("aln", "oln"):
                norm = getattr(layer, name)
                found |= {f"l{number}.{name}.w": norm.weight, f"l{number}.{name}.b": norm.bias}
        return {name: value.detach().half().cpu().numpy() for name, value in found.items()}


def normalisation(begun: dict[str, torch.Tensor], name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(WIDTH, eps=1e-12)
    norm.weight.data, norm.bias.data = begun[f"{name}.w"].clone(), begun[f"{name}.b"].clone()
    return norm


class Examples:
    """Pairs of a sentence and a text as pieces."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "examples.npz") as file:
            ends, pieces = file["ends"], file["pieces"]
            self.supported, self.folds, self.ids = file["supported"], file["folds"], file["ids"]
            self.begin, self.end, self.padding = map(int, file["special"])
        texts = [pieces[start:end] for start, end in zip((0, *ends[:-1]), ends, strict=True)]
        self.sentences, self.texts = texts[: len(self.ids)], texts[len(self.ids) :]

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


def learn(examples: Examples, begun: dict[str, torch.Tensor], places: Any) -> Reader:
    torch.manual_seed(SEED)
    chance = np.random.default_rng(SEED)
    reader = Reader(begun).to(DEVICE)
    weights = list(reader.parameters())
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY, betas=(0.9, 0.98))
    rise = STEPS // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step / rise) * (1 - step / STEPS))
    reader.train()
    waiting: list[int] = []
    for _step in range(STEPS):
        if len(waiting) < BATCH:
            waiting = list(chance.permutation(places))
        chosen, waiting = waiting[-BATCH:], waiting[:-BATCH]
        with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
            logits = reader(*examples.batch(chosen))
        right = torch.from_numpy(examples.supported[chosen]).float().to(DEVICE)
        loss = functional.binary_cross_entropy_with_logits(logits, right)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
    return reader.eval()


@torch.no_grad()
def judge(reader: Reader, examples: Examples, places: Any) -> Any:
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        parts = [reader(*examples.batch(places[at : at + 256])).float().cpu() for at in range(0, len(places), 256)]
    return torch.cat(parts).numpy()


def main(folder: Path) -> None:
    examples = Examples(folder)
    with np.load(folder / "e5.npz") as file:
        begun = {name: torch.from_numpy(file[name]).float() for name in file.files}
    judged = np.flatnonzero(examples.folds >= 0)
    logits = np.zeros(len(examples.ids), np.float32)
    for fold in range(examples.folds.max() + 1):
        own = np.flatnonzero(examples.folds == fold)
        reader = learn(examples, begun, np.flatnonzero(examples.folds != fold))
        logits[own] = judge(reader, examples, own)
    np.savez_compressed(folder / "claims_entailment.npz", ids=examples.ids[judged], logits=logits[judged])
    reader = learn(examples, begun, np.arange(len(examples.ids)))
    np.savez_compressed(folder / "adapted.npz", **reader.learned())


if __name__ == "__main__":
    main(Path(sys.argv[1]))

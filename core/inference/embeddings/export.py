"""Exports a sentence-transformers model (Reimers and Gurevych 2019) as a folder that runs without torch.

It needs the extra `sentence-transformers`. Models are of BERT's kind, among them XLM-RoBERTa, with the mean of all
pieces or the first one as the text's vector.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.hashing import fingerprint
from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.calibration import ENGLISH, GERMAN
from core.inference.embeddings.exported import DESCRIPTION, GRAPH, TOKENIZER, ExportedEmbedder
from core.inference.embeddings.minilm_package import NAMES
from core.inference.onnx.graph import Shape, Words, encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

#: RoBERTa's kind counts places from the one after that of the padding.
BERT, ROBERTA = ("bert",), ("roberta", "xlm-roberta", "camembert")
TEXTS = [text for examples in (ENGLISH, GERMAN) for example in examples for text in example]
#: A column is an outlier above this many times the 99th percentile of all columns' largest numbers.
OUTLIER = 1.5
INT8 = 127


@dataclass(frozen=True, slots=True)
class Exported:
    """The cosines of a folder's vectors to those of sentence-transformers, on questions and answers."""

    mean: float
    least: float
    texts: int


def export_model(source: Path, target: Path, *, question_prefix: str | None, passage_prefix: str | None) -> Exported:
    """Write the model of the folder `source` to the folder `target`, and compare the vectors of both.

    A prefix of None is the model's own prompt. Raises EmbeddingUnavailable, also for a model of another kind.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingUnavailable("Install the extra `sentence-transformers`: only an export needs it.") from error
    model = SentenceTransformer(str(source), device="cpu")
    prompts: Mapping[str, str] = model.prompts or {}
    question = prompts.get("query", "") if question_prefix is None else question_prefix
    passage = prompts.get("document") or prompts.get("passage", "") if passage_prefix is None else passage_prefix
    weights, pooling = _TorchWeights(model), _pooling(model)
    graph = encoder(weights, words=weights.words(), pooling=pooling)
    target.mkdir(parents=True, exist_ok=True)
    (target / GRAPH).write_bytes(graph)
    (target / TOKENIZER).write_text(model.tokenizer.backend_tokenizer.to_str(), "utf-8")
    description = {
        "name": source.name,
        "version": fingerprint(graph.hex()),
        "dimensions": weights.shape.width,
        "window": weights.shape.window,
        "question_prefix": question,
        "passage_prefix": passage,
    }
    (target / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False) + "\n", "utf-8")
    ours = ExportedEmbedder(target)
    asked = [question + text for text in TEXTS]
    reference = model.encode(asked, prompt="", normalize_embeddings=True, show_progress_bar=False)
    cosines = (ours.embed_questions(TEXTS) * reference).sum(axis=1)
    return Exported(float(cosines.mean()), float(cosines.min()), len(TEXTS))


def _pooling(model: "SentenceTransformer") -> str:
    """Return `mean` or `cls`; raise EmbeddingUnavailable for a model with other parts."""
    kinds = [type(module).__name__ for module in model]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise EmbeddingUnavailable(f"The model has the parts {', '.join(kinds)}: only a pooling can be exported.")
    pooling: Any = model[1]
    mode: str = pooling.pooling_mode
    if mode not in ("mean", "cls") or not pooling.include_prompt:
        raise EmbeddingUnavailable(f"Its pooling is {mode!r}: mean and cls over all pieces can be exported.")
    return mode


class _TorchWeights:
    """The weights of a network, by the names of `core.inference.onnx.graph.Weights`."""

    largest = INT8

    def __init__(self, model: "SentenceTransformer") -> None:
        transformer: Any = model[0]
        network = transformer.auto_model
        config = network.config
        if config.model_type not in BERT + ROBERTA or config.hidden_act != "gelu":
            raise EmbeddingUnavailable(
                f"The network is a {config.model_type} with {config.hidden_act}: those of BERT's kind with gelu can be "
                f"exported ({', '.join(BERT + ROBERTA)})."
            )
        self._tensors: dict[str, NDArray[np.float32]] = {
            name: tensor.detach().float().numpy() for name, tensor in network.state_dict().items()
        }
        self._first = config.pad_token_id + 1 if config.model_type in ROBERTA else 0
        places = config.max_position_embeddings - self._first
        self.shape = Shape(
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            feed_forward=config.intermediate_size,
            window=min(places, model.max_seq_length or places),
            epsilon=config.layer_norm_eps,
        )
        self.outliers: Mapping[str, Sequence[int]] = _outliers(model, network)

    def vector(self, name: str) -> "NDArray[np.float32]":
        return self._tensors[_torch_name(name)]

    def matrix(self, name: str, rows: int) -> "NDArray[np.float32]":
        return self._tensors[_torch_name(name)].reshape(rows, -1)

    def words(self) -> Words:
        words = self._tensors["embeddings.word_embeddings.weight"]
        scales = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / INT8
        places = self._tensors["embeddings.position_embeddings.weight"][self._first :][: self.shape.window]
        summed = places + self._tensors["embeddings.token_type_embeddings.weight"][0]
        return Words(np.rint(words / scales).astype(np.int8), scales.astype(np.float32), summed)


def _torch_name(name: str) -> str:
    layer, part, kind = name.split(".")
    ending = {"w": "weight", "b": "bias"}[kind]
    if layer == "emb":
        return f"embeddings.LayerNorm.{ending}"
    return f"encoder.layer.{layer[1:]}.{NAMES[part]}.{ending}"


def _outliers(model: "SentenceTransformer", network: Any) -> dict[str, Sequence[int]]:
    """Return the columns that are far larger than others while the network reads the texts of the calibration."""
    largest: dict[str, NDArray[np.float32]] = {}

    def watch(name: str) -> Any:
        def note(_module: object, inputs: tuple[Any, ...]) -> None:
            found = inputs[0].detach().abs().flatten(0, -2).max(dim=0).values.numpy()
            largest[name] = np.maximum(largest[name], found) if name in largest else found

        return note

    hooks = []
    for number, layer in enumerate(network.encoder.layer):
        products = {"qkv": layer.attention.self.query, "fi": layer.intermediate.dense, "fo": layer.output.dense}
        hooks += [module.register_forward_pre_hook(watch(f"l{number}.{name}")) for name, module in products.items()]
    for text in TEXTS:  # one by one: padding would count too
        model.encode([text], show_progress_bar=False)
    for hook in hooks:
        hook.remove()
    found = {name: np.flatnonzero(columns > OUTLIER * np.percentile(columns, 99)) for name, columns in largest.items()}
    return {name: columns.tolist() for name, columns in found.items() if len(columns)}

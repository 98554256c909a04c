"""Models of BERT's kind, among them XLM-RoBERTa, as ONNX graphs that multiply in int8, of torch's weights."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.inference.embeddings.calibration import TEXTS
from core.inference.embeddings.minilm_package import NAMES
from core.inference.onnx.graph import Shape, Words, encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

BERT, ROBERTA = ("bert",), ("roberta", "xlm-roberta", "camembert")
#: A column is an outlier above this many times the 99th percentile of all columns' largest numbers.
OUTLIER = 1.5
INT8 = 127


def int8_graph(model: "SentenceTransformer") -> bytes | None:
    """Return the graph of a model of BERT's kind that multiplies in int8; None for a model of another kind.

    Its texts' vectors are the mean of all pieces, or the first one.
    """
    pooling = _pooling(model)
    transformer: Any = model[0]
    network = transformer.auto_model
    if pooling is None or network.config.model_type not in BERT + ROBERTA or network.config.hidden_act != "gelu":
        return None
    weights = _TorchWeights(model, network)
    return encoder(weights, words=weights.words(), pooling=pooling)


def longest_text(model: "SentenceTransformer") -> int:
    """Return how many pieces a text may have."""
    transformer: Any = model[0]
    config = transformer.auto_model.config
    places: int = config.max_position_embeddings - first_place(config)
    return min(places, model.max_seq_length or places)


def first_place(config: Any) -> int:
    """Return the number of a text's first place; RoBERTa's kind counts from the one after that of the padding."""
    return config.pad_token_id + 1 if config.model_type in (*ROBERTA, "mpnet") else 0


def _pooling(model: "SentenceTransformer") -> str | None:
    """Return `mean` or `cls`; None for a model with other parts."""
    kinds = [type(module).__name__ for module in model]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        return None
    pooling: Any = model[1]
    mode: str = pooling.pooling_mode
    return mode if mode in ("mean", "cls") and pooling.include_prompt else None


class _TorchWeights:
    """The weights of a network, by the names of `core.inference.onnx.graph.Weights`."""

    largest = INT8

    def __init__(self, model: "SentenceTransformer", network: Any) -> None:
        config = network.config
        self._tensors: dict[str, NDArray[np.float32]] = {
            name: tensor.detach().float().numpy() for name, tensor in network.state_dict().items()
        }
        self._first = first_place(config)
        self.shape = Shape(
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            feed_forward=config.intermediate_size,
            window=longest_text(model),
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

"""Any sentence-transformers model as an ONNX graph, exported by torch with its weights as they are."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.onnx.graph import IDS, OUTPUT

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

#: Ids of the text that the network is traced with; how many there are is left open.
TRACED = range(2, 18)


def write_float_graph(model: "SentenceTransformer", path: Path) -> None:
    """Write the graph of all parts of a model: ids of one text (1, n) to its vector (1, dimensions).

    Raises EmbeddingUnavailable for a network that torch cannot export.
    """
    import torch

    class Whole(torch.nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> Any:
            return self.model({IDS: ids, "attention_mask": torch.ones_like(ids)})["sentence_embedding"]

    ids = torch.tensor([[number % len(model.tokenizer) for number in TRACED]])
    try:
        torch.onnx.export(
            Whole(),
            (ids,),
            path,
            input_names=[IDS],
            output_names=[OUTPUT],
            dynamic_shapes=({1: torch.export.Dim.DYNAMIC},),
            dynamo=True,
            external_data=True,
            verbose=False,
        )
    except (RuntimeError, ImportError) as error:
        reason = str(error).strip().splitlines()[0]
        raise EmbeddingUnavailable(f"Torch cannot export this model: {reason}") from error

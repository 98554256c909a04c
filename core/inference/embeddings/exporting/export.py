"""Exports a sentence-transformers model (Reimers and Gurevych 2019) as a folder that runs without torch.

It needs the extra `sentence-transformers`. A model of BERT's kind multiplies in int8 then; any other one is exported as
it is, by torch itself.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.calibration import TEXTS
from core.inference.embeddings.exported import DESCRIPTION, GRAPH, TOKENIZER, ExportedEmbedder
from core.inference.embeddings.exporting.float_graph import write_float_graph
from core.inference.embeddings.exporting.int8_graph import int8_graph, longest_text

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, slots=True)
class Exported:
    """The cosines of a folder's vectors to those of sentence-transformers, on questions and answers."""

    mean: float
    least: float
    texts: int
    is_int8: bool


def export_model(source: Path, target: Path, *, question_prefix: str | None, passage_prefix: str | None) -> Exported:
    """Write the model of the folder `source` to the folder `target`, and compare the vectors of both.

    A prefix of None is the model's own prompt. Raises EmbeddingUnavailable.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingUnavailable("Install the extra `sentence-transformers`: only an export needs it.") from error
    model = SentenceTransformer(str(source), device="cpu").eval()
    prompts: Mapping[str, str] = model.prompts or {}
    question = prompts.get("query", "") if question_prefix is None else question_prefix
    passage = prompts.get("document") or prompts.get("passage", "") if passage_prefix is None else passage_prefix
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        raise EmbeddingUnavailable("Its tokenizer is none of a network that reads texts, and cannot be exported.")
    target.mkdir(parents=True, exist_ok=True)
    (target / TOKENIZER).write_text(tokenizer.to_str(), "utf-8")
    graph = int8_graph(model)
    if graph:
        (target / GRAPH).write_bytes(graph)
    else:
        write_float_graph(model, target / GRAPH)
    description = {
        "name": source.name,
        "version": _digest(target),
        "dimensions": _dimensions(model),
        "window": longest_text(model),
        "question_prefix": question,
        "passage_prefix": passage,
    }
    (target / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False) + "\n", "utf-8")
    ours = ExportedEmbedder(target)
    asked = [question + text for text in TEXTS]
    reference = model.encode(asked, prompt="", normalize_embeddings=True, show_progress_bar=False)
    cosines = (ours.embed_questions(TEXTS) * reference).sum(axis=1)
    return Exported(float(cosines.mean()), float(cosines.min()), len(TEXTS), is_int8=graph is not None)


def _dimensions(model: "SentenceTransformer") -> int:
    dimensions: Any = model.get_sentence_embedding_dimension()
    return int(dimensions)


def _digest(folder: Path) -> str:
    """Return what changes with the weights: large ones lie in files of their own beside the graph."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob(f"{GRAPH}*")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]

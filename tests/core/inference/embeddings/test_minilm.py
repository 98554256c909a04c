"""The built-in English embedding model, and what must not be loaded before it is needed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from core.inference.embeddings.minilm import WINDOW, MiniLMEmbedder
from core.inference.embeddings.remote import SentenceTransformerEmbedder
from tests.servers import ROOT

TEXTS = [
    "How much is the semester contribution?",
    "Der Semesterbeitrag beträgt 318,40 Euro.",
    "a",
    "The library is open until midnight. " * 60,
    "",
    "🎓 – \n\t “quoted” {{7*7}}",
    "Where can I eat?",
    "When does the library close?",
    "x" * 3000,
]


def test_vectors_are_of_unit_length_and_in_the_order_of_the_texts() -> None:
    embedder = get_embedder()
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    assert np.diag(vectors @ backwards.T).min() > 0.98
    assert (vectors @ backwards.T).argmax(axis=1).tolist() == list(range(len(TEXTS)))


def test_a_text_alone_gets_the_vector_that_it_gets_among_others() -> None:
    embedder = get_embedder()
    texts = [text for text in TEXTS if 5 < len(text) < 2500]
    together = embedder.embed(texts)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    # Padding reaches the int8 scales, which are taken over a whole batch: alike, not equal.
    assert (together * alone).sum(axis=1).min() > 0.97
    assert (together @ alone.T).argmax(axis=1).tolist() == list(range(len(texts)))


def test_a_text_gets_the_same_vector_every_time() -> None:
    embedder = get_embedder()
    assert np.array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_close_meanings_have_close_vectors() -> None:
    asked, fee, food, closing = get_embedder().embed(
        ["What does a semester cost?", "Tuition fees", "The canteen's menu", "Opening hours of the library"]
    )
    assert asked @ fee > max(asked @ food, asked @ closing) + 0.2


def test_no_texts_give_no_vectors() -> None:
    assert get_embedder().embed([]).shape == (0, 384)


def test_tokens_are_counted_without_a_limit() -> None:
    embedder = get_embedder()
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("library") == 1
    assert embedder.count_tokens("The library is open.") == 5
    assert embedder.count_tokens("library " * 1000) == 1000
    assert embedder.count_tokens("library " * 1000) > WINDOW


def test_threads_share_one_embedder() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        embedders = {id(embedder) for embedder in pool.map(lambda _: get_embedder(), range(16))}
        vectors = list(pool.map(lambda _: get_embedder().embed(TEXTS[:1])[0], range(16)))
    assert len(embedders) == 1
    assert all(np.array_equal(vectors[0], vector) for vector in vectors)


def test_the_rewritten_model_is_made_once(tmp_path: object) -> None:
    MiniLMEmbedder(folder=tmp_path)  # type: ignore[arg-type]
    (made,) = tmp_path.iterdir()  # type: ignore[attr-defined]
    before = made.stat().st_mtime_ns
    MiniLMEmbedder(folder=tmp_path)  # type: ignore[arg-type]
    assert made.stat().st_mtime_ns == before


def test_a_model_whose_file_breaks_off_is_made_again(tmp_path: Path) -> None:
    vectors = MiniLMEmbedder(folder=tmp_path).embed(TEXTS[:2])
    (made,) = tmp_path.iterdir()
    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 2])
    assert np.array_equal(MiniLMEmbedder(folder=tmp_path).embed(TEXTS[:2]), vectors)
    assert made.read_bytes() == whole


def test_a_model_path_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingUnavailable, match="extra `sentence-transformers`"):
        SentenceTransformerEmbedder("/nowhere")


@pytest.mark.slow
def test_importing_tasks_and_doors_loads_nothing_heavy() -> None:
    heavy = ("onnxruntime", "onnx", "openai", "torch", "sentence_transformers", "tokenizers")
    program = (
        "import sys, django; django.setup(); import knowledge.tasks, faqs.tasks, chat.websocket.consumer, chat.api; "
        f"print(*[name for name in {heavy!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, ""), result.stderr

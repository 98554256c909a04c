"""Files of models that are made from a package: one that is broken is made again."""

from pathlib import Path

import pytest

from core.inference.onnx import cache


def read(file: Path) -> str:
    if (text := file.read_text()) != "whole":
        raise ValueError(text)
    return text


def test_a_broken_file_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_text("who")
    assert cache.load_made(file, lambda: b"whole", read) == "whole"
    assert file.read_text() == "whole"


def test_a_file_that_is_whole_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_text("whole")
    assert cache.load_made(file, lambda: pytest.fail("it is there"), read) == "whole"


def test_what_is_wrong_with_more_than_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="other"):
        cache.load_made(tmp_path / "model", lambda: b"other", read)


def test_a_broken_file_of_an_image_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model"
    file.write_text("who")
    monkeypatch.setattr(cache.os, "access", lambda _folder, _mode: False)
    with pytest.raises(ValueError, match="who"):
        cache.load_made(file, lambda: b"whole", read)
    assert file.read_text() == "who"

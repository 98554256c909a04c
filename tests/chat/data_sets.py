"""Public data that is not part of the project: tests that read it are extras, which skip themselves without it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("DATA_SETS", Path(__file__).parents[3] / "shared" / "data"))


def needs_data_sets(test: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a test as slow, and skip it if the data is missing."""
    is_missing = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the data sets: DATA_SETS names their folder")
    return pytest.mark.slow(is_missing(test))

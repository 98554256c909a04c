"""Public data that is not part of the project: tests that read it are extras, which skip themselves without it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("DATA_SETS", Path(__file__).parents[3] / "shared" / "data"))
MISSING = "needs the data sets: DATA_SETS names their folder"
#: For tests in a browser, which are no slow ones: its loop would run on under the slow ones.
skipped_without_data = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)


def needs_data_sets(test: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a test as slow, and skip it if the data is missing."""
    return pytest.mark.slow(skipped_without_data(test))

"""Public data that is not part of the project: tests that read it are skipped where it is not there."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("DATA_SETS", Path(__file__).parents[3] / "shared" / "data"))

needs_data_sets = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the data sets: DATA_SETS names their folder")

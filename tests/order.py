"""Pytest plugin (`-p tests.order`): the files that are given most time begin first, so that no worker waits at the end
for a long one. What a file is given is its longest `timeout`; of those with the same, the one of most tests is first.
Faults come after all others: they are left out first where time runs out (`tests.time_left`).
"""

from collections import Counter
from pathlib import Path

import pytest

FAULTS = Path(__file__).parent / "faults"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Counter(item.path for item in items)
    seconds = dict.fromkeys(tests, 0)
    for item in items:
        if limit := item.get_closest_marker("timeout"):
            seconds[item.path] = max(seconds[item.path], limit.args[0])
    items.sort(key=lambda item: (FAULTS in item.path.parents, -seconds[item.path], -tests[item.path]))

"""Pytest plugin (`-p tests.order`): in which order the files begin.

What a file is given is its longest `timeout`. Of the usual tests the files that are given most begin first, so that no
worker waits at the end for a long one. Of the extras those that are given least begin first: where time runs out
(`tests.time_left`), few long ones are left out instead of many short ones. Faults come after all others.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.time_left import is_extra

FAULTS = Path(__file__).parent / "faults"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Counter(item.path for item in items)
    seconds = dict.fromkeys(tests, 0)
    extras = {item.path for item in items if is_extra(item)}
    for item in items:
        if limit := item.get_closest_marker("timeout"):
            seconds[item.path] = max(seconds[item.path], limit.args[0])

    def rank(item: pytest.Item) -> tuple[bool, bool, int, int]:
        given = seconds[item.path]
        later = item.path in extras
        return FAULTS in item.path.parents, later, given if later else -given, -tests[item.path]

    items.sort(key=rank)

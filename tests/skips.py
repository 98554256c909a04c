"""Pytest plugin (`-p tests.skips`): a test that skips itself fails, unless it is marked as an extra.

What a fresh machine skips is not checked there, and nobody notices.
"""

from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

EXTRAS = ("e2e", "slow", "llm", "torch")
TODO = f"no test may skip itself: make it run everywhere, or mark it as one of {', '.join(EXTRAS)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_expected = hasattr(report, "wasxfail") or any(item.get_closest_marker(name) for name in EXTRAS)
    return report if is_expected else _failed(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Report a module that skips itself as a whole: it never says which of its tests are extras."""
    return _failed((yield))


def _failed(report: Report) -> Report:
    if report.skipped:
        report.outcome, report.longrepr = "failed", f"{TODO}\n{report.longreprtext}"
    return report

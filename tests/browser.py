"""Pytest plugin (`-p tests.browser`): one Chromium for all browser tests of a process.

One fixture for all folders, since Playwright runs once in a thread.
"""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def find_chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def chromium_path() -> str:
    path = find_chromium()
    assert path, "the browser tests need Chromium: install the package chromium"
    return path


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright  # other tests need not wait for it

    path = chromium_path()
    # Its loop runs in this thread from here on, where Django takes work on the database for a mistake.
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--no-first-run", *QUIET])
        yield chromium
        chromium.close()

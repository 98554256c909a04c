"""A browser that cannot start is told of, and not tried for each page."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from knowledge.ingest.crawler.frontier import Scope
from knowledge.ingest.crawler.messages import CrawlPlan
from knowledge.ingest.crawler.rendering.browser import Browser
from knowledge.ingest.crawler.rendering.resources import Resource
from knowledge.ingest.html.types import NoPage

SHELL = Resource(200, "text/html", b"<div id=app></div><script>1</script>")


async def download(_request: Any) -> Any:
    raise AssertionError("nothing is to be loaded")


def failures(program: Path) -> list[str]:
    """Return what two pages say in one crawl."""
    plan = CrawlPlan(("https://www.uni.example/",), "MarcelCMS", str(program.parent), browser=str(program))

    async def render() -> list[str]:
        browser, said = Browser(plan, Scope(plan), download), []
        for path in ("one", "two"):
            with pytest.raises(NoPage) as caught:
                await browser.render(f"https://www.uni.example/{path}", SHELL)
            said.append(str(caught.value))
        return said

    return asyncio.run(render())


def test_without_the_extra_the_pages_say_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    first, second = failures(tmp_path / "chromium")
    assert first.endswith("Playwright is not installed")
    assert second == first


def test_a_browser_that_ends_at_once_is_started_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program, started = tmp_path / "chromium", tmp_path / "started"
    program.write_text(f"#!/bin/sh\necho once >> {started}\necho 'No usable sandbox! It is off.' >&2\nexit 1\n")
    program.chmod(0o755)
    first, second = failures(program)
    assert first.endswith("No usable sandbox! It is off.")
    assert second == first
    assert started.read_text() == "once\n"

"""A real browser before the real stack: `make run`'s program, with the demo university."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.fakes.llm import FakeLLM
from tests.runtime.processes import ROOT
from tests.runtime.stack import Run
from tests.servers import wait_until

#: Screenshots of what the tests saw.
ARTEFACTS = ROOT / "tests" / "artefacts"


@pytest.fixture(scope="session")
def llm() -> Iterator[FakeLLM]:
    fake = FakeLLM()
    yield fake
    fake.close()


@contextmanager
def start(**variables: str) -> Iterator[Run]:
    """Start a stack, which ends with the block, also where filling it fails."""
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-e2e-"))
    folder.chmod(0o711)
    with ExitStack() as parts:
        parts.callback(shutil.rmtree, folder, ignore_errors=True)
        run = Run(folder, QUESTIONS_PER_MINUTE="1000", **variables)
        parts.callback(run.end)
        yield run


@pytest.fixture(scope="session")
def quoting() -> Iterator[Run]:
    """Provide the stack as a newcomer starts it, without a language model."""
    with start() as run:
        yield run


@pytest.fixture(scope="session")
def writing(llm: FakeLLM) -> Iterator[Run]:
    """Provide the stack with a language model that says what the test tells it to."""
    with start(LLM_BASE_URL=llm.base_url, LLM_MODEL="fake", LLM_FIRST_TOKEN_SECONDS="5") as run:
        yield run


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Provide a new visitor's page; whatever goes wrong in it fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert problems == []


def keep(page: Page, name: str) -> None:
    """Save a screenshot for people to look at."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def drawn(page: Page) -> None:
    """Wait until each chart is on its canvas. Asked from outside: what would poll in the page is forbidden there."""
    charts = "[...document.querySelectorAll('canvas')].every(each => window.Chart && Chart.getChart(each))"
    wait_until(lambda: page.evaluate(charts))
    page.wait_for_timeout(1_000)


def violations(page: Page) -> list[str]:
    """Provide what axe finds wrong by WCAG 2.2 AA."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}}).response["violations"]
    return [f"{rule['id']}: {[node['html'][:120] for node in rule['nodes']]}" for rule in found]

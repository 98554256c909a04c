"""The widget's source, and the widget in Chromium before a stand-in for the service."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from tests.widget.toolchain import WIDGET, node_folder, with_packages


@pytest.fixture(scope="session")
def packages() -> dict[str, str]:
    """Return the environment to run Node in, with the widget's packages installed."""
    return with_packages()


@dataclass(frozen=True)
class Stage:
    """The stand-in service, and the page of another origin that embeds the widget."""

    service: str
    page: str

    def tell(self, what: str) -> None:
        urlopen(f"{self.service}/dev/{what}").read()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def staged() -> Iterator[Stage]:
    """Run the stand-in service."""
    ports = free_port(), free_port()
    command = [node_folder() / "node", "dev/server.mjs", *map(str, ports)]
    with subprocess.Popen(command, cwd=WIDGET, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert "service" in process.stdout.readline()
            yield Stage(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}/")
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    with staged() as running:
        yield running


class Student:
    """A visitor of the university's page, and their hands."""

    def __init__(self, context: BrowserContext, stage: Stage) -> None:
        self.context, self.stage = context, stage
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)

    def goes_to(self, query: str = "") -> "Student":
        self.page.goto(f"{self.stage.page}?{query}")
        return self

    def opens(self, query: str = "") -> "Student":
        self.goes_to(query)
        if "mode=inline" not in query:
            self("launcher").click()
        return self

    def enters(self, query: str = "") -> "Student":
        self.opens(query)
        self("consent-agree").click()
        self("question").wait_for()
        return self

    def __call__(self, name: str) -> Locator:
        return self.page.locator(f'[data-test="{name}"]')

    @property
    def answers(self) -> Locator:
        return self.page.locator('[data-test="message"][data-role="assistant"]')

    def asks(self, text: str, status: str | None = "complete") -> Locator:
        """Asks, and gives the answer; waits until it has that status, or until it begins."""
        before = self.answers.count()
        self("question").fill(text)
        self("question").press("Enter")
        answer = self.answers.nth(before)
        answer.wait_for()
        if status is not None:
            self.page.locator(f'[data-role="assistant"][data-status="{status}"] >> nth={before}').or_(
                answer.and_(self.page.locator(f'[data-status="{status}"]'))
            ).last.wait_for()
            assert answer.get_attribute("data-status") == status
        return answer

    def stored(self) -> int:
        return int(self.page.evaluate("localStorage.length + sessionStorage.length"))


@pytest.fixture
def student(browser: Browser, stage: Stage, request: pytest.FixtureRequest) -> Iterator[Student]:
    """Return a new visitor; what goes wrong on their page fails the test, unless the test expects it."""
    marker = request.node.get_closest_marker("parametrize")
    options = request.node.callspec.params.get("options", {}) if marker else {}
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **options})
    visitor = Student(context, stage)
    yield visitor
    context.close()
    unexpected = [text for text in visitor.problems if not re.search(r"WebSocket|Failed to load|ERR_", text)]
    assert unexpected == []

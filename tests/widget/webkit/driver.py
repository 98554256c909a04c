"""WebKit as Debian has it (webkit2gtk-driver), driven over HTTP, before a screen that nobody sees (xvfb)."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.e2e.hands import Hands, Refused
from tests.servers import wait_until
from tests.widget.conftest import free_port

#: Debian's browser of that name belongs to the library, not to the path.
BROWSERS = "*/webkit2gtk-4.1/MiniBrowser"
#: The addresses of the commands, of those that this folder gives.
PATHS = {
    "WebDriver:ExecuteScript": "execute/sync",
    "WebDriver:Navigate": "url",
    "WebDriver:ElementClick": "element/{id}/click",
    "WebDriver:ElementSendKeys": "element/{id}/value",
    "WebDriver:PerformActions": "actions",
}


class WebKit(Hands):
    """A new WebKit without a past, and a visitor's hands in it."""

    def __init__(self, *, driver: str, screen: str, browser: str) -> None:
        reading, writing = os.pipe()
        command = [screen, "-displayfd", str(writing), "-screen", "0", "1440x1000x24", "-nolisten", "tcp"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._processes = [subprocess.Popen(command, pass_fds=(writing,), **quiet)]
        os.close(writing)
        with os.fdopen(reading) as told:
            display = told.readline().strip()
        port = free_port()
        environment = {**os.environ, "DISPLAY": f":{display}", "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C.UTF-8"}
        self._processes.append(subprocess.Popen([driver, f"--port={port}"], env=environment, **quiet))
        self._address = f"http://127.0.0.1:{port}"
        wait_until(self._is_there)
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        self._session = self._asks("session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def end(self) -> None:
        self._asks(f"session/{self._session}", method="DELETE")
        for process in reversed(self._processes):
            process.terminate()
            process.wait()

    def command(self, name: str, **parameters: Any) -> Any:
        path = PATHS[name].format(**parameters)
        return {"value": self._asks(f"session/{self._session}/{path}", parameters)}

    def _is_there(self) -> bool:
        try:
            return bool(self._asks("status", method="GET")["ready"])
        except OSError:
            return False

    def _asks(self, path: str, body: Any = None, method: str = "POST") -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = Request(f"{self._address}/{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except HTTPError as refusal:
            raise Refused(f"{path}: {json.load(refusal)['value']}") from refusal


@pytest.fixture
def webkit() -> Iterator[WebKit]:
    driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    browser = next(Path("/usr/lib").glob(BROWSERS), None)
    if driver is None or screen is None or browser is None:
        pytest.skip("no WebKit here: install the packages webkit2gtk-driver and xvfb")
    started = WebKit(driver=driver, screen=screen, browser=str(browser))
    try:
        yield started
    finally:
        started.end()

"""Firefox as Debian has it, driven by its own protocol (Marionette): Playwright drives only a build of its own.

The commands are those of W3C WebDriver, sent as JSON over one socket.
"""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008"}
SECONDS = 20.0
PREFERENCES = {
    "marionette.port": 0,
    "intl.accept_languages": "en-GB",
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
#: All elements that a test names, also in open shadow trees.
FIND = """
const found = [];
const walk = root => { for (const e of root.querySelectorAll("*")) {
  if (e.matches(arguments[0])) found.push(e); if (e.shadowRoot) walk(e.shadowRoot); } };
walk(document);
"""
SHOWN = "found.filter(e => e.checkVisibility({visibilityProperty: true}))"
#: Scripts and policies that failed in a page of a web server.
PROBLEMS = """
return Services.console.getMessageArray().filter(m => m instanceof Ci.nsIScriptError && /^http/.test(m.sourceName)
  && !(m.flags & Ci.nsIScriptError.warningFlag)).map(m => m.errorMessage);
"""


class Refused(Exception):
    """Firefox says that it cannot do what was asked of it."""


class Firefox:
    """A new Firefox with an empty profile, and a visitor's hands in it."""

    def __init__(self, program: str, folder: Path) -> None:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        (folder / "user.js").write_text("\n".join(lines))
        command = [program, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
        self._process = subprocess.Popen(
            [*command, "--profile", str(folder), "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        port = folder / "MarionetteActivePort"
        wait_until(lambda: port.exists() and port.read_text().strip() != "", 60)
        self._socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=60)
        self._stream = self._socket.makefile("rb")
        self._read()
        self._number = 0
        self.command("WebDriver:NewSession")

    def end(self) -> None:
        self._stream.close()
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def _read(self) -> Any:
        size = b""
        while (letter := self._stream.read(1)) != b":":
            assert letter, "Firefox ended"
            size += letter
        return json.loads(self._stream.read(int(size)))

    def command(self, name: str, **parameters: Any) -> Any:
        self._number += 1
        text = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(b"%d:%b" % (len(text), text))
        _kind, _number, error, result = self._read()
        if error:
            raise Refused(f"{name}: {error['error']}: {error['message']}")
        return result

    def script(self, script: str, *arguments: Any) -> Any:
        return self.command("WebDriver:ExecuteScript", script=script, args=arguments)["value"]

    def problems(self) -> list[str]:
        self.command("Marionette:SetContext", value="chrome")
        found: list[str] = self.script(PROBLEMS)
        self.command("Marionette:SetContext", value="content")
        return found

    def goes_to(self, address: str) -> None:
        self.command("WebDriver:Navigate", url=address)

    def reads(self, css: str, what: str) -> Any:
        """Return what that JavaScript expression says of `shown`, the elements in sight that match."""
        return self.script(f"{FIND} const shown = {SHOWN}; return {what};", css)

    def count(self, css: str) -> int:
        return int(self.reads(css, "shown.length"))

    def text(self, css: str) -> str:
        return str(self.reads(css, "shown.map(e => e.innerText).join('\\n')"))

    def waits(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"it did not happen in time: {what}"
            time.sleep(0.1)

    def sees(self, css: str, text: str = "") -> None:
        self.waits(lambda: self.count(css) > 0 and text in self.text(css), f"{css} {text}")

    def misses(self, css: str) -> None:
        self.waits(lambda: self.count(css) == 0, f"no {css}")

    def clicks(self, css: str) -> None:
        """Click the last that matches, as soon as it can be used."""
        self.waits(lambda: bool(self.reads(css, "shown.length && !shown.at(-1).disabled")), f"usable {css}")
        self.command("WebDriver:ElementClick", id=self.reads(css, "shown.at(-1)")[ELEMENT])

    def types(self, css: str, text: str) -> None:
        self.sees(css)
        self.command("WebDriver:ElementSendKeys", id=self.reads(css, "shown.at(-1)")[ELEMENT], text=text)

    def presses(self, *names: str) -> None:
        """Press keys together, on whatever has the focus."""
        keys = [KEYS.get(name, name) for name in names]
        down = [{"type": "keyDown", "value": key} for key in keys]
        up = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.command("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": [*down, *up]}])

    def focused(self, css: str) -> bool:
        return bool(self.reads(css, "shown.some(e => e.getRootNode().activeElement === e)"))


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox here: install the package firefox-esr")
    (tmp_path / "profile").mkdir()
    started = Firefox(program, tmp_path / "profile")
    try:
        yield started
        assert started.problems() == []
    finally:
        started.end()

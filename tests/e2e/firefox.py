"""Firefox as Debian has it, driven by its own protocol (Marionette): Playwright drives only a build of its own.

The commands are those of W3C WebDriver, sent as JSON over one socket.
"""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.e2e.hands import Hands, Refused
from tests.servers import wait_until

PREFERENCES = {
    "marionette.port": 0,
    "intl.accept_languages": "en-GB",
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "browser.helperApps.neverAsk.saveToDisk": "text/calendar,text/html",
}
#: Scripts and policies that failed in a page of a web server.
PROBLEMS = """
return Services.console.getMessageArray().filter(m => m instanceof Ci.nsIScriptError && /^http/.test(m.sourceName)
  && !(m.flags & Ci.nsIScriptError.warningFlag)).map(m => m.errorMessage);
"""
AXE_RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
CHECK = "const [options, done] = arguments; axe.run(options).then(found => done(found.violations))"


class Firefox(Hands):
    """A new Firefox with an empty profile, and a visitor's hands in it."""

    def __init__(self, program: str, folder: Path) -> None:
        self.downloads = folder / "downloads"
        self.downloads.mkdir()
        preferences = {**PREFERENCES, "browser.download.folderList": 2, "browser.download.dir": str(self.downloads)}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
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

    def violations(self) -> list[str]:
        """Return what axe finds wrong by WCAG 2.2 AA."""
        options = {"runOnly": AXE_RULES}
        found = self.command("WebDriver:ExecuteAsyncScript", script=f"{AXE_SCRIPT};{CHECK}", args=[options])["value"]
        return [f"{rule['id']}: {[node['html'][:120] for node in rule['nodes']]}" for rule in found]

    def downloaded(self) -> str:
        """Return the text of the only file that is saved, as soon as it is, and remove it."""
        wait_until(lambda: len(list(self.downloads.iterdir())) == 1 and not list(self.downloads.glob("*.part")), 20)
        (file,) = self.downloads.iterdir()
        text = file.read_text(encoding="utf-8")
        file.unlink()
        return text

    def goes_offline(self, is_offline: bool) -> None:
        self._in_the_browser("Services.io.offline = arguments[0]", is_offline)

    def problems(self) -> list[str]:
        found: list[str] = self._in_the_browser(PROBLEMS)
        return found

    def _in_the_browser(self, script: str, *arguments: Any) -> Any:
        """Run a script with the rights of the browser itself."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.script(script, *arguments)
        finally:
            self.command("Marionette:SetContext", value="content")


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

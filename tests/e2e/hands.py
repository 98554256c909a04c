"""A visitor's hands in a browser that is driven by the commands of W3C WebDriver, whatever way they take to it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008"}
SECONDS = 20.0
#: All elements that a test names, also in open shadow trees.
FIND = """
const found = [];
const walk = root => { for (const e of root.querySelectorAll("*")) {
  if (e.matches(arguments[0])) found.push(e); if (e.shadowRoot) walk(e.shadowRoot); } };
walk(document);
"""
SHOWN = "found.filter(e => e.checkVisibility({visibilityProperty: true}))"


class Refused(Exception):
    """The browser says that it cannot do what was asked of it."""


class Hands(ABC):
    @abstractmethod
    def command(self, name: str, **parameters: Any) -> Any:
        """Return what the browser replies to the command of that name. Raise Refused."""

    def script(self, script: str, *arguments: Any) -> Any:
        return self.command("WebDriver:ExecuteScript", script=script, args=arguments)["value"]

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

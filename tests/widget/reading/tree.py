"""What a screen reader has to read: the accessibility tree of a page, as Chromium and as Firefox give it to the system.

One line for each thing that is read: `heading 3: You`, `button: Helpful, not pressed`, `text [de]: Ein Platz ist frei.`
The language stands where it is another than the chat's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

from tests.e2e.firefox import Firefox

#: The nearest language of a node, out of shadow trees too.
LANGUAGE = """function () {
  for (let node = this; node; node = node.parentNode ?? node.host) if (node.lang) return node.lang;
  return "";
}"""
#: The tree of the document in the first tab, with Firefox's own names of roles.
FIREFOX_TREE = """
const service = Cc["@mozilla.org/accessibilityService;1"].getService(Ci.nsIAccessibilityService);
const [PRESSED, CHECKED, EXPANDED, COLLAPSED] = [0x8, 0x10, 0x200, 0x400];
const read = one => {
  const state = {};
  one.getState(state, {});
  const attribute = name => { try { return one.attributes.getStringProperty(name) } catch { return "" } };
  const level = Number(attribute("level"));
  const children = [];
  for (let child = one.firstChild; child; child = child.nextSibling) children.push(read(child));
  const role = attribute("xml-roles") === "log" ? "log" : service.getStringRole(one.role);
  return { role, name: one.name ?? "", level, language: one.language, children,
    pressed: Boolean(state.value & (PRESSED | CHECKED)), expanded: Boolean(state.value & EXPANDED),
    collapsed: Boolean(state.value & COLLAPSED) };
};
const page = service.getAccessibleFor(gBrowser.selectedBrowser)?.firstChild;
return page ? read(page) : null;
"""
ROLES = {
    "StaticText": "text",
    "text leaf": "text",
    "statictext": "text",
    "pushbutton": "button",
    "button": "button",
    "toggle button": "button",
    "checkbutton": "checkbox",
    "grouping": "group",
    "LabelText": "label",
    "entry": "field",
    "textbox": "field",
    "region": "region",
    "listitem": "item",
} | {
    name: name
    for name in ("dialog", "heading", "link", "list", "table", "row", "blockquote", "group", "log", "label", "checkbox")
}
#: What only groups words in a line.
INLINE = ("strong", "superscript", "text container", "generic", "")
SKIPPED = ("ListMarker", "InlineTextBox", "listitem marker", "LineBreak", "whitespace")


@dataclass
class Node:
    role: str
    name: str = ""
    level: int = 0
    language: str = ""
    pressed: bool | None = None
    expanded: bool | None = None
    children: "list[Node]" = field(default_factory=list)


def chromium(page: Page) -> Node:
    """Return the tree of the page as Chromium gives it."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    given = session.send("Accessibility.getFullAXTree")["nodes"]
    known = {one["nodeId"]: one for one in given}

    def language(one: dict[str, Any]) -> str:
        found = session.send("DOM.resolveNode", {"backendNodeId": one["backendDOMNodeId"]})["object"]["objectId"]
        asked = {"functionDeclaration": LANGUAGE, "objectId": found, "returnByValue": True}
        return str(session.send("Runtime.callFunctionOn", asked)["result"]["value"])

    def read(one: dict[str, Any]) -> Node:
        role = "" if one["ignored"] else one["role"]["value"]
        said = {each["name"]: each["value"].get("value") for each in one.get("properties", [])}
        node = Node(role, one.get("name", {}).get("value", ""), int(said.get("level") or 0))
        if "pressed" in said or "checked" in said:
            node.pressed = "true" in (said.get("pressed"), said.get("checked"))
        node.expanded = said.get("expanded")
        if ROLES.get(role) in ("text", "link"):
            node.language = language(one)
        node.children = [read(known[child]) for child in one.get("childIds", []) if child in known]
        return node

    tree = read(given[0])
    session.detach()
    return tree


def firefox(browser: Firefox) -> Node:
    """Return the tree of the page as Firefox gives it."""

    def read(one: dict[str, Any]) -> Node:
        is_toggle = one["role"] in ("toggle button", "checkbutton")
        opens = one["expanded"] or one["collapsed"]
        node = Node(one["role"], one["name"], one["level"] if one["role"] == "heading" else 0, one["language"])
        node.pressed = one["pressed"] if is_toggle else None
        node.expanded = one["expanded"] if opens else None
        node.children = [read(child) for child in one["children"]]
        return node

    browser.command("Marionette:SetContext", value="chrome")
    given = browser.script(FIREFOX_TREE)
    browser.command("Marionette:SetContext", value="content")
    return read(given) if given else Node("")


def lines(tree: Node, spoken: str) -> list[str]:
    """Return what is read of the chat, a line each; nothing before it is open. `spoken` is the chat's own language."""
    dialog = next((found for found in walk(tree) if ROLES.get(found.role) == "dialog"), Node(""))
    read = [re.sub(r"\b\d\d:\d\d\b", "TIME", line) for line in _read(dialog, spoken)]
    # What names a group stands in it once more.
    return [line for before, line in pairwise(["", *read]) if line != f"text: {before.partition(': ')[2]}"]


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from walk(child)


def _read(node: Node, spoken: str) -> Iterator[str]:
    """Join the text of what stands in one line, up to the next thing that is more than text."""
    words, language = "", spoken

    def text() -> Iterator[str]:
        said = " ".join(words.split())
        if re.search(r"\w", said):
            yield f"text{f' [{language}]' if language != spoken else ''}: {said}"

    for child in _flat(node):
        role = ROLES.get(child.role, "")
        if role == "text" and child.language in (language, ""):
            words += child.name
            continue
        yield from text()
        words, language = (child.name, child.language or spoken) if role == "text" else ("", spoken)
        if role != "text":
            yield from _one(child, role, spoken)
    yield from text()


def _flat(node: Node) -> Iterator[Node]:
    """Give the children, with those of what only groups words in a line in its place."""
    for child in node.children:
        if child.role in SKIPPED:
            continue
        if child.role in INLINE:
            yield from _flat(child)
        else:
            yield child


def _one(node: Node, role: str, spoken: str) -> Iterator[str]:
    marked = f" [{node.language}]" if node.language not in ("", spoken) else ""
    if role in ("button", "checkbox"):
        on, off = ("pressed", "not pressed") if role == "button" else ("checked", "not checked")
        pressed = "" if node.pressed is None else f", {on if node.pressed else off}"
        expanded = "" if node.expanded is None else ", expanded" if node.expanded else ", collapsed"
        yield f"{role}: {node.name}{pressed}{expanded}"
    elif role == "heading":
        yield f"heading {node.level}: {node.name}"
    elif role in ("link", "field"):
        yield f"{role}{marked}: {node.name}"
    elif role == "label":  # what it names says it
        yield from (line for line in _read(node, spoken) if not line.startswith("text"))
    else:
        if role == "list":
            items = sum(ROLES.get(child.role) == "item" for child in _flat(node))
            yield f"list of {items}{f': {node.name}' if node.name else ''}"
        elif role in ("table", "row", "blockquote"):
            yield role
        elif role in ("group", "region", "log") and node.name:
            yield f"{role}: {node.name}"
        yield from _read(node, spoken)

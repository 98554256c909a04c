"""Accordions and tabs: what a click would show is text of the page, and the title to click is its heading."""

import re

from lxml import etree

from knowledge.ingest.html.tree import HEADINGS, Element, attribute, elements, holds, hollow, named, text_of

#: Ways to say which element a click shows.
TARGETS = ("aria-controls", "data-bs-target", "data-target", "href")
TOGGLES = ("data-toggle", "data-bs-toggle", "aria-expanded", "aria-controls")
TABS = re.compile("tabs?|tablist|tablinks")
#: Titles that name nothing.
SPEECHLESS = frozenset(
    {"mehr", "mehr anzeigen", "weiterlesen", "aufklappen", "ausklappen", "details", "more", "show more", "read more"}
)
#: Parts that a click opens but that are no content.
ELSEWHERE = re.compile("menu|modal|nav|navbar|dropdown|search|offcanvas")


def open_panels(page: Element) -> set[Element]:
    """The elements that a click would show, each with its title in front or inside."""
    by_id = {attribute(element, "id"): element for element in elements(page) if element.get("id")}
    opened: set[Element] = set()
    for trigger in list(elements(page, "a", "button", "div", "li", "span", "label")):
        panel = _target(trigger, by_id)
        if panel is None or named(panel, ELSEWHERE) or panel.tag in {"nav", "dialog", "form"}:
            continue
        titled = panel in opened
        opened.add(panel)
        text = text_of(trigger)
        if titled or any(True for _ in trigger.iterancestors("summary", *HEADINGS)) or holds(trigger, *HEADINGS):
            continue
        if _is_tab(trigger):
            hollow(trigger)
            if text and not any(text_of(heading) == text for heading in panel[:2] if heading.tag in HEADINGS):
                title = etree.Element("summary")
                title.text, title.tail, panel.text = text, panel.text, None
                panel.insert(0, title)
        elif not text or text.casefold() in SPEECHLESS:
            hollow(trigger)
        else:
            trigger.tag = "summary"
    for button in list(elements(page, "button")):
        if button not in opened and not any(True for _ in button.iterancestors("summary", *HEADINGS)):
            hollow(button)
    return opened


def _target(trigger: Element, by_id: dict[str, Element]) -> Element | None:
    if not _is_tab(trigger) and not any(trigger.get(name) is not None for name in TOGGLES):
        return None
    for name in TARGETS:
        value = attribute(trigger, name).strip()
        if value and (name == "aria-controls" or value.startswith("#")):
            panel = by_id.get(value.removeprefix("#").split(" ")[0])
            if panel is not None and not any(ancestor is panel for ancestor in trigger.iterancestors()):
                return panel
    return None


def _is_tab(trigger: Element) -> bool:
    if attribute(trigger, "role") == "tab":
        return True
    if trigger.tag != "a" or not attribute(trigger, "href").startswith("#"):
        return False
    near = list(zip(range(3), trigger.iterancestors(), strict=False))
    return any(attribute(ancestor, "role") == "tablist" or named(ancestor, TABS) for _, ancestor in near)

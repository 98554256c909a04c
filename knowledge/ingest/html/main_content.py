"""The main content of a page: the landmark that holds it, less what is named or hidden as something else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from lxml import etree

from knowledge.ingest.html.dom import HEADINGS, Element, attribute, clean, elements, holds, hollow, named, read_text

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
    """Open the elements that a click would show, each with its title in front or inside, and return them."""
    by_id = {attribute(element, "id"): element for element in elements(page) if element.get("id")}
    opened: set[Element] = set()
    for trigger in list(elements(page, "a", "button", "div", "li", "span", "label")):
        panel = _target(trigger, by_id)
        if panel is None or named(panel, ELSEWHERE) or panel.tag in {"nav", "dialog", "form"}:
            continue
        titled = panel in opened
        opened.add(panel)
        text = read_text(trigger)
        if titled or any(True for _ in trigger.iterancestors("summary", *HEADINGS)) or holds(trigger, *HEADINGS):
            continue
        if _is_tab(trigger):
            hollow(trigger)
            if text and not any(read_text(heading) == text for heading in panel[:2] if heading.tag in HEADINGS):
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


PROGRAMS = ("script", "style", "noscript", "template", "head", "iframe", "svg", "canvas", "object", "embed", "math")
CONTROLS = ("nav", "audio", "video", "select", "datalist", "textarea", "input", "dialog")
#: Parts that say what they are; `complementary` may hold a contact and is judged by its links.
ROLES = re.compile("navigation|banner|contentinfo|search|(?:alert)?dialog|menu(?:bar)?|toolbar")
#: Names (words of class or id) of what is never content …
BOILERPLATE = re.compile(
    "breadcrumbs?|rootline|skip(?:links?)?|pagination|pager|shar(?:e|ing)|socialshare|shariff|addthis|footer|linenos"
    "|modal|docnav|navheader|navfooter"
)
#: … and of what is none if it is mostly links.
LINKED = re.compile(
    "nav.*|.*nav|(?:sub|mega)?menu|(?:sphinx)?sidebar|related|social|langs?|languages?|header|banner|topbar|tags|toolbar"
    "|search"
)
COOKIES = re.compile("cookies?|(?:cookie)?consent|cookiebanner")
BANNERS = re.compile("(?:cookie)?banner|bar|notice|hint|overlay|popup|layer|manager|message")
CONTENT = re.compile(
    "(?:main|page)?content|content(?:main|area)|(?:haupt)?inhalt|main(?:body)?|body|article|contents|document"
)
PANELS = re.compile("accordion|collaps(?:e|ible)|tab(?:s|panel)?|pane|panel|toggle|faq")
SIZED = frozenset({"main", "article", "section", "footer", "aside", "div", "ul", "ol", "dl", "body", "html"})
#: Characters: with fewer besides its headings a `<main>` may hold but the title, while the text stands beside it.
LEAST = 15
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
HIDDEN_CLASSES = frozenset({"hidden", "d-none", "hide", "invisible", "is-hidden"})
SHOWN_ON_WIDER = re.compile(r"\b(?:d-(?:sm|md|lg|xl|xxl)|visible|sm|md|lg|xl)[-:]")
HOME = re.compile(r"(?:https?://[^/]+)?/?(?:(?:de|en)/?)?(?:index\.\w+)?|\./?")


@dataclass(slots=True)
class Size:
    """Sizes of an element: characters, how many of them in links, in links to the page itself, to its translations."""

    text: int = 0
    linked: int = 0
    links: int = 0
    here: int = 0
    translations: int = 0

    def add(self, other: "Size") -> None:
        self.text += other.text
        self.linked += other.linked
        self.links += other.links
        self.here += other.here
        self.translations += other.translations

    @property
    def own(self) -> int:
        return self.text - self.linked

    @property
    def density(self) -> float:
        return self.linked / self.text if self.text else 1.0


def main_content(page: Element, url: str, title: str) -> Iterator[Element]:
    """Yield the elements to write, in order: the main heading if it is apart, then the content. Changes `page`."""
    heading = next((found for found in elements(page, "h1") if read_text(found) and not _is_logo(found)), None)
    apart = heading is not None and any(True for _ in heading.iterancestors("header", "nav"))
    opened = open_panels(page)
    etree.strip_elements(page, *PROGRAMS, *CONTROLS, with_tail=False)
    for element in list(elements(page)):
        if ROLES.fullmatch(attribute(element, "role")) or (_is_hidden(element) and not _is_panel(element, opened)):
            hollow(element)
    sizes = _sizes(page, urldefrag(url).url)
    content = _landmark(page, sizes)
    headless = heading is not None and not any(read_text(inner) for inner in elements(content, "h1"))
    if headless and (not apart or read_text(heading) in title):
        yield _with_its_lead(heading, content, sizes)
    kept = set(heading.iterancestors()) if heading is not None else set()
    for element in list(elements(content)):
        if element is not content and _is_boilerplate(element, sizes, kept):
            hollow(element)
    yield content


def _with_its_lead(heading: Element, content: Element, sizes: dict[Element, Size]) -> Element:
    """Add what is beside a separate heading, its introduction, unless that is links."""
    parent = heading.getparent()
    size = sizes.get(parent)
    if size and parent.tag == "div" and size.density < 0.2 and parent not in set(content.iterancestors()):
        return parent
    heading.tail = None
    return heading


def _landmark(page: Element, sizes: dict[Element, Size]) -> Element:
    """Find `<main>`, however short, or what is named as the content; else the body, if that holds most of the words."""
    body = next(elements(page, "body"), page)
    words = max(sizes[body].own, 1) if body in sizes else 1
    mains = [element for element in sizes if element.tag == "main" or attribute(element, "role") == "main"]
    main = max(mains, key=lambda element: sizes[element].own, default=None)
    if main is not None and sizes[main].text - sum(len(read_text(each)) for each in elements(main, *HEADINGS)) >= LEAST:
        return main
    for candidates in (
        mains,
        [
            element
            for element in sizes
            if element.tag in {"div", "section", "article", "td"} and _is_named_content(element)
        ],
    ):
        best = max(candidates, key=lambda element: sizes[element].own, default=None)
        if best is not None and sizes[best].text and (sizes[best].own > 0.5 * words or sizes[best].text > 400):
            return best
    articles = [element for element in sizes if element.tag == "article"]
    if len(articles) == 1 and sizes[articles[0]].own > 0.5 * words:
        return articles[0]
    return body


def _is_named_content(element: Element) -> bool:
    names = (attribute(element, "id"), *attribute(element, "class").split())
    return any(CONTENT.fullmatch(re.sub(r"[-_]", "", name.lower())) for name in names)


def _is_boilerplate(element: Element, sizes: dict[Element, Size], kept: set[Element]) -> bool:
    """Recognise boilerplate; `kept` is what holds the main heading."""
    size, tag = sizes.get(element), element.tag
    if size is None or element in kept or tag in HEADINGS or tag in {"main", "body", "html"}:
        return False
    if tag == "footer":
        return not any(True for _ in element.iterancestors("blockquote"))
    # A list of the page's own headings repeats them; one of translations leads elsewhere.
    if size.links > 2 and size.density > 0.5 and size.here > 0.3 * size.links:
        return True
    if size.translations >= max(1, size.links - 1) and size.text < 200:
        return True
    if named(element, COOKIES):
        return named(element, BANNERS) or holds(element, "button", "input")
    if size.density > 0.5 and (tag == "aside" or named(element, LINKED)):
        return True
    return named(element, BOILERPLATE)


def _is_hidden(element: Element) -> bool:
    if element.get("hidden") is not None and attribute(element, "hidden") != "until-found":
        return True
    if attribute(element, "aria-hidden") == "true" or HIDDEN_STYLE.search(attribute(element, "style")):
        return True
    classes = attribute(element, "class")
    return bool(HIDDEN_CLASSES & set(classes.split())) and not SHOWN_ON_WIDER.search(classes)


def _is_panel(element: Element, opened: set[Element]) -> bool:
    return element in opened or attribute(element, "role") == "tabpanel" or named(element, PANELS)


def _is_logo(heading: Element) -> bool:
    return any(HOME.fullmatch(attribute(link, "href").strip()) for link in elements(heading, "a") if link.get("href"))


def _sizes(page: Element, url: str) -> dict[Element, Size]:
    """Measure, in one walk, the elements that a rule may ask about."""
    found: dict[Element, Size] = {}
    sizes = [Size()]
    links = 0
    for event, element in etree.iterwalk(page, events=("start", "end")):
        if event == "start":
            size = Size()
            sizes.append(size)
            if element.tag == "a" and (href := attribute(element, "href").strip()):
                size.links = 1
                size.here = _leads_here(href, url)
                size.translations = element.get("hreflang") is not None
            links += element.tag == "a"
            text = element.text
        else:
            links -= element.tag == "a"
            size = sizes.pop()
            sizes[-1].add(size)
            if element.tag in SIZED or element.keys():
                found[element] = size
            text = element.tail
        if text and (length := len(clean(text))):
            sizes[-1].text += length
            sizes[-1].linked += length if links else 0
    return found


def _leads_here(href: str, url: str) -> bool:
    if href.startswith("#"):
        return True
    try:
        return "#" in href and urldefrag(urljoin(url, href)).url == url
    except ValueError:
        return False

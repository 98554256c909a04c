"""Text of an HTML mail: blocks become lines, quoted blocks lines with `>`; nothing is loaded, nothing stays markup."""

import re

from lxml import etree, html

#: Of an HTML text; what is behind it is left out.
MOST_CHARACTERS = 500_000
SKIPPED = {"script", "style", "head", "title", "template", "noscript", "svg", "object"}
BLOCKS = {"address", "article", "blockquote", "center", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3"}
BLOCKS |= {"h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul"}
HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def html_to_text(source: str) -> str:
    """Return the text that a reader of the HTML sees; empty if there is none or it cannot be read."""
    try:
        root = html.document_fromstring(source[:MOST_CHARACTERS].encode(), html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""
    return _Writer().write(root)


class _Writer:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._quoted = self._skipped = 0

    def write(self, root: etree._Element) -> str:
        for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
            if event == "start":
                self._begin(node)
            elif event == "end":
                self._end(node)
            self._add(node.tail if event != "start" else None)
        self._break()
        return "\n".join(self._lines)

    def _begin(self, node: etree._Element) -> None:
        if _is_skipped(node):
            self._skipped += 1
            return
        if node.tag in BLOCKS:
            self._break()
        if node.tag == "blockquote":
            self._quoted += 1
        elif node.tag == "br":
            self._break(keep_empty=True)
        elif node.tag == "li" and not self._skipped:
            self._line = "- "
        self._add(node.text)

    def _end(self, node: etree._Element) -> None:
        if _is_skipped(node):
            self._skipped -= 1
            return
        if node.tag in BLOCKS:
            self._break()
        if node.tag == "p" and self._lines and self._lines[-1]:
            self._lines.append("")
        if node.tag == "blockquote":
            self._quoted -= 1

    def _add(self, text: str | None) -> None:
        if text and not self._skipped:
            words = re.sub(r"[ \t\r\n\f\u00a0]+", " ", text)
            self._line += words.lstrip() if not self._line or self._line.endswith(" ") else words

    def _break(self, *, keep_empty: bool = False) -> None:
        line = self._line.strip()
        self._line = ""
        if line:
            self._lines.append("> " * self._quoted + line)
        elif keep_empty and self._lines and not self._skipped:
            self._lines.append("")


def _is_skipped(node: etree._Element) -> bool:
    return node.tag in SKIPPED or bool(HIDDEN.search(node.get("style", "")))

"""An answer as Markdown alone, for programs that show text: with its sources, contacts and choices below."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.reply import add_below
from chat.protocol.shapes import OfficeWords
from core.text import escape_markdown, write_link
from knowledge.editions.terms import names

Wire = Mapping[str, Any]
#: What of a citation is handed on.
CITATION = ("n", "title", "url", "heading", "page", "quote", "edition", "read_by_ocr")
#: What a process of the version before does not name.
NOT_NAMED = {"edition": "", "read_by_ocr": False}


class PlainAnswer:
    """An answer so far: `take` each of its events, in order. Its text only ever grows, as a stream's must."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.text = ""
        self.citations: list[dict[str, Any]] = []
        self.status = self.reason = self.error = ""
        self.is_machine_made = True
        self._office: OfficeWords | None = None

    @property
    def is_abstention(self) -> bool:
        return self.status == Message.Status.ABSTAINED

    @property
    def has_failed(self) -> bool:
        return self.status == Message.Status.FAILED

    def take(self, event: Wire) -> str:
        """Apply the next event; return what it adds to the text."""
        before = len(self.text)
        match event["type"]:
            case "message_delta":
                self.text = add_below(self._office, self.text, event["text"])
            case "office_answer":
                self._office = OfficeWords(**event["answer"])
                self._add(self._office.as_text)
            case "citation":
                self.citations.append({name: (NOT_NAMED | event["source"])[name] for name in CITATION})
            case "abstain":
                self.reason = event["reason"]
                self._add(event["text"], *map(_contact_line, [event["contact"]] if event["contact"] else []))
            case "help":
                self._add(event["text"], _as_list(map(_contact_line, event["card"]["contacts"])))
            case "clarify":
                self._add(event["text"], _as_list(map(escape_markdown, event["choices"])))
            case "error":
                self.error = event["detail"]
            case "message_end":
                self.status = event["status"]
                self.is_machine_made = event.get("machine_made", True)
                self._add(self._sources())
        return self.text[before:]

    def _add(self, *paragraphs: str) -> None:
        self.text = "\n\n".join(filter(None, (self.text, *paragraphs)))

    def _sources(self) -> str:
        """List what is cited: a program that shows nothing but text must name the sources too."""
        if not self.citations:
            return ""
        with translation.override(self.language):
            heading, by_ocr = _("Sources:"), _("read by OCR")
        marks = ((each, f" ({by_ocr})" if each["read_by_ocr"] else "") for each in self.citations)
        return f"{heading}\n\n" + _as_list(f"[{each['n']}] {_link(each)}{mark}" for each, mark in marks)


def _link(citation: Wire) -> str:
    edition = "" if names(citation["title"], citation["edition"]) else citation["edition"]
    title = " › ".join(filter(None, (citation["title"], edition, citation["heading"]))) or citation["url"]
    return write_link(title, citation["url"])


def _contact_line(contact: Wire) -> str:
    parts = [contact.get("phone", ""), contact["email"], contact["url"]]
    return ", ".join(filter(None, (f"**{escape_markdown(contact['name'])}**", *parts)))


def _as_list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

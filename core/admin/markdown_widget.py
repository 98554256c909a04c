"""A text field with an editor of formatted text; without JavaScript it is the plain field."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from core.admin.textarea import Textarea


class MarkdownTextarea(Textarea):
    """For fields that hold Markdown. With `breaks` the lines of a paragraph stay lines, as in the chat."""

    def __init__(self, attrs: Mapping[str, Any] | None = None, *, breaks: bool = False) -> None:
        super().__init__({**(attrs or {}), **({"data-breaks": ""} if breaks else {})})

    class Media:
        css = {"all": ["core/editor/editor.css"]}
        js = ["core/editor/editor.js"]

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Add the editor's words, in the language of who reads the page."""
        return {**super().build_attrs(base_attrs, extra_attrs), "data-editor": json.dumps(list_words())}


def list_words() -> dict[str, str]:
    """Return the editor's words by the names that its script knows (core/editor/src/words.ts)."""
    return {
        "toolbar": _("Formatting"),
        "mode": _("How the text is edited"),
        "formatted": _("Formatted"),
        "markdown": _("Markdown"),
        "keys": _("Alt+F10 leads to the buttons, Tab leaves the text."),
        "heading": _("Heading"),
        "paragraph": _("Paragraph"),
        "bold": _("Bold"),
        "italic": _("Italic"),
        "code": _("Code"),
        "code_block": _("Block of code"),
        "quote": _("Quotation"),
        "bullet_list": _("List"),
        "ordered_list": _("Numbered list"),
        "indent": _("One level deeper"),
        "outdent": _("One level up"),
        "link": _("Link"),
        "table": _("Insert a table"),
        "undo": _("Undo"),
        "redo": _("Redo"),
        "add_row": _("Add a row"),
        "delete_row": _("Delete the row"),
        "add_column": _("Add a column"),
        "delete_column": _("Delete the column"),
        "delete_table": _("Delete the table"),
        "link_title": _("Link"),
        "link_text": _("Text of the link"),
        "link_address": _("Address"),
        "link_wrong": _("Write a web address such as https://www.example.org, or mailto: and an e-mail address."),
        "link_apply": _("Set the link"),
        "link_remove": _("Remove the link"),
        "cancel": _("Cancel"),
        "long": _("This text is too long to be edited formatted: it is shown as Markdown."),
        "html": _("This text has HTML, which would be lost if it was edited formatted: it is shown as Markdown."),
        "footnotes": _(
            "This text has footnotes, which would be lost if it was edited formatted: it is shown as Markdown."
        ),
        "definitions": _(
            "This text lists addresses of links below it, which would be lost if it was edited formatted: "
            "it is shown as Markdown."
        ),
        "irregular_table": _(
            "A row of a table has more cells than the table has columns, which would be lost if it was edited "
            "formatted: the text is shown as Markdown."
        ),
        "other": _("A part of this text cannot be shown formatted: it is shown as Markdown."),
    }

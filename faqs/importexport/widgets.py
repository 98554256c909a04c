"""Cells of a file, read and written; a cell that cannot be read raises ValueError, which says what to do."""

from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _
from import_export.widgets import Widget

from core.language import tag_in
from core.text import strip_nul
from faqs.importexport.lookups import NEW_LINE
from faqs.models import ANSWER_LANGUAGES, FAQ

Status = FAQ.Status
#: Besides ISO's, how dates are written in German and by an Excel set to it.
DATE_FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d %H:%M:%S")


class TextWidget(Widget):  # type: ignore[misc]
    """A text of limited length."""

    def __init__(self, longest: int | None = None) -> None:
        super().__init__()
        self.longest = longest

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(_("Write one text here, not a list."))
        if self.longest and len(value) > self.longest:
            said = _("Shorten it: it has %(count)s characters, and %(most)s are allowed.")
            raise ValueError(said % {"count": len(value), "most": self.longest})
        return value

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return str(value or "")


class LanguageWidget(TextWidget):
    """A language's tag; `de_DE.UTF-8` is read as de-DE."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> str:
        text = super().clean(value, row, **kwargs)
        return tag_in(text) or text


class AnswerWidget(TextWidget):
    """A text, or in JSON one for each language: {"de": "…", "en": "…"}."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            return super().clean(value, row, **kwargs)
        if unknown := [name for name in value if name not in ANSWER_LANGUAGES]:
            said = _("“%(name)s” is no language of an answer: write one of %(known)s.")
            raise ValueError(said % {"name": str(unknown[0])[:40], "known": ", ".join(ANSWER_LANGUAGES)})
        return {name: strip_nul(super(AnswerWidget, self).clean(text)).strip() for name, text in value.items()}


class ListWidget(Widget):  # type: ignore[misc]
    """Several texts, one a line; in JSON a list."""

    def __init__(self, longest: int) -> None:
        super().__init__()
        self.longest = longest

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> list[str]:
        lines = value if isinstance(value, list) else NEW_LINE.split(value) if isinstance(value, str) else [value]
        if not all(isinstance(line, str) for line in lines):
            raise ValueError(_("Write a list of texts here."))
        texts = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        if long := [text for text in texts if len(text) > self.longest]:
            said = _("Shorten “%(text)s…”: %(most)s characters are allowed.")
            raise ValueError(said % {"text": long[0][:60], "most": self.longest})
        return texts

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> list[str]:
        return list(value or ())


class DayWidget(Widget):  # type: ignore[misc]
    """A date."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> date | None:
        text = str(value).strip()
        for form in DATE_FORMS:
            try:
                return datetime.strptime(text, form).date()  # noqa: DTZ007 (a day has no time zone)
            except ValueError:
                continue
        if text:
            said = _("“%(text)s” is not a date: write it as 2026-10-01 or 01.10.2026, or leave it empty.")
            raise ValueError(said % {"text": text[:40]})
        return None

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return value.isoformat() if value else ""


class StatusWidget(Widget):  # type: ignore[misc]
    """The status by its name in the file or on the screen; empty: as it is."""

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> str | None:
        if not value:
            return None
        names = {each: each for each in Status.values} | {str(label).lower(): each for each, label in Status.choices}
        if found := names.get(str(value).strip().lower()):
            return found
        known = ", ".join(Status.values)
        raise ValueError(_("“%(text)s” is not a status: write one of %(known)s.") % {"text": value, "known": known})

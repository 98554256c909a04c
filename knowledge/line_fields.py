"""A form's field that holds several values, one a line; what is wrong is named with its line."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from knowledge.crawl_services import HOST
from knowledge.ingest.crawler.scope import normalised

#: A list of this length is pasted by mistake, and each address of it would be visited.
MOST_LINES = 500


class LinesField(forms.CharField):
    """Checks each line with `check`, which raises ValidationError."""

    def __init__(self, *, check: Callable[[str], None], max_length: int, rows: int = 4, **kwargs: Any) -> None:
        attrs = {"rows": rows, "class": "lines", "spellcheck": "false", "autocapitalize": "none"}
        super().__init__(widget=forms.Textarea(attrs=attrs), **kwargs)
        self.check, self.longest = check, max_length

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), (data or "").replace("\r\n", "\n"))

    def clean(self, value: Any) -> list[str]:
        lines = [(n, line.strip()) for n, line in enumerate(super().clean(value).splitlines(), start=1) if line.strip()]
        if len(lines) > MOST_LINES:
            raise ValidationError(_("At most %(count)s lines.") % {"count": MOST_LINES})
        problems = []
        for n, line in lines:
            try:
                if len(line) > self.longest:
                    raise ValidationError(_("it is longer than %(count)s characters.") % {"count": self.longest})
                self.check(line)
            except ValidationError as error:
                said = {"n": n, "line": line[:100], "reason": " ".join(error.messages)}
                problems.append(_("Line %(n)s, “%(line)s”: %(reason)s") % said)
        if problems:
            raise ValidationError(problems)
        return list(dict.fromkeys(line for _n, line in lines))


def check_address(line: str) -> None:
    if not normalised(line):
        raise ValidationError(_("it is no address such as https://www.uni.example/."))


def check_pattern(line: str) -> None:
    """Patterns are compared with whole addresses: one that begins with neither a scheme nor * never matches."""
    if any(sign.isspace() for sign in line):
        raise ValidationError(_("an address has no spaces."))
    if not line.startswith(("http://", "https://", "*")):
        raise ValidationError(_("it must begin with https://, http:// or *, or it matches no address."))


def check_domain(line: str) -> None:
    if not HOST.fullmatch(line):
        host = urlsplit(line).hostname if "//" in line else None
        hint = _(" Did you mean %(host)s?") % {"host": host} if host else ""
        raise ValidationError(_("it is no domain such as www.uni.example.") + hint)

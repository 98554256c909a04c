"""Bodies as JSON, and nothing that would break further in."""

import json
from collections.abc import Iterator
from typing import IO, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

#: The longest handbooks take a fifth of it.
MOST_BYTES = 10 * 1024 * 1024


class TooLarge(APIException):
    status_code = 413
    default_code = "too_large"
    default_detail = _("This request is too large.")


class JSONBody(BaseParser):
    """Refuses what a database cannot hold: NUL, and halves of surrogate pairs."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise TooLarge
        try:
            body = json.loads(raw, parse_constant=_refuse)
            for text in _texts(body):
                text.encode()
                if "\x00" in text:
                    raise ValueError("NUL")
        except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError
            raise ParseError(_("The body is no JSON.")) from error
        return body


def _refuse(constant: str) -> None:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(constant)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _texts(each)

"""A field for text of several lines."""

from collections.abc import Mapping
from typing import Any

from django import forms


class Textarea(forms.Textarea):
    """Keeps the text's line ends: browsers send others, and each text would count as changed."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value

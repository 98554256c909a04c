"""Rows of a table whose fields are named by their column for the eye alone: here for everyone."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BaseInlineFormSet
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    AnyInlineFormSet = BaseInlineFormSet[Any, Any, Any]
else:
    AnyInlineFormSet = BaseInlineFormSet


class LabelledFormSet(AnyInlineFormSet):
    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        for name, field in form.fields.items():
            # The wrapper with "add another" shares its attributes with the rows to come; what it wraps has its own.
            widget = getattr(field.widget, "widget", field.widget)
            widget.attrs["aria-label"] = str(field.label or name)


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

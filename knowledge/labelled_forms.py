"""Rows of a table whose fields are named by their column for the eye alone: here for everyone."""

from typing import TYPE_CHECKING, Any

from django.forms import BaseInlineFormSet

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

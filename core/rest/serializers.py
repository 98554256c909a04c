"""Serializers of the staff API: unknown fields are refused."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import APIException


class Body(serializers.Serializer):
    # No docstring: the API's document would show it with each body. Whatever is written comes from this.

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown fields: ignored, they would look as if they had been written."""
        unknown = self._unknown_in(data) if isinstance(data, Mapping) else {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**error.detail, **unknown}) from error
        if unknown:
            raise serializers.ValidationError(unknown)
        return values

    def _unknown_in(self, data: Mapping[str, Any]) -> dict[str, list[str]]:
        written = [name for name, field in self.fields.items() if not field.read_only]
        # What was read may be sent back with a change: what is only read stays as it is.
        known = set(self.fields if self.instance is not None or self.parent is not None else written)
        only_read = _("This is only read: leave it out.")
        nowhere = _("There is no such field here. There are: %(known)s.") % {"known": ", ".join(written) or "–"}
        return {name: [only_read if name in self.fields else nowhere] for name in data if name not in known}


class ScopedSlugField(serializers.SlugRelatedField):
    def get_queryset(self) -> "QuerySet[Any]":
        rows: Any = super().get_queryset()
        own: QuerySet[Any] = rows.visible_to(self.context["request"].user)
        return own


class ScopedKeyField(serializers.PrimaryKeyRelatedField):
    def get_queryset(self) -> "QuerySet[Any]":
        rows: Any = super().get_queryset()
        own: QuerySet[Any] = rows.visible_to(self.context["request"].user)
        return own


class Conflict(APIException):
    """`current` is the row as it is now, `changed` are the fields in which what was sent differs from it."""

    status_code = 409
    default_code = "conflict"
    default_detail = gettext_lazy(
        "Somebody changed this since you read it: look at what it says now, and send it again."
    )

    def __init__(self, *, current: Any, changed: list[str]) -> None:
        super().__init__()
        self.current, self.changed = current, changed


class Versioned(Body):
    # No docstring: the API’s document would show it. To be named before the serializer of what is read; says by
    # `version` which state a change was made from.

    version = serializers.CharField(max_length=64, help_text="As it was read; where the row has another by now: 409.")

    def read_version(self, row: Any) -> str:
        raise NotImplementedError

    def differing(self, row: Any, values: dict[str, Any]) -> list[str]:
        """Return which of the values differ from the row."""
        return [name for name, value in values.items() if getattr(row, name) != value]

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Check the version. Raise Conflict, ValidationError."""
        given = values.pop("version", None)
        if given is None:  # REST framework requires nothing of a partial change
            raise serializers.ValidationError({"version": _("Say which version you change, as you read it.")})
        if given != self.read_version(self.instance):
            raise Conflict(current=self.to_read(self.instance), changed=self.differing(self.instance, values))
        checked: dict[str, Any] = super().validate(values)
        return checked

    def to_read(self, row: Any) -> Any:
        raise NotImplementedError

"""Two who change one row: the second one is told, and nothing is written over unseen."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import APIException

from knowledge.rest.bodies import Body


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

    def version_of(self, row: Any) -> str:
        raise NotImplementedError

    def differing(self, row: Any, values: dict[str, Any]) -> list[str]:
        """Which of the values are not what the row says."""
        return [name for name, value in values.items() if getattr(row, name) != value]

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Raises Conflict, ValidationError."""
        given = values.pop("version", None)
        if given is None:  # REST framework requires nothing of a partial change
            raise serializers.ValidationError({"version": _("Say which version you change, as you read it.")})
        if given != self.version_of(self.instance):
            raise Conflict(current=self.to_read(self.instance), changed=self.differing(self.instance, values))
        checked: dict[str, Any] = super().validate(values)
        return checked

    def to_read(self, row: Any) -> Any:
        raise NotImplementedError

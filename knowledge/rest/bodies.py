"""What programs send, as JSON objects: nothing of it is passed over in silence."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers


class Body(serializers.Serializer):
    # No docstring: the API's document would show it with each body. Whatever is written comes from this.

    def to_internal_value(self, data: Any) -> Any:
        """Refuses a field that there is not: passed over, it would look as if it had been written."""
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

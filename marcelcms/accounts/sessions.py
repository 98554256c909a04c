"""Sessions of staff in the database: each names its account, so that it can be listed and ended."""

from typing import TYPE_CHECKING, Any

from django.contrib.sessions.backends import db
from django.utils import timezone

if TYPE_CHECKING:
    from marcelcms.models import StaffSession

#: What a session's own data say of the browser that logged in.
DEVICE = "device"


class SessionStore(db.SessionStore):
    #: When it was last used, as the row said that it was loaded from.
    last_used_at: Any = None

    @classmethod
    def get_model_class(cls) -> Any:
        from marcelcms.models import StaffSession

        return StaffSession

    def create_model_instance(self, data: Any) -> "StaffSession":
        row: StaffSession = super().create_model_instance(data)  # type: ignore[assignment]
        row.user_id, row.device, row.last_used_at = data.get("_auth_user_id"), data.get(DEVICE, ""), timezone.now()
        return row

    def _get_session_from_db(self) -> Any:
        row = super()._get_session_from_db()  # type: ignore[misc]
        self.last_used_at = row.last_used_at if row else None
        return row

    def _validate_session_key(self, key: str | None) -> bool:
        """Refuse keys that PostgreSQL cannot look up: a cookie may hold anything."""
        return bool(super()._validate_session_key(key)) and str(key).isalnum()  # type: ignore[misc]

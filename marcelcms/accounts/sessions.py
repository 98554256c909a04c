"""Sessions of staff in the database, whose keys are letters and digits."""

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        """Refuse keys that PostgreSQL cannot look up: a cookie may hold anything."""
        return bool(super()._validate_session_key(key)) and str(key).isalnum()  # type: ignore[misc]

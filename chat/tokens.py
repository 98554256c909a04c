"""Session tokens: signed, short-lived, carrying the visitor's number and language and nothing else."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core import signing

SALT = "chat.session"


class InvalidToken(Exception):
    """Forged, damaged or expired; `code` is session_required or session_expired."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Session:
    visitor: UUID
    language: str


def issue(session: Session) -> str:
    return signing.dumps([session.visitor.hex, session.language], salt=SALT)


def read(token: object, *, max_age: int | None = None) -> Session:
    """Raises InvalidToken."""
    if not isinstance(token, str):
        raise InvalidToken("session_required")
    try:
        visitor, language = signing.loads(token, salt=SALT, max_age=max_age or settings.SESSION_TOKEN_SECONDS)
        return Session(UUID(visitor), str(language))
    except signing.SignatureExpired as error:
        raise InvalidToken("session_expired") from error
    except (signing.BadSignature, ValueError, TypeError, AttributeError) as error:
        raise InvalidToken("session_required") from error

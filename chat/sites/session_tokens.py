"""Session tokens: signed, short-lived, carrying the visitor's number, language and site and nothing else."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.core import signing

LANGUAGES = {"en", "de"}


SALT = "chat.session"


class InvalidToken(Exception):
    """Forged, damaged or expired; `code` is session_required or session_expired."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Session:
    """`site` is the public id of the site that it holds for; empty for this server's own page."""

    visitor: UUID
    language: str
    site: str = ""


def issue(session: Session) -> str:
    return signing.dumps([session.visitor.hex, session.language, session.site], salt=SALT)


def read(token: object, *, max_age: int | None = None) -> Session:
    """Read a token; raise InvalidToken."""
    if not isinstance(token, str):
        raise InvalidToken("session_required")
    try:
        seconds = settings.SESSION_TOKEN_SECONDS if max_age is None else max_age
        visitor, language, site = signing.loads(token, salt=SALT, max_age=seconds)
        return Session(UUID(visitor), str(language), str(site))
    except signing.SignatureExpired as error:
        raise InvalidToken("session_expired") from error
    except (signing.BadSignature, ValueError, TypeError, AttributeError) as error:
        raise InvalidToken("session_required") from error

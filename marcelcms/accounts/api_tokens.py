"""Finds who calls, by the token that a program of theirs sends."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from core.db.tokens import hash_token
from marcelcms.models import APIToken

SCHEME = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """Read `Authorization: Bearer …`. Raise AuthenticationFailed without saying what was wrong with it."""

    def authenticate(self, request: Request) -> tuple[Any, APIToken] | None:
        scheme, _space, sent = get_authorization_header(request).partition(b" ")
        if scheme.lower() != SCHEME.lower().encode():
            return None
        # Header bytes are Latin-1, in which any can be read.
        digest = hash_token(sent.strip().decode("latin-1"))
        found = APIToken.objects.filter(digest=digest, expires_at__gt=timezone.now(), user__is_active=True)
        token = found.select_related("user").first()
        if token is None:
            raise AuthenticationFailed(_("This token is not valid, or no longer."))
        token.note_use()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME

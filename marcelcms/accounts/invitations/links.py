"""Links by which one account chooses its password, once."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class InvitationTokens(PasswordResetTokenGenerator):
    """Signed tokens that end with `PASSWORD_RESET_TIMEOUT`, and with any change of password, address or last login."""

    key_salt = "marcelcms.accounts.invitations"


invitation_tokens = InvitationTokens()


def invitation_link(user: "User") -> str:
    """Return the address, as browsers outside reach it, at which the account's password is chosen."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    path = reverse("invitation", kwargs={"uidb64": uid, "token": invitation_tokens.make_token(user)})
    return f"{settings.PUBLIC_URL}{path}"


def days_valid() -> int:
    """Return for how many days a link holds."""
    return int(settings.PASSWORD_RESET_TIMEOUT // 86_400)

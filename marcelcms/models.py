"""Keys with which programs of the staff's come in: they belong to no app."""

import secrets

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.db.tokens import HashedToken

PREFIX = "marcel_"


class APIToken(HashedToken):
    """Lets a program do what its user may do. Only its hash is kept; it ends with `expires_at`, with its row, and with
    its user's account."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens", verbose_name=_("whose")
    )
    name = models.CharField(_("name"), max_length=100, help_text=_("What it is for, such as “Nightly import”."))
    expires_at = models.DateTimeField(_("valid until"))

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at", "-pk"]
        default_permissions = ("view", "delete")
        indexes = [models.Index(fields=["-created_at", "-id"])]

    def __str__(self) -> str:
        return self.name


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)

"""What belongs to no app: keys of the staff's programs, and who people are in the university's directory."""

import secrets
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
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


class DirectoryIdentity(models.Model):
    """Who an account is in the directory. `subject` never changes there, other than names and e-mail addresses."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="directory_identity",
        verbose_name=_("account"),
        help_text=_("Logs in with the directory from now on; its password and its groups here end."),
    )
    issuer = models.CharField(_("directory"), max_length=255, editable=False)
    subject = models.CharField(
        _("identifier in the directory"),
        max_length=255,
        help_text=_("The claim “sub”. Your directory's office knows it."),
    )
    created_at = models.DateTimeField(_("linked"), auto_now_add=True)
    last_login_at = models.DateTimeField(_("last login"), editable=False, null=True)

    class Meta:
        verbose_name = _("account of the directory")
        verbose_name_plural = _("accounts of the directory")
        ordering = ["-created_at", "-pk"]
        default_permissions = ("view", "add", "delete")
        indexes = [models.Index(fields=["-created_at", "-id"], name="identity_newest")]
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_a_person")]

    def __str__(self) -> str:
        return self.user.get_username()


class DirectoryGroup(models.Model):
    """Says which role and teams the members of a group of the directory have here."""

    name = models.CharField(
        _("name in the directory"),
        max_length=255,
        unique=True,
        help_text=_("Letter by letter as the directory sends it."),
    )
    role = models.CharField(_("role"), max_length=150)
    is_everywhere = models.BooleanField(
        _("works for the whole university"), default=False, help_text=_("Sees all collections and assistants.")
    )
    teams = models.ManyToManyField("auth.Group", verbose_name=_("teams"), blank=True, related_name="+")

    class Meta:
        verbose_name = _("group of the directory")
        verbose_name_plural = _("groups of the directory")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SecondFactor(models.Model):
    """The app that makes an account's codes. `last_step` is the last time step whose code was used."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="second_factor")
    secret = models.TextField(help_text="Encrypted with a key that is derived from SECRET_KEY.")
    confirmed_at = models.DateTimeField(null=True)
    last_step = models.BigIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    waits_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.user.get_username()


class Passkey(models.Model):
    """A key on somebody's phone, computer or stick that proves a login (WebAuthn).

    `credential_id` is in base64url, `public_key` a COSE key. `sign_count` is how often it was used, where it counts.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=60)
    credential_id = models.CharField(max_length=1400, unique=True)
    public_key = models.BinaryField()
    sign_count = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class RecoveryCode(models.Model):
    """Logs in once in place of the app or a passkey; 80 random bits, of which only the hash is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once")]

    def __str__(self) -> str:
        return self.user.get_username()


class StaffSession(AbstractBaseSession):
    """A browser's session. `device` is in words; no network address is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="sessions")
    device = models.CharField(max_length=60)
    last_used_at = models.DateTimeField()

    class Meta(AbstractBaseSession.Meta):
        default_permissions = ()

    def __str__(self) -> str:
        return self.device

    @classmethod
    def get_session_store_class(cls) -> Any:
        return import_module(settings.SESSION_ENGINE).SessionStore


class RoleWithSecondFactor(models.Model):
    """A role whose members type a code besides their password."""

    role = models.CharField(_("role"), max_length=150, unique=True)

    class Meta:
        verbose_name = _("role with a second factor")
        verbose_name_plural = _("roles with a second factor")
        ordering = ["role"]
        default_permissions = ("view", "add", "delete")

    def __str__(self) -> str:
        return self.role


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)

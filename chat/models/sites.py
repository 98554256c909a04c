"""The websites that the widget stands on."""

import secrets
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import models, transaction
from django.db.models.fields.files import FieldFile
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, OfAssistants
from chat.models.validators import HEX, browser_origin, contrast, is_secure

#: WCAG 2.2, 1.4.11: what a control is recognised by against the page around it.
LEAST_CONTRAST = 3.0
MOST_LOGO_BYTES = 200_000
#: How files of the kinds begin that every browser shows and that cannot hold a script.
PICTURES = {".png": (b"\x89PNG\r\n\x1a\n",), ".jpg": (b"\xff\xd8\xff",), ".webp": (b"RIFF",), ".gif": (b"GIF8",)}


def new_public_id() -> str:
    return secrets.token_hex(8)


def logo_path(site: "Site", name: str) -> str:
    """Return a random name, so that a new picture has a new address."""
    return f"logos/{secrets.token_hex(8)}{PurePath(name).suffix.lower()}"


def validate_accent(colour: str) -> None:
    if not HEX.fullmatch(colour):
        raise ValidationError(_("Write the colour as #rrggbb, such as #1d4f7c."))
    if contrast(colour, "#ffffff") < LEAST_CONTRAST:
        raise ValidationError(
            _("This colour is too light: buttons in it would hardly be seen on white. Please choose a darker one.")
        )


def validate_origin(text: str) -> None:
    try:
        origin = browser_origin(text)
    except ValueError as error:
        raise ValidationError(
            _("“%(text)s” is no origin: it takes one such as https://www.uni.example."), params={"text": text}
        ) from error
    if not is_secure(origin):
        raise ValidationError(_("“%(text)s” must begin with https://."), params={"text": text})


def validate_logo(file: FieldFile) -> None:
    begins = PICTURES.get(PurePath(file.name or "").suffix.lower().replace(".jpeg", ".jpg"), ())
    is_picture = bool(begins) and file.open("rb").read(16).startswith(begins)
    if isinstance(file.file, UploadedFile):
        file.seek(0)  # it is yet to be stored
    else:
        file.close()
    if not is_picture:
        raise ValidationError(_("A logo is a PNG, JPEG, WebP or GIF file."))
    if file.size and file.size > MOST_LOGO_BYTES:
        raise ValidationError(_("This picture is too big: at most 200 kB. Shown are 36 by 36 pixels."))


class Site(models.Model):
    """A website with the widget on it: which assistant answers there, and how it looks.

    The one that `is_default` is the product's own page at `/`.
    """

    class Position(models.TextChoices):
        RIGHT = "right", _("on the right")
        LEFT = "left", _("on the left")

    public_id = models.CharField(_("public id"), max_length=32, unique=True, default=new_public_id, editable=False)
    name = models.CharField(_("name"), max_length=100, help_text=_("For staff; visitors do not see it."))
    assistant = models.ForeignKey(
        Assistant, on_delete=models.PROTECT, related_name="sites", verbose_name=_("assistant")
    )
    allowed_origins = ArrayField(
        models.CharField(max_length=300, validators=[validate_origin]),
        verbose_name=_("websites that may show the chat"),
        default=list,
        blank=True,
        help_text=_("Their addresses, such as https://www.uni.example; one a line."),
    )
    accent = models.CharField(
        _("colour"), max_length=7, default="#1d4f7c", validators=[validate_accent], help_text=_("As #rrggbb.")
    )
    position = models.CharField(_("position"), max_length=5, choices=Position, default=Position.RIGHT)
    logo = models.FileField(
        _("logo"),
        upload_to=logo_path,
        blank=True,
        max_length=200,
        validators=[validate_logo],
        help_text=_("PNG, JPEG, WebP or GIF, at most 200 kB; shown 36 pixels high."),
    )
    greeting = models.CharField(
        _("greeting"),
        max_length=200,
        blank=True,
        help_text=_("The heading of the open window; empty: “How can I help you?”."),
    )
    greeting_de = models.CharField(_("greeting in German"), max_length=200, blank=True)
    privacy_url = models.URLField(_("privacy notice"), blank=True, help_text=_("Named where visitors agree."))
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Where it is not, the widget does not appear and nobody is served.")
    )
    is_default = models.BooleanField(
        _("this server’s own page"), default=False, help_text=_("How the assistant looks at this server’s own address.")
    )

    objects = OfAssistants.as_manager()

    class Meta:
        verbose_name = _("page with the chat")
        verbose_name_plural = _("pages with the chat")
        ordering = ["name", "pk"]
        indexes = [models.Index(fields=["name", "id"])]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_default_site",
                violation_error_message=_("Another page with the chat is this server’s own page already."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: object, **kwargs: object) -> None:
        """Delete the file of a logo that was replaced or removed."""
        before = Site.objects.filter(pk=self.pk).values_list("logo", flat=True).first() if self.pk else ""
        super().save(*args, **kwargs)  # type: ignore[arg-type]
        if before and before != self.logo.name:
            transaction.on_commit(partial(drop_unused_logo, before))

    def clean(self) -> None:
        """Origins in the form that browsers send, each once."""
        self.accent = self.accent.lower()
        # What is none has been named by its validator, and keeps the row from being saved.
        with suppress(ValueError):
            self.allowed_origins = list(dict.fromkeys(map(browser_origin, self.allowed_origins)))


@receiver(post_delete, sender=Site)
def _drop_logo(instance: Site, **_kwargs: Any) -> None:
    """Also for those of a list that staff delete at once, whose `delete` nobody calls."""
    if instance.logo.name:
        transaction.on_commit(partial(drop_unused_logo, instance.logo.name))


def drop_unused_logo(kept: str) -> None:
    """Delete a picture that no site shows any more."""
    if not Site.objects.filter(logo=kept).exists():
        default_storage.delete(kept)

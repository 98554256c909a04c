"""Needs that a message may speak of, and the contacts that a student in need is shown."""

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.assistants import Assistant, Language


class Need(models.TextChoices):
    """The kinds of need that a message is recognised as; each is also a `Message.Route`."""

    CRISIS = "crisis", _("crisis: suicide, self-harm")
    EMERGENCY = "emergency", _("emergency: danger to life, fire, accident")
    ASSAULT = "assault", _("assault: violence, harassment, stalking")


class EmergencyContact(models.Model):
    """A number or an office that a student in need is shown, in the order of `position`."""

    assistant = models.ForeignKey(
        Assistant, on_delete=models.CASCADE, related_name="emergency_contacts", verbose_name=_("assistant")
    )
    needs = ArrayField(models.CharField(max_length=12, choices=Need), verbose_name=_("shown in"))
    name = models.CharField(_("name"), max_length=100)
    name_de = models.CharField(_("name in German"), max_length=100, blank=True)
    phone = models.CharField(
        _("phone"),
        max_length=40,
        blank=True,
        validators=[RegexValidator(r"^\+?[0-9][0-9 /()-]*$", _("Only digits, spaces and a leading plus, please."))],
    )
    url = models.URLField(_("page"), blank=True)
    email = models.EmailField(_("e-mail"), blank=True)
    position = models.PositiveSmallIntegerField(_("order"), default=0)

    class Meta:
        verbose_name = _("emergency contact")
        verbose_name_plural = _("emergency contacts")
        ordering = ["assistant", "position", "pk"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if not (self.phone or self.url or self.email):
            raise ValidationError(_("Please give a phone number, a page or an e-mail address."))

    def name_in(self, language: str) -> str:
        """Return its name in this language, the English one if there is no other."""
        return (language == Language.GERMAN and self.name_de) or self.name

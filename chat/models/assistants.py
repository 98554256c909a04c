"""The bot as students meet it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.profiles import RetrievalProfile
from knowledge.models import Collection


class Assistant(models.Model):
    """The bot as students meet it."""

    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=100)
    institution = models.CharField(_("institution"), max_length=200)
    welcome = models.TextField(_("welcome"), blank=True, help_text=_("Shown before the first question."))
    welcome_de = models.TextField(_("welcome in German"), blank=True)
    suggestions = models.TextField(_("suggestions"), blank=True, help_text=_("Example questions, one a line."))
    suggestions_de = models.TextField(_("suggestions in German"), blank=True)
    collections = models.ManyToManyField(
        Collection,
        blank=True,
        verbose_name=_("collections"),
        help_text=_("What it answers from; none: every collection that is searched by default."),
    )
    profile = models.ForeignKey(
        RetrievalProfile,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="assistants",
        verbose_name=_("retrieval profile"),
        help_text=_("How it looks for answers; empty: the built-in “default”."),
    )
    contact_name = models.CharField(
        _("contact"),
        max_length=200,
        blank=True,
        help_text=_("Who helps where the bot cannot: an office."),
    )
    contact_email = models.EmailField(_("contact's e-mail"), blank=True)
    contact_url = models.URLField(_("contact's page"), blank=True)

    class Meta:
        verbose_name = _("assistant")
        verbose_name_plural = _("assistants")
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name

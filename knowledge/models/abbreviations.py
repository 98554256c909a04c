"""Abbreviations that staff list, beside those that pages explain themselves."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from knowledge.models.collections import Collection


class Abbreviation(models.Model):
    """A short form and what it stands for on the pages of a collection; a question with either finds both."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="abbreviations")
    short = models.CharField(_("abbreviation"), max_length=20)
    long = models.CharField(_("stands for"), max_length=200)

    class Meta:
        verbose_name = _("abbreviation")
        verbose_name_plural = _("abbreviations")
        ordering = ["short", "long"]
        constraints = [models.UniqueConstraint(fields=["collection", "short", "long"], name="abbreviation_once")]

    def __str__(self) -> str:
        return f"{self.short}: {self.long}"

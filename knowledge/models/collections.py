"""Collections: bodies of documents that are searched as one."""

from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped


class Granularity(models.TextChoices):
    """Texts that a question is compared with, in addition to passages."""

    SENTENCE = "sentence", _("sentences")
    PROPOSITION = "proposition", _("propositions")


class CollectionQuerySet(StaffScoped["Collection"]):
    owner = "pk"


class Collection(models.Model):
    """A body of documents that is searched as one: a faculty, a handbook, an evaluation's corpus."""

    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=200)
    searched_by_default = models.BooleanField(
        _("use in answers"),
        default=True,
        help_text=_("Untick to keep it out of answers unless it is asked for by name."),
    )
    for_evaluation = models.BooleanField(default=False, editable=False)  # holds a data set, not the university's pages
    granularities = ArrayField(
        models.CharField(max_length=12, choices=Granularity),
        verbose_name=_("searched more finely"),
        default=list,
        blank=True,
        help_text=_(
            "Questions are compared with single sentences or propositions as well; each one leads to its passage."
        ),
    )
    teams = models.ManyToManyField(
        Group,
        blank=True,
        related_name="collections",
        verbose_name=_("teams"),
        help_text=_("The teams that look after this, such as a faculty’s (empty: staff with full access)."),
    )

    objects = CollectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("collection")
        verbose_name_plural = _("collections")
        ordering = ["slug"]
        permissions = [("whole_university", _("Works on everything, whatever their teams"))]

    def __str__(self) -> str:
        return self.name

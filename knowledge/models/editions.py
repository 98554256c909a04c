"""Editions: what term, year or examination regulations a document is about, and its other editions."""

from datetime import date

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from knowledge.models.collections import Collection
from knowledge.models.documents import Document


class TermKind(models.TextChoices):
    """What the editions of a matter go by."""

    WINTER = "winter", _("winter term")
    SUMMER = "summer", _("summer term")
    FALL = "fall", _("fall term")
    SPRING = "spring", _("spring term")
    ACADEMIC = "academic", _("academic year")
    YEARS = "years", _("year")
    REGULATIONS = "regulations", _("examination regulations")


class EditionGroup(models.Model):
    """Documents about one matter that differ in their term; `title` is what their titles have in common."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, verbose_name=_("collection"))
    title = models.CharField(_("title"), max_length=500)
    is_by_staff = models.BooleanField(_("put together by staff"), default=False, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = StaffScoped.as_manager()

    class Meta:
        verbose_name = _("group of editions")
        verbose_name_plural = _("editions")
        ordering = ["title", "pk"]
        default_permissions = ("view", "change")

    def __str__(self) -> str:
        return self.title


class Edition(models.Model):
    """What was read of a document's term, and the group of its editions if it has others.

    `series` is the same for documents that may be editions of one matter: those of one collection, language and
    audience whose titles and addresses differ in nothing but the term. `is_by_staff` says that staff placed it.
    """

    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="edition", primary_key=True)
    kind = models.CharField(max_length=12, choices=TermKind, blank=True)
    begins: "models.DateField[date | None, date | None]" = models.DateField(null=True)
    ends: "models.DateField[date | None, date | None]" = models.DateField(null=True)  # the last day
    series = models.CharField(max_length=32, blank=True, db_index=True)
    group = models.ForeignKey(EditionGroup, on_delete=models.SET_NULL, null=True, related_name="editions")
    is_by_staff = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()
        ordering = ["-begins", "document"]

    def __str__(self) -> str:
        return f"{self.document_id}: {self.kind} {self.begins}"

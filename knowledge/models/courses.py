"""Courses of study programmes."""

from django.db import models
from django.db.models import Value
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from knowledge.models.documents import Document


class CourseQuerySet(StaffScoped["Course"]):
    owner = "document__collection"


class Course(models.Model):
    """A course's record (SyllabusRAG's fields); `knowledge.courses.markdown` renders it into its document."""

    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="course", editable=False)
    code = models.CharField(_("code"), max_length=50)
    name = models.CharField(_("name"), max_length=300)
    general_name = models.CharField(
        _("integrated course"),
        max_length=300,
        blank=True,
        help_text=_("The course that this module is a part of; all its modules must be passed."),
    )
    year = models.PositiveSmallIntegerField(_("year of study"), null=True, blank=True)
    is_mandatory = models.BooleanField(_("mandatory"), null=True, blank=True)
    ects = models.DecimalField(_("ECTS"), max_digits=4, decimal_places=1, null=True, blank=True)
    field = models.CharField(_("field of research"), max_length=300, blank=True)
    prerequisites = models.TextField(_("prerequisites"), blank=True)
    required_courses = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="required_by", verbose_name=_("required courses")
    )
    assessment = models.TextField(_("assessment"), blank=True)
    contents = models.TextField(_("contents"), blank=True)
    objectives = models.TextField(_("objectives"), blank=True)
    programme = models.TextField(_("detailed programme"), blank=True)
    # The handbook that staff took it from, and what its fields said there then; what differs now, staff changed.
    read_from = models.ForeignKey(
        Document,
        on_delete=models.SET_NULL,
        null=True,
        related_name="courses_read",
        editable=False,
        verbose_name=_("read from"),
    )
    read_values = models.JSONField(
        default=dict, db_default=Value({}, output_field=models.JSONField()), blank=True, editable=False
    )

    objects = CourseQuerySet.as_manager()

    class Meta:
        verbose_name = _("course")
        verbose_name_plural = _("courses")
        ordering = ["code", "pk"]
        indexes = [models.Index(fields=["code"]), models.Index(fields=["general_name"])]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


def find_course(document: Document) -> Course | None:
    return Course.objects.filter(document=document).first() if document.pk else None

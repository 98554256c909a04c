"""Pairs of FAQs that may be duplicates."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped, sees_everything
from faqs.models.faqs import FAQ

if TYPE_CHECKING:
    from core.access import Staff


class SimilarPairQuerySet(StaffScoped["SimilarPair"]):
    def visible_to(self, user: "Staff") -> Self:
        """Return the pairs of two FAQs that this member of staff works on."""
        if sees_everything(user):
            return self
        own = FAQ.objects.visible_to(user)
        return self.filter(first__in=own, second__in=own)

    def to_look_at(self) -> Self:
        """Return the pairs to check: neither FAQ is retired, and staff have not dismissed the pair."""
        return self.filter(dismissed_at=None).exclude(first__status="retired").exclude(second__status="retired")

    def of(self, faq_id: int) -> Self:
        return self.filter(Q(first=faq_id) | Q(second=faq_id))


class SimilarPair(models.Model):
    """Two FAQs of one language whose ways to ask are close; found by `faqs.duplicates`.

    `similarity` is that of the question of one to the closest way to ask of the other, 0 to 1. A pair that staff called
    no duplicate is kept, so that it is not shown again.
    """

    first = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    similarity = models.FloatField(_("similarity"))
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = SimilarPairQuerySet.as_manager()

    class Meta:
        verbose_name = _("pair of duplicates")
        verbose_name_plural = _("pairs of duplicates")
        ordering = ["-similarity", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="one_pair_of_two"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="pair_in_order"),
        ]
        indexes = [
            models.Index(fields=["-similarity", "id"], condition=models.Q(dismissed_at=None), name="pair_to_look_at")
        ]

    def __str__(self) -> str:
        return f"{self.first_id}, {self.second_id}"

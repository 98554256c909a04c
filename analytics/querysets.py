"""Reads of evaluation sets and of what belongs to them."""

from typing import TYPE_CHECKING, Self

from django.apps import apps
from django.db.models import Q

from knowledge.staff_scope import Row, Staff, StaffScoped, sees_everything

if TYPE_CHECKING:
    from analytics.models import EvaluationSet  # noqa: F401 (named in a base class)


class EvaluationSetQuerySet(StaffScoped["EvaluationSet"]):
    """A regression set belongs to its assistant, whose students asked its questions; any other to the collections that
    it searches, of which one's own is enough."""

    def for_staff(self, user: "Staff") -> Self:
        if sees_everything(user):
            return self
        assistants = apps.get_model("chat.Assistant").objects.for_staff(user)
        collections = apps.get_model("knowledge.Collection").objects.for_staff(user)
        searching = self.model.collections.through.objects.filter(collection__in=collections.values("pk"))
        on_own = Q(assistant__isnull=True, pk__in=searching.values("evaluationset"))
        return self.filter(Q(assistant__in=assistants.values("pk")) | on_own)


class OfEvaluationSets(StaffScoped[Row]):
    """Questions and runs: who works on their set works on them."""

    def for_staff(self, user: "Staff") -> Self:
        if sees_everything(user):
            return self
        own = apps.get_model("analytics.EvaluationSet").objects.for_staff(user)
        return self.filter(evaluation_set__in=own.values("pk"))

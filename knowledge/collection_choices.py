"""The collections that staff choose from: the university's, not those that hold a data set."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from knowledge.models import Collection
from knowledge.staff_scope import CollectionQuerySet


def university_collections() -> CollectionQuerySet:
    return Collection.objects.filter(for_evaluation=False)


class CollectionFilter(admin.RelatedFieldListFilter):
    """Names the collections of one's own teams alone."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        return [(row.pk, row.name) for row in university_collections().for_staff(request.user)]

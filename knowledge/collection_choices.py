"""The collections that staff choose from: the university's, not those that hold a data set."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from knowledge.models import Collection


def university_collections() -> QuerySet[Collection]:
    return Collection.objects.filter(for_evaluation=False)


class CollectionFilter(admin.RelatedFieldListFilter):
    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        return field.get_choices(include_blank=False, limit_choices_to={"for_evaluation": False})

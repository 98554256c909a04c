"""Fields that lead to other rows: a member of staff can name those of their teams only."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers


class OwnSlug(serializers.SlugRelatedField):
    def get_queryset(self) -> "QuerySet[Any]":
        rows: Any = super().get_queryset()
        own: QuerySet[Any] = rows.for_staff(self.context["request"].user)
        return own


class OwnKey(serializers.PrimaryKeyRelatedField):
    def get_queryset(self) -> "QuerySet[Any]":
        rows: Any = super().get_queryset()
        own: QuerySet[Any] = rows.for_staff(self.context["request"].user)
        return own

"""Filters that several lists have."""

from datetime import UTC, datetime
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django_filters.fields import IsoDateTimeField


class ValidityFilter(django_filters.ChoiceFilter):
    """Filter rows by `valid_from` and `valid_until`."""

    def __init__(self) -> None:
        choices = [("today", "today"), ("expired", "expired"), ("later", "later")]
        super().__init__(choices=choices, help_text="Whether it counts today, no more, or not yet.")

    def filter(self, rows: "QuerySet[Any]", value: Any) -> "QuerySet[Any]":
        today = timezone.localdate()
        match value:
            case "today":
                valid: QuerySet[Any] = rows.valid_on(today)  # type: ignore[attr-defined]
                return valid
            case "expired":
                return rows.filter(valid_until__lt=today)
            case "later":
                return rows.filter(valid_from__gt=today)
        return rows


class WordsFilter(django_filters.CharFilter):
    """Search rows whose queryset has `with_words`."""

    def __init__(self) -> None:
        super().__init__(max_length=200, help_text="Words, each of which must occur.")

    def filter(self, rows: "QuerySet[Any]", value: Any) -> "QuerySet[Any]":
        found: QuerySet[Any] = rows.with_words(value) if value else rows  # type: ignore[attr-defined]
        return found


class YesNoField(forms.CharField):
    def to_python(self, value: Any) -> Any:
        """Return the value. Raise ValidationError."""
        if value not in {None, "", "true", "false"}:
            raise ValidationError(_("Say true or false."), code="invalid")
        return value == "true" if value else None


class YesNoFilter(django_filters.BooleanFilter):
    field_class = YesNoField


class MomentField(IsoDateTimeField):
    """In UTC: PostgreSQL refuses offsets that Python takes, such as +20:00."""

    def to_python(self, value: Any) -> datetime | None:
        """Return the value. Raise ValidationError."""
        moment: datetime | None = super().to_python(value)
        try:
            return moment.astimezone(UTC) if moment else None
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class MomentFilter(django_filters.IsoDateTimeFilter):
    field_class = MomentField


def since(field: str) -> MomentFilter:
    """Filter for that time or later."""
    return MomentFilter(field_name=field, lookup_expr="gte", help_text="At that time or later.")


def before(field: str) -> MomentFilter:
    return MomentFilter(field_name=field, lookup_expr="lt", help_text="Before that time.")

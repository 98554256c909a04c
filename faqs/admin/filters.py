"""Filters of the list of FAQs."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from faqs.models import FAQQuerySet, FAQSource


class ValidityFilter(admin.SimpleListFilter):
    title = _("validity")
    parameter_name = "valid"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("today", _("Valid today")),
            ("soon", _("Published, ends within 14 days")),
            ("expired", _("Expired")),
            ("later", _("Not valid yet")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        today, faqs = timezone.localdate(), cast("FAQQuerySet", queryset)
        match self.value():
            case "today":
                return faqs.valid_on(today)
            case "soon":
                return faqs.expiring()
            case "expired":
                return queryset.filter(valid_until__lt=today)
            case "later":
                return queryset.filter(valid_from__gt=today)
        return queryset


class SourcesFilter(admin.SimpleListFilter):
    """Finds FAQs that nothing answers, those that staff answered, and those whose documents changed."""

    title = _("answer")
    parameter_name = "documents"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("some", _("Linked")),
            ("written", _("Answered by staff")),
            ("none", _("Neither a document nor an answer")),
            ("changed", _("Changed since somebody last checked")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        linked = Exists(FAQSource.objects.filter(faq=OuterRef("pk")))
        match self.value():
            case "some":
                return queryset.filter(linked)
            case "none":
                return cast("FAQQuerySet", queryset).without_answer()
            case "written":
                return cast("FAQQuerySet", queryset).answered_by_staff()
            case "changed":
                return cast("FAQQuerySet", queryset).with_changed_sources()
        return queryset


class TranslationFilter(admin.SimpleListFilter):
    title = _("translation")
    parameter_name = "translation"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("yes", _("Translations")),
            ("behind", _("Translations older than their original’s last change")),
            ("none", _("Not translated")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "yes":
                return queryset.filter(translation_of__isnull=False)
            case "behind":
                return cast("FAQQuerySet", queryset).behind_their_original()
            case "none":
                return queryset.filter(translation_of=None, translations=None)
        return queryset

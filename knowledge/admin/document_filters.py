"""Filters of the list of documents."""

from typing import Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.admin.languages import name_language
from knowledge.models import Document, Generation, Source
from knowledge.models.documents import DocumentQuerySet


class IndexedFilter(admin.SimpleListFilter):
    title = _("indexed")
    parameter_name = "indexed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Yes")), ("no", _("No, last change not indexed yet"))]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet[Any]:
        chosen = {"yes": queryset.in_index, "no": queryset.needing_index}.get(self.value() or "")
        live = Generation.objects.filter(state=Generation.State.LIVE).values("pk")
        return cast("QuerySet[Any]", chosen(live) if chosen else queryset)


class SourceFilter(admin.SimpleListFilter):
    title = _("website")
    parameter_name = "source"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        sources = [(str(source.pk), source.name) for source in Source.objects.visible_to(request.user).only("name")]
        return [*sources, ("none", _("None: written or uploaded here"))] if sources else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        value = self.value() or ""
        if value == "none":
            return queryset.filter(source_pages=None)
        return cast("DocumentQuerySet", queryset).from_source(int(value)) if value.isdecimal() else queryset


class DocumentValidityFilter(admin.SimpleListFilter):
    title = _("validity")
    parameter_name = "valid"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("today", _("Valid today")), ("expired", _("Expired")), ("later", _("Not valid yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        today = timezone.localdate()
        match self.value():
            case "today":
                return cast("DocumentQuerySet", queryset).valid_on(today)
            case "expired":
                return queryset.filter(valid_until__lt=today)
            case "later":
                return queryset.filter(valid_from__gt=today)
        return queryset


class LanguageFilter(admin.SimpleListFilter):
    """Lists the languages in use."""

    title = _("language")
    parameter_name = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        languages = Document.objects.of_university().visible_to(request.user).languages()
        return [(language, name_language(language)) for language in languages] if len(languages) > 1 else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        return queryset.filter(language=self.value()) if self.value() else queryset

"""Categories, with how many FAQs each has."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.db.annotations import count_related
from faqs.models import FAQ, Category

if TYPE_CHECKING:
    CategoryModelAdmin = admin.ModelAdmin[Category]
else:
    CategoryModelAdmin = admin.ModelAdmin


def shows_list(request: HttpRequest) -> bool:
    """Return whether this is the list (or an action on it), which shows counts that nothing else needs."""
    return bool(request.resolver_match and (request.resolver_match.url_name or "").endswith("_changelist"))


@admin.register(Category)
class CategoryAdmin(CategoryModelAdmin):
    list_display = ["name", "faqs"]
    search_fields = ["name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Category]:
        categories = super().get_queryset(request)
        counted = count_related(FAQ.objects.all(), by="category")
        return categories.annotate(faq_count=counted) if shows_list(request) else categories

    @admin.display(description=_("FAQs"), ordering="faq_count")
    def faqs(self, category: Any) -> int:
        return cast("int", category.faq_count)

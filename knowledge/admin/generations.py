"""Admin of generations, read-only: which one is live, and the progress of the next."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from core.db.annotations import count_related
from knowledge.models import Document, Generation, IndexedDocument, Passage

if TYPE_CHECKING:
    GenerationModelAdmin = admin.ModelAdmin[Generation]
else:
    GenerationModelAdmin = admin.ModelAdmin


@admin.register(Generation)
class GenerationAdmin(GenerationModelAdmin):
    list_display = ["model", "state", "progress", "passage_count", "passage_tokens", "created_at", "live_at"]
    fields = [
        "model",
        "state",
        "progress",
        "passage_count",
        "passage_tokens",
        "dimensions",
        "created_at",
        "live_at",
        "retired_at",
    ]
    actions = None

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Generation | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Generation | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Generation]:
        generations = super().get_queryset(request)
        indexed, passages = IndexedDocument.objects.all(), Passage.objects.all()
        every = Document.objects.order_by().annotate(one=Value(1)).values("one").annotate(count=Count("pk"))
        of = Coalesce(Subquery(every.values("count")), 0)
        return generations.annotate(
            indexed_count=count_related(indexed, by="generation"),
            passages_there=count_related(passages, by="generation"),
            of=of,
        )

    @admin.display(description=_("documents"))
    def progress(self, generation: Any) -> str:
        return render_to_string("admin/knowledge/generation/progress.html", {"generation": generation})

    @admin.display(description=_("passages"))
    def passage_count(self, generation: Any) -> int:
        return int(generation.passages_there)

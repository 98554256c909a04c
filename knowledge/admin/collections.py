"""Admin of collections, and of the granularities that questions are compared with."""

from typing import TYPE_CHECKING, Any, cast

from django.apps import apps
from django.contrib import admin
from django.db.models import QuerySet
from django.forms import CheckboxSelectMultiple, ModelForm, MultipleChoiceField
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from core.admin.forms import LabelledFormSet
from core.admin.scoped import TeamsAdmin
from core.db.annotations import count_related
from core.inference.llm import client
from knowledge.indexing.propositions import standing
from knowledge.indexing.units import count_unindexed, count_units
from knowledge.models import Abbreviation, Collection, Document, Granularity
from knowledge.models.collections import CollectionQuerySet
from knowledge.services.documents import announce_abbreviations, save_collection

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
    AbbreviationInlineBase = admin.TabularInline[Abbreviation, Collection]
    CollectionModelAdmin = admin.ModelAdmin[Collection]
    CollectionModelForm = ModelForm[Collection]
else:
    AnyModelAdmin = object
    AbbreviationInlineBase = admin.TabularInline
    CollectionModelAdmin, CollectionModelForm = admin.ModelAdmin, ModelForm


class CollectionForm(CollectionModelForm):
    granularities = MultipleChoiceField(
        label=_("Search more finely (slower)"),
        choices=Granularity.choices,
        required=False,
        widget=CheckboxSelectMultiple,
        help_text=_(
            "Questions are compared with single sentences or propositions as well; each one leads to its passage."
        ),
    )


class AbbreviationInline(AbbreviationInlineBase):
    model = Abbreviation
    formset = LabelledFormSet
    extra = 1
    verbose_name_plural = _("Abbreviations that pages do not explain: a question with either form finds both")


@admin.register(Collection)
class CollectionAdmin(TeamsAdmin, CollectionModelAdmin):
    form = CollectionForm
    list_display = ["name", "slug", "searched_by_default", "documents", "finer_parts"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    fields = ["name", "slug", "searched_by_default", "teams", "granularities", "units"]
    readonly_fields = ["units"]
    inlines = [AbbreviationInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        """Count documents; collections of data sets are not listed, only opened from their set."""
        counted = count_related(Document.objects.all(), by="collection")
        collections: QuerySet[Collection] = super().get_queryset(request).annotate(document_count=counted)
        opens_one = request.resolver_match and (request.resolver_match.url_name or "").endswith("_change")
        return collections if opens_one else collections.filter(for_evaluation=False)

    @admin.display(description=_("documents"), ordering="document_count")
    def documents(self, collection: Any) -> int:
        return cast("int", collection.document_count)

    @admin.display(description=_("searched more finely"))
    def finer_parts(self, collection: Collection) -> str:
        return ", ".join(str(Granularity(name).label) for name in collection.granularities)

    @admin.display(description=_("Units indexed"))
    def units(self, collection: Collection) -> str:
        asked = [Granularity(name) for name in collection.granularities] if collection.pk else []
        propositions = standing(collection) if Granularity.PROPOSITION in asked else None
        context = {
            "counts": [(granularity.label, count_units(collection, granularity)) for granularity in asked],
            "unindexed": count_unindexed(collection) if asked else 0,
            "propositions": propositions,
            "has_model": client.is_configured(),
        }
        return render_to_string("admin/knowledge/collection/units.html", context)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Let what the product made for a collection go with it, though nobody may delete it alone."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        made = {
            str(each._meta.verbose_name) for each in apps.get_models() if "delete" not in each._meta.default_permissions
        }
        return listed, counts, lacking - made, protected

    def save_model(self, request: HttpRequest, obj: Collection, form: Any, change: bool) -> None:
        save_collection(collection=obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if any(formset.has_changed() for formset in formsets):
            announce_abbreviations()


def university_collections() -> CollectionQuerySet:
    return Collection.objects.filter(for_evaluation=False)


def only_collection(collections: QuerySet[Collection]) -> Collection | None:
    """Return the collection if it is the only one that can be chosen, or None."""
    some = list(collections[:2])
    return some[0] if len(some) == 1 else None


class PresetsCollection(AnyModelAdmin):
    """For forms of what is in a collection; to be named before ModelAdmin."""

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Preset the only collection that the user may choose; the address outweighs it."""
        only = only_collection(university_collections().visible_to(request.user))
        preset = {"collection": only.pk} if only else {}
        return preset | super().get_changeform_initial_data(request)


class CollectionFilter(admin.RelatedFieldListFilter):
    """Lists only the collections of the user's own teams."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        return [(row.pk, row.name) for row in university_collections().visible_to(request.user)]

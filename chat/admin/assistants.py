"""The bot as students meet it."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db import models
from django.forms import CheckboxSelectMultiple, ModelForm, Textarea
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, RetrievalProfile
from chat.profile_services import check_usable
from knowledge.collection_choices import university_collections

if TYPE_CHECKING:
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
    AssistantModelForm = ModelForm[Assistant]
else:
    AssistantModelAdmin, AssistantModelForm = admin.ModelAdmin, ModelForm


class AssistantForm(AssistantModelForm):
    def clean_profile(self) -> RetrievalProfile | None:
        profile = cast("RetrievalProfile | None", self.cleaned_data["profile"])
        if profile:
            check_usable(profile)
        return profile


@admin.register(Assistant)
class AssistantAdmin(AssistantModelAdmin):
    form = AssistantForm
    list_display = ["name", "institution", "profile", "contact_name", "contact_email"]
    list_select_related = ["profile"]
    search_fields = ["name", "institution"]
    prepopulated_fields = {"slug": ["name"]}
    fieldsets = [
        (None, {"fields": ["name", "slug", "institution", "collections", "profile"]}),
        (_("What students see first"), {"fields": ["welcome", "welcome_de", "suggestions", "suggestions_de"]}),
        (
            _("Who helps where it cannot"),
            {
                "fields": ["contact_name", "contact_email", "contact_url"],
                "description": _("Shown whenever the assistant does not know an answer."),
            },
        ),
    ]
    formfield_overrides = {
        models.TextField: {"widget": Textarea(attrs={"rows": 4, "class": "vLargeTextField"})},
        models.URLField: {"assume_scheme": "https"},
    }

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collections":
            kwargs |= {"queryset": university_collections(), "widget": CheckboxSelectMultiple}
        return super().formfield_for_manytomany(db_field, request, **kwargs)

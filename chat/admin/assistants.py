"""The bot as students meet it."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db import models
from django.forms import Textarea
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant

if TYPE_CHECKING:
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
else:
    AssistantModelAdmin = admin.ModelAdmin


@admin.register(Assistant)
class AssistantAdmin(AssistantModelAdmin):
    list_display = ["name", "institution", "contact_name", "contact_email"]
    search_fields = ["name", "institution"]
    prepopulated_fields = {"slug": ["name"]}
    autocomplete_fields = ["collections"]
    fieldsets = [
        (None, {"fields": ["name", "slug", "institution", "collections"]}),
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

"""The bot as students meet it."""

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import admin
from django.db import models
from django.forms import CheckboxSelectMultiple, ModelChoiceField, ModelForm, MultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.admin.assistants.emergency_contacts import EmergencyContactInline
from chat.admin.assistants.kind_examples import KindExampleInline
from chat.models import Assistant, Language, PromptVersion, RetrievalProfile
from chat.prompt_template import BUILT_IN
from chat.services.profiles import check_usable
from chat.tasks import embed_kind_examples
from core.admin.scoped import TeamsAdmin
from core.admin.textarea import Textarea
from core.inference.llm import client
from knowledge.admin.collections import university_collections

if TYPE_CHECKING:
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
    AssistantModelForm = ModelForm[Assistant]
    PromptChoiceField = ModelChoiceField[PromptVersion]
    ProfileChoiceField = ModelChoiceField[RetrievalProfile]
else:
    AssistantModelAdmin, AssistantModelForm = admin.ModelAdmin, ModelForm
    PromptChoiceField = ProfileChoiceField = ModelChoiceField


class AssistantForm(AssistantModelForm):
    languages = MultipleChoiceField(
        label=_("Languages"),
        choices=Language.choices,
        widget=CheckboxSelectMultiple,
        error_messages={"required": _("Tick at least one language.")},
        help_text=_("It answers in the student’s language where it is ticked, else in the first that is."),
    )

    def clean_profile(self) -> RetrievalProfile | None:
        profile = cast("RetrievalProfile | None", self.cleaned_data["profile"])
        if profile:
            check_usable(profile)
        return profile


class ProfileField(ProfileChoiceField):
    def label_from_instance(self, profile: RetrievalProfile) -> str:
        return profile.choice_label


class PromptField(PromptChoiceField):
    def label_from_instance(self, version: PromptVersion) -> str:
        return f"{version.name}: {version.comment}"


@admin.register(Assistant)
class AssistantAdmin(TeamsAdmin, AssistantModelAdmin):
    form = AssistantForm
    list_display = ["name", "institution", "spoken", "profile", "prompt", "contact_name", "contact_email"]
    list_select_related = ["profile", "prompt"]
    search_fields = ["name", "institution"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [EmergencyContactInline, KindExampleInline]
    fieldsets = [
        (None, {"fields": ["name", "slug", "institution", "languages", "collections", "profile", "teams"]}),
        (
            _("What students see first"),
            {"fields": ["welcome", "welcome_de", "suggestions", "suggestions_de"]},
        ),
        (
            _("When it does not know"),
            {
                "fields": [
                    *("evidence_needed", "abstention", "abstention_de"),
                    *("contact_name", "contact_email", "contact_url"),
                ],
                "description": _("It says so rather than guess, and names who can help."),
            },
        ),
        (
            _("What is no question"),
            {
                "fields": ["recognises_kinds"],
                "description": _(
                    "Examples of your own are at the end of this page: messages of your students that were not "
                    "recognised, or that were taken for small talk."
                ),
            },
        ),
        (
            _("How long what was said is kept"),
            {"fields": ["keep_conversations_days", "keep_questions_days", "keep_counts_months"]},
        ),
        (
            _("How it writes"),
            {
                "fields": ["uses_model", "persona", "prompt", "model", "temperature", "max_tokens", "strictness"],
                "description": _(
                    "For answers that a language model writes. What is here by default works: change one thing at a "
                    "time, and try a few questions after it."
                ),
            },
        ),
    ]
    formfield_overrides = {
        models.TextField: {"widget": Textarea(attrs={"rows": 4, "class": "vLargeTextField"})},
        models.URLField: {"assume_scheme": "https"},
    }

    @admin.display(description=_("languages"))
    def spoken(self, assistant: Assistant) -> str:
        return ", ".join(str(Language(code).label) for code in assistant.languages)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["has_language_model"] = client.is_configured()
        return super().render_change_form(request, context, *args, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        embed_kind_examples.delay_on_commit()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Show in an empty field what it stands for."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is None:
            return field
        if db_field.name == "model":
            field.widget.attrs["placeholder"] = settings.LLM_MODEL or gettext("This server has no language model")
        elif db_field.name == "max_tokens":
            field.widget.attrs["placeholder"] = settings.LLM_MAX_TOKENS
        elif db_field.name == "keep_conversations_days":
            field.widget.attrs["placeholder"] = settings.RETENTION_DAYS
        elif db_field.name == "temperature":
            field.widget.attrs |= {"min": 0, "max": 2, "step": 0.1}
        elif db_field.name == "prompt":
            # A version is made on a page of its own, where it can be looked at before anybody uses it.
            field.widget.can_add_related = field.widget.can_delete_related = False
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "prompt":
            empty = gettext("%(name)s: the texts that come with MarcelCMS") % {"name": BUILT_IN.name}
            kwargs |= {"form_class": PromptField, "empty_label": empty}
        elif db_field.name == "profile":
            kwargs |= {"form_class": ProfileField, "queryset": RetrievalProfile.objects.for_choice()}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collections":
            kwargs |= {"queryset": university_collections(), "widget": CheckboxSelectMultiple}
        return super().formfield_for_manytomany(db_field, request, **kwargs)

"""The websites that the widget stands on, and the snippet that puts it there."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models
from django.forms import CharField, ModelForm, Script, TextInput
from django.forms.widgets import Textarea
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.models import Site
from chat.models.sites import validate_origin
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    SiteModelAdmin = admin.ModelAdmin[Site]
    SiteModelForm = ModelForm[Site]
else:
    SiteModelAdmin, SiteModelForm = admin.ModelAdmin, ModelForm


class OriginsField(CharField):
    """Origins, one a line."""

    widget = Textarea(attrs={"rows": 4, "class": "vLargeTextField", "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return value.split() if isinstance(value, str) else list(value or ())

    def run_validators(self, value: Any) -> None:
        problems: list[ValidationError] = []
        for origin in value:
            try:
                validate_origin(origin)
            except ValidationError as error:
                problems.append(error)
        if problems:
            raise ValidationError(problems)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


class SiteForm(SiteModelForm):
    allowed_origins = OriginsField(
        label=_("Websites that may show the chat"),
        required=False,
        help_text=_("Their addresses, such as https://www.uni.example; one a line."),
    )


@admin.register(Site)
class SiteAdmin(ScopedAdmin, SiteModelAdmin):
    form = SiteForm
    list_display = ["name", "assistant", "origins", "is_active", "is_default"]
    show_full_result_count = False
    list_filter = ["is_active", ("assistant", ScopedFilter)]
    list_select_related = ["assistant"]
    search_fields = ["name", "public_id", "assistant__name"]
    readonly_fields = ["snippet"]
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    fieldsets = [
        (None, {"fields": ["name", "assistant", "allowed_origins", "is_active", "is_default"]}),
        (
            _("How it looks"),
            {"fields": ["accent", "position", "logo", "greeting", "greeting_de", "privacy_url"]},
        ),
        (_("On your pages"), {"fields": ["snippet"]}),
    ]

    class Media:
        js = [Script("chat/snippet.js", type="module")]

    @admin.display(description=_("websites that may show the chat"))
    def origins(self, site: Site) -> str:
        return ", ".join(site.allowed_origins)

    @admin.display(description=_("code for your web team"))
    def snippet(self, site: Site) -> str | SafeString:
        if not site.pk:
            return str(_("Shown once the page with the chat is saved."))
        return render_to_string("admin/chat/site/snippet.html", {"site": site, "origin": settings.PUBLIC_URL})

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "accent" and field is not None:
            field.widget = TextInput(attrs={"type": "color"})
        return field

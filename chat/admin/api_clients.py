"""Programs that are connected by a key: what each may use, and how much."""

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.forms import CheckboxSelectMultiple, ModelForm, MultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models import APIClient
from chat.services.api_clients import make_client
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    ClientModelAdmin = admin.ModelAdmin[APIClient]
    ClientModelForm = ModelForm[APIClient]
else:
    ClientModelAdmin, ClientModelForm = admin.ModelAdmin, ModelForm


class APIClientForm(ClientModelForm):
    scopes = MultipleChoiceField(
        label=_("What it may do"),
        choices=APIClient.Scope.choices,
        initial=[APIClient.Scope.ASK],
        widget=CheckboxSelectMultiple,
        error_messages={"required": _("Tick at least one thing that the program may do.")},
    )


@admin.register(APIClient)
class APIClientAdmin(ScopedAdmin, ClientModelAdmin):
    """The key is made with the row, shown once, and never changed; the rest may be."""

    form = APIClientForm
    list_display = ["name", "key_id", "used_assistants", "allowed", "state", "last_used_at"]
    list_filter = ["is_active", ("assistants", ScopedFilter)]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["name", "key_id"]
    search_help_text = _("Searches names and the beginnings of keys.")
    fields = ["name", "assistants", "scopes", "per_minute", "last_day", "is_active"]
    known = ("key_id", "created_at", "last_used_at")
    add_form_template = "admin/chat/apiclient/add_form.html"
    change_list_template = "admin/chat/apiclient/change_list.html"

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[APIClient]:
        return super().get_queryset(request).prefetch_related("assistants")

    def get_fields(self, request: HttpRequest, obj: APIClient | None = None) -> Any:
        return [*self.fields, *(self.known if obj else ())]

    def get_readonly_fields(self, request: HttpRequest, obj: APIClient | None = None) -> Any:
        return self.known if obj else ()

    @admin.display(description=_("assistants"))
    def used_assistants(self, client: APIClient) -> str:
        return ", ".join(str(assistant) for assistant in client.assistants.all())

    @admin.display(description=_("what it may do"))
    def allowed(self, client: APIClient) -> str:
        return ", ".join(str(APIClient.Scope(scope).label) for scope in client.scopes)

    @admin.display(description=_("state"))
    def state(self, client: APIClient) -> str:
        return render_to_string("admin/chat/apiclient/state.html", {"client": client})

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, **{**kwargs, "widget": CheckboxSelectMultiple()})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": gettext("Connected programs"), **(extra_context or {})})

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: APIClient, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            request.new_key = make_client(client=obj)  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: APIClient, post_url_continue: str | None = None) -> HttpResponse:
        """Show the key, this once."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The program’s key"),
            "opts": self.opts,
            "row": obj,
            "key": request.new_key,  # type: ignore[attr-defined]
            "origin": settings.PUBLIC_URL.rstrip("/"),
        }
        response = TemplateResponse(request, "admin/chat/apiclient/made.html", context)
        response["Cache-Control"] = "no-store"
        return response

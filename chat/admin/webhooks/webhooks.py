"""Webhooks: where events are sent to, and which."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.forms import CheckboxSelectMultiple, ModelForm, MultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from chat.models import Webhook, WebhookEvent
from chat.models.webhooks import event_title
from chat.services.webhooks import change_webhook, make_webhook, send_test
from core.admin.scoped import ScopedAdmin, ScopedFilter
from core.outgoing.urls import read_host

if TYPE_CHECKING:
    WebhookModelAdmin = admin.ModelAdmin[Webhook]
    WebhookModelForm = ModelForm[Webhook]
else:
    WebhookModelAdmin, WebhookModelForm = admin.ModelAdmin, ModelForm


def list_events() -> list[tuple[str, str]]:
    """Return the choices of events: each one in words, with the name that the receiver gets."""
    return [(str(code), f"{name} ({code})") for code, name in WebhookEvent.choices]


class WebhookForm(WebhookModelForm):
    events = MultipleChoiceField(
        label=_("Events"),
        choices=list_events,
        widget=CheckboxSelectMultiple,
        error_messages={"required": _("Tick at least one event.")},
    )


@admin.register(Webhook)
class WebhookAdmin(ScopedAdmin, WebhookModelAdmin):
    """The secret is made with the row, shown once, and never changed; the rest may be."""

    form = WebhookForm
    list_display = ["name", "host", "taken_events", "used_assistants", "state"]
    list_filter = ["is_active", ("assistants", ScopedFilter)]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["name", "url"]
    search_help_text = _("Searches names and addresses.")
    fields = ["name", "url", "events", "assistants", "is_active"]
    known = ("state", "created_at")
    add_form_template = "admin/chat/webhook/add_form.html"
    change_list_template = "admin/chat/webhook/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.test_view))
        return [path("<int:webhook_id>/test/", view, name="chat_webhook_test"), *super().get_urls()]

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).prefetch_related("assistants")

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        return [*self.fields, *(self.known if obj else ())]

    def get_readonly_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        return self.known if obj else ()

    @admin.display(description=_("address"), ordering="url")
    def host(self, webhook: Webhook) -> str:
        return read_host(webhook.url)

    @admin.display(description=_("events"))
    def taken_events(self, webhook: Webhook) -> str:
        return "; ".join(map(event_title, webhook.events))

    @admin.display(description=_("assistants"))
    def used_assistants(self, webhook: Webhook) -> str:
        return ", ".join(str(assistant) for assistant in webhook.assistants.all())

    @admin.display(description=_("state"))
    def state(self, webhook: Webhook) -> str:
        return render_to_string("admin/chat/webhook/state.html", {"webhook": webhook})

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, **{**kwargs, "widget": CheckboxSelectMultiple()})

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if change:
            change_webhook(webhook=obj)
        else:
            request.new_secret = make_webhook(webhook=obj)  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: Webhook, post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret, this once."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The webhook’s secret"),
            "opts": self.opts,
            "row": obj,
            "secret": request.new_secret,  # type: ignore[attr-defined]
        }
        response = TemplateResponse(request, "admin/chat/webhook/made.html", context)
        response["Cache-Control"] = "no-store"
        return response

    def test_view(self, request: HttpRequest, webhook_id: int) -> HttpResponse:
        webhook = get_object_or_404(self.get_queryset(request), pk=webhook_id)
        if not self.has_change_permission(request, webhook):
            raise PermissionDenied
        try:
            delivery = send_test(webhook=webhook)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return redirect("admin:chat_webhook_change", webhook.pk)
        self.log_addition(request, delivery, [{"added": {}}])
        self.message_user(request, gettext("The test event is on its way. Reload this page to see what became of it."))
        return redirect(f"{reverse('admin:chat_webhookdelivery_changelist')}?webhook__id__exact={webhook.pk}")

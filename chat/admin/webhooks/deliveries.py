"""Deliveries of webhooks: what was sent, what came back, and once more."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from chat.models import WebhookDelivery
from chat.models.webhooks import event_title
from chat.services.webhooks import send_again
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    DeliveryModelAdmin = admin.ModelAdmin[WebhookDelivery]
else:
    DeliveryModelAdmin = admin.ModelAdmin


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ScopedAdmin, DeliveryModelAdmin):
    """A record that nobody changes; it is deleted with its webhook, with its conversation, and after 30 days."""

    list_display = ["created_at", "what", "webhook", "outcome", "attempts", "next_attempt_at", "again"]
    list_filter = ["state", ("webhook", ScopedFilter)]
    list_select_related = ["webhook"]
    list_per_page = 50
    show_full_result_count = False
    actions = None
    fields = [
        *("webhook", "what", "created_at", "outcome", "attempts", "next_attempt_at", "finished_at"),
        *("event_id", "body"),
    ]
    nothing_yet = _("Nothing was sent in the last 30 days.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.again_view))
        return [path("<int:delivery_id>/again/", view, name="chat_webhookdelivery_again"), *super().get_urls()]

    # --- permissions ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: WebhookDelivery | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: WebhookDelivery | None = None) -> bool:
        """Let those delete it who delete a webhook or a conversation, which takes its deliveries along."""
        user = request.user
        return user.has_perm("chat.delete_webhook") or user.has_perm("chat.delete_conversation")

    def has_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_webhook")

    # --- what is shown ---

    @admin.display(description=_("event"), ordering="event")
    def what(self, delivery: WebhookDelivery) -> str:
        return event_title(delivery.event)

    @admin.display(description=_("state"), ordering="state")
    def outcome(self, delivery: WebhookDelivery) -> str:
        return render_to_string("admin/chat/webhookdelivery/state.html", {"delivery": delivery})

    @admin.display(description="", empty_value="")
    def again(self, delivery: WebhookDelivery) -> str:
        if not (delivery.is_finished and delivery.webhook.is_active):
            return ""
        return render_to_string("admin/chat/webhookdelivery/again.html", {"delivery": delivery})

    def get_list_display(self, request: HttpRequest) -> Any:
        shown = super().get_list_display(request)
        return shown if self.has_again_permission(request) else [name for name in shown if name != "again"]

    # --- what is done ---

    def again_view(self, request: HttpRequest, delivery_id: int) -> HttpResponse:
        if not self.has_again_permission(request):
            raise PermissionDenied
        delivery = get_object_or_404(self.get_queryset(request).select_related("webhook"), pk=delivery_id)
        try:
            send_again(delivery=delivery)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_change(request, delivery, [{"changed": {"fields": ["state"]}}])
            self.message_user(request, gettext("The event is sent again."), messages.SUCCESS)
        return redirect("admin:chat_webhookdelivery_changelist")

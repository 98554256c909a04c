"""The one page of the dashboard's assumptions."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse

from analytics.models import Assumptions

if TYPE_CHECKING:
    AssumptionsModelAdmin = admin.ModelAdmin[Assumptions]
else:
    AssumptionsModelAdmin = admin.ModelAdmin


@admin.register(Assumptions)
class AssumptionsAdmin(AssumptionsModelAdmin):
    fields = ["minutes", "read_price", "written_price", "currency"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Assumptions | None = None) -> bool:
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide it from the navigation: the dashboard leads here."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead to the only row, which is made when somebody first looks for it."""
        if not self.has_view_or_change_permission(request):
            return super().changelist_view(request, extra_context)
        row, _made = Assumptions.objects.get_or_create(pk=1)
        return redirect("admin:analytics_assumptions_change", row.pk)

    def response_post_save_change(self, request: HttpRequest, obj: Assumptions) -> HttpResponseRedirect:
        return redirect(reverse("dashboard"))

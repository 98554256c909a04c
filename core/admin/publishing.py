"""Tells staff that a form saved with “Save and publish” is published."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object


class PublishingAdmin(AnyModelAdmin):
    """To be named before ModelAdmin; the button is in `admin/submit_line.html`, and saving with it is the screen's."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        if "_publish" not in request.POST:
            return super().response_add(request, obj, post_url_continue)
        self._say_published(request, obj)
        return self.response_post_save_add(request, obj)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if "_publish" not in request.POST:
            return super().response_change(request, obj)
        self._say_published(request, obj)
        return self.response_post_save_change(request, obj)

    def _say_published(self, request: HttpRequest, obj: Any) -> None:
        self.message_user(request, _("“%(name)s” is saved and published.") % {"name": obj}, messages.SUCCESS)

"""Forms opened from another page of the admin, with `?back=` and its path, return there once they are saved."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

if TYPE_CHECKING:
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = object


def with_back(address: str, back: str) -> str:
    """Return the address of a form that returns to the path `back` once it is saved."""
    return f"{address}?{urlencode({'back': back})}"


def read_back(request: HttpRequest) -> str:
    """Return the path that the form returns to; empty if there is none, or it leads out of this admin."""
    back = request.GET.get("back", "")
    is_here = url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith(reverse("admin:index"))
    return back if is_here else ""


class BackAdmin(AnyModelAdmin):
    """To be named before ModelAdmin."""

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        back = read_back(request)
        return HttpResponseRedirect(back) if back else super().response_post_save_add(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        back = read_back(request)
        return HttpResponseRedirect(back) if back else super().response_post_save_change(request, obj)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Keep the path while the form is saved and edited further."""
        response = super().response_change(request, obj)
        back = read_back(request)
        if back and "_continue" in request.POST:
            return HttpResponseRedirect(with_back(request.path, back))
        return response

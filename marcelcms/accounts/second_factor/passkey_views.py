"""The page on which a passkey is added, and what its script asks for."""

from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from marcelcms.accounts.second_factor import passkeys, services
from marcelcms.accounts.second_factor.entry import complete, pending_user
from marcelcms.accounts.second_factor.views import codes_page, page
from marcelcms.accounts.sign_on.local import may_log_in_locally


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def passkey_view(request: HttpRequest) -> HttpResponse:
    """Add a passkey: for who is logged in, and for who owes a second factor and has none."""
    user = _member(request)
    if user is None or not passkeys.is_possible(request):
        return redirect("admin:index" if request.user.is_authenticated else "admin:login")
    failure = ""
    if request.method == "POST":
        try:
            codes = passkeys.add(
                request, user, name=request.POST.get("name", ""), credential=request.POST.get("credential", "")
            )
        except passkeys.Refused:
            failure = _("The passkey was not accepted. Please try again, or take another way.")
        else:
            wanted = reverse("my-login") if request.user.is_authenticated else complete(request, user)
            if codes:
                return codes_page(request, codes, wanted)
            messages.success(request, _("The passkey is added."))
            return redirect(wanted)
    return page(
        request,
        "passkey",
        _("Add a passkey"),
        None,
        failure=failure,
        is_owed=not request.user.is_authenticated,
        characters=passkeys.NAME_CHARACTERS,
    )


@never_cache
@sensitive_post_parameters()
@require_POST
def passkey_options_view(request: HttpRequest) -> HttpResponse:
    """Return what the browser needs to make a key; who is logged in types the password once more for it."""
    user = _member(request)
    if user is None or not passkeys.is_possible(request):
        return JsonResponse({"said": _("Please log in again.")}, status=403)
    if request.user.is_authenticated:
        name, password = user.get_username(), request.POST.get("password", "")
        if authenticate(request, username=name, password=password) != user:
            return JsonResponse({"said": _("This password is not right.")}, status=403)
    return JsonResponse(passkeys.options_to_add(request, user))


@require_POST
def passkey_remove_view(request: HttpRequest) -> HttpResponse:
    """Remove one of one's passkeys, but not the last second factor. To be wrapped in `admin.site.admin_view`."""
    user, chosen = request.user, request.POST.get("passkey", "")
    assert isinstance(user, User)  # noqa: S101 (admin_view lets nobody else in)
    if not services.has_app(user) and user.passkeys.count() == 1:
        said = _("This is your only second factor. Add another one first, or switch it off with a recovery code.")
        messages.error(request, said)
    elif chosen.isdecimal() and len(chosen) < 19 and passkeys.remove(user, int(chosen)):
        messages.success(request, _("The passkey is removed."))
    return redirect("my-login")


def _member(request: HttpRequest) -> User | None:
    """Return who may add a passkey: a member who is logged in, or one who owes a second factor and has none."""
    if request.user.is_authenticated:
        user = request.user
        return user if isinstance(user, User) and user.is_staff and may_log_in_locally(user) else None
    pending = pending_user(request)
    return None if pending is None or services.has_factor(pending) or not may_log_in_locally(pending) else pending

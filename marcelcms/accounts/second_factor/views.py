"""Pages on which a code is typed, and on which an app is set up."""

import json
from typing import Any, cast

import segno
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from core.db.encryption import Undecryptable
from marcelcms.accounts.open_sessions.services import open_sessions
from marcelcms.accounts.second_factor import passkeys, services
from marcelcms.accounts.second_factor.entry import complete, pending_user
from marcelcms.accounts.second_factor.secrets import address, spaced
from marcelcms.accounts.sign_on.local import may_log_in_locally


class CodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def code_view(request: HttpRequest) -> HttpResponse:
    """Ask who typed a right password for their passkey or the code of their app, and log them in."""
    user = pending_user(request)
    if user is None:
        return redirect("admin:login")
    credential = request.POST.get("credential")
    form = CodeForm(request.POST if request.method == "POST" and credential is None else None)
    failure = ""
    if credential is not None:
        try:
            passkeys.prove(request, user, credential=credential)
        except passkeys.Refused:
            failure = _("The passkey was not accepted. Please try again, or take another way.")
        else:
            return HttpResponseRedirect(complete(request, user))
    elif form.is_valid() and _passes(form, lambda code: services.check(user=user, code=code)):
        return HttpResponseRedirect(complete(request, user))
    options = passkeys.options_to_prove(request, user) if passkeys.is_possible(request) else None
    return page(
        request,
        "code",
        _("Your second factor"),
        form,
        options=json.dumps(options) if options else "",
        has_app=services.has_app(user),
        failure=failure,
    )


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def setup_view(request: HttpRequest) -> HttpResponse:
    """Set up an app: who is logged in by their own choice, who owes a code because a role needs it."""
    pending = pending_user(request)
    user = request.user if request.user.is_authenticated else pending
    if user is None or not user.is_staff:
        return redirect("admin:login")
    # Who has a passkey and typed no more than the password sets nothing up that would do in its place.
    has_one = services.has_app(user) if request.user.is_authenticated else services.has_factor(user)
    if has_one or not may_log_in_locally(user):
        return redirect("admin:index")
    form, codes = CodeForm(request.POST if request.method == "POST" else None), list[str]()
    if form.is_valid() and _passes(form, lambda code: codes.extend(services.confirm(user=user, code=code))):
        wanted = reverse("my-login") if request.user.is_authenticated else complete(request, user)
        return codes_page(request, codes, wanted)
    secret = services.begin(user=user)
    picture = segno.make(address(secret, user.get_username())).svg_data_uri(
        scale=5, border=4, dark="#000", light="#fff"
    )
    return page(
        request,
        "setup",
        _("Set up a second factor"),
        form,
        picture=picture,
        secret=spaced(secret),
        is_owed=not request.user.is_authenticated,
        may_take_passkey=passkeys.is_possible(request),
    )


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def my_login_view(request: HttpRequest) -> HttpResponse:
    """Show how the member logs in, and what they may change about it. To be wrapped in `admin.site.admin_view`."""
    user = cast("User", request.user)
    has_factor, form = services.has_factor(user), CodeForm(request.POST if request.method == "POST" else None)
    step = request.POST.get("step")
    needs = services.needs_factor(user)
    is_asked = has_factor and (step == "renew" or (step == "off" and not needs))
    if is_asked and form.is_valid() and _passes(form, lambda code: services.check(user=user, code=code)):
        if step == "renew":
            return codes_page(request, services.renew_codes(user=user), reverse("my-login"))
        services.take_away(user=user, by=user)
        messages.success(request, _("Your second factor is off."))
        return redirect("my-login")
    return page(
        request,
        "my_login",
        _("My login"),
        form,
        has_factor=has_factor,
        has_app=services.has_app(user),
        passkeys=list(user.passkeys.all()),
        may_take_passkey=passkeys.is_possible(request),
        needs=needs,
        is_local=may_log_in_locally(user),
        sessions=open_sessions(user, this=request.session.session_key),
    )


@require_POST
def reset_view(request: HttpRequest, user_id: int) -> HttpResponse:
    """Take away a colleague's second factor. To be wrapped in `admin.site.admin_view`.

    Raises PermissionDenied, also for one's own and for an account that may do more than the one who asks.
    """
    by, user = cast("User", request.user), get_object_or_404(User, pk=user_id)
    if user == by or not admin.site.get_model_admin(User).has_change_permission(request, user):
        raise PermissionDenied
    if services.has_factor(user):
        services.take_away(user=user, by=by)
        messages.success(
            request, _("The second factor is taken away. Where a role needs one, the next login sets it up.")
        )
    else:
        messages.info(request, _("This account has no second factor."))
    return redirect("admin:auth_user_change", user.pk)


def _passes(form: CodeForm, use: Any) -> bool:
    """Return whether the code is right; else the form says why not."""
    try:
        use(form.cleaned_data["code"])
    except services.WrongCode:
        form.add_error("code", _("This code is not right, or was used already. Take the next one."))
    except services.TooMany:
        minutes = services.wait_seconds() // 60
        said = ngettext("Please wait %d minute and try again.", "Please wait %d minutes and try again.", minutes)
        form.add_error("code", _("Too many wrong codes. %(wait)s") % {"wait": said % minutes})
    except Undecryptable:
        form.add_error("code", _("Your second factor cannot be read any more. Ask an administrator to take it away."))
    else:
        return True
    return False


def codes_page(request: HttpRequest, codes: list[str], wanted: str) -> HttpResponse:
    """Show the recovery codes, once."""
    return page(request, "codes", _("Your recovery codes"), None, codes=codes, wanted=wanted)


def page(request: HttpRequest, name: str, title: str, form: CodeForm | None, **more: Any) -> HttpResponse:
    """Show one of the pages of the second factor."""
    context = {**admin.site.each_context(request), "title": title, "form": form, **more}
    return TemplateResponse(request, f"admin/marcelcms/second_factor/{name}.html", context)

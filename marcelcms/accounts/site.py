"""The admin's site with its ways in and out: by the directory, or by a name and a password."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from marcelcms.accounts.second_factor.entry import enter
from marcelcms.accounts.sign_on import directory
from marcelcms.accounts.sign_on.entry import DIRECTORY_SESSION
from marcelcms.accounts.sign_on.local import may_log_in_locally
from marcelcms.accounts.sign_on.views import end_session_url
from marcelcms.navigation.site import StaffSite


class LocalLoginForm(AdminAuthenticationForm):
    """Lets in by a password who does not belong to the directory."""

    def confirm_login_allowed(self, user: Any) -> None:
        super().confirm_login_allowed(user)
        if not may_log_in_locally(user):
            raise forms.ValidationError(
                self.error_messages["invalid_login"],
                code="invalid_login",
                params={"username": self.username_field.verbose_name},
            )


class LocalLoginView(LoginView):
    """Logs in with a password, and asks for a code where there is a second factor."""

    authentication_form = LocalLoginForm
    template_name = "admin/login.html"
    next_page = "admin:index"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, REDIRECT_FIELD_NAME: context[REDIRECT_FIELD_NAME] or reverse("admin:index")}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return enter(self.request, form.get_user(), self.get_success_url())


class AccountsSite(StaffSite):
    """The admin's site; the directory's button stands on its login page, where there is a directory."""

    @method_decorator(never_cache)
    @login_not_required
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the login page; a right password leads on as `enter` says. As Django's, but for that."""
        if request.method == "GET" and self.has_permission(request):
            return redirect("admin:index")
        context = {
            **self.each_context(request),
            "title": gettext("Log in"),
            "subtitle": None,
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **sign_on_context(request),
            **(extra_context or {}),
        }
        return LocalLoginView.as_view(extra_context=context)(request)  # type: ignore[return-value]

    @method_decorator(never_cache)
    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """End the session here, and then that of the directory, whose page the browser is sent to.

        By a page rather than by a redirect: a form of the admin may only lead to the admin.
        """
        begun = request.session.get(DIRECTORY_SESSION, {}) if request.method == "POST" else {}
        response: HttpResponse = super().logout(request, extra_context)
        address = end_session_url(begun)
        if not address:
            return response
        context = {**self.each_context(request), "title": gettext("Logged out"), "address": address}
        return TemplateResponse(request, "admin/marcelcms/sign_on/logged_out.html", context)


def sign_on_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the login page shows of the directory."""
    if not directory.is_configured():
        return {}
    wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
    query = f"?{urlencode({REDIRECT_FIELD_NAME: wanted})}" if wanted else ""
    return {
        "sign_on_url": reverse("sign-on") + query,
        "sign_on_label": settings.SIGN_ON_LABEL or gettext("your university account"),
        "has_local_login": settings.LOCAL_LOGIN,
    }

"""Pages of an invitation: the administrator's form, and the page behind the link."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from analytics.mails import sends_mails
from marcelcms.accounts.invitations.forms import InvitationForm
from marcelcms.accounts.invitations.links import days_valid, invitation_link, invitation_tokens
from marcelcms.accounts.invitations.services import NotMailed, make_account, send_link
from marcelcms.accounts.roles import ROLE_TEXTS, role_title
from marcelcms.accounts.second_factor.entry import enter
from marcelcms.accounts.sign_on.local import may_log_in_locally
from marcelcms.accounts.teams import DUTIES, make_team

if TYPE_CHECKING:
    from django.contrib.auth.forms import SetPasswordForm

MAY_INVITE = ("auth.add_user", "auth.change_user")


@require_http_methods(["GET", "HEAD", "POST"])
def invite_view(request: HttpRequest) -> HttpResponse:
    """Show the form and invite. To be wrapped in `admin.site.admin_view`; raises PermissionDenied."""
    by = cast("User", request.user)
    if not by.has_perms(MAY_INVITE):
        raise PermissionDenied
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _after_link(request, _invited(dict(form.cleaned_data), by), by)
    context = {
        **admin.site.each_context(request),
        "title": _("Invite a colleague"),
        "form": form,
        "sends_mails": sends_mails(),
    }
    return TemplateResponse(request, "admin/marcelcms/invitation/invite.html", context)


@transaction.atomic
def _invited(chosen: dict[str, Any], by: User) -> User:
    """Make the account, and the new team if one was named."""
    name, duties = chosen.pop("new_team"), {duty: chosen.pop(duty) for duty in DUTIES}
    new = [make_team(name=name, **duties, by=by)] if name else []
    return make_account(**chosen | {"teams": [*chosen["teams"], *new]}, by=by)


@require_POST
def send_again_view(request: HttpRequest, user_id: int) -> HttpResponse:
    """Send an account a link to choose a password. To be wrapped in `admin.site.admin_view`.

    Raises PermissionDenied, also for an account that may do more than the one who asks.
    """
    by, user = cast("User", request.user), get_object_or_404(User, pk=user_id)
    if not admin.site.get_model_admin(User).has_change_permission(request, user):
        raise PermissionDenied
    if not may_log_in_locally(user):
        messages.error(request, _("This account logs in with the directory and needs no password here."))
        return redirect("admin:auth_user_change", user.pk)
    if not (user.is_active and user.is_staff and user.email):
        messages.error(request, _("A link needs an active account of staff with an e-mail address."))
        return redirect("admin:auth_user_change", user.pk)
    return _after_link(request, user, by)


def _after_link(request: HttpRequest, user: User, by: User) -> HttpResponse:
    """Mail the link; where that is not possible, show it, so that it can be handed over."""
    try:
        send_link(user=user, by=by)
    except NotMailed as error:
        context = {
            **admin.site.each_context(request),
            "title": _("Link for %(name)s") % {"name": user.get_full_name() or user.get_username()},
            "member": user,
            "link": invitation_link(user),
            "days": days_valid(),
            "was_tried": error.__cause__ is not None,
        }
        return TemplateResponse(request, "admin/marcelcms/invitation/link.html", context)
    said = _("An e-mail with a link to choose a password was sent to %(address)s. The link holds for %(days)d days.")
    messages.success(request, said % {"address": user.email, "days": days_valid()})
    return redirect("admin:auth_user_changelist")


class ChoosePasswordView(PasswordResetConfirmView):
    """The page behind the link: who was invited chooses a password, is signed in and sees the first page."""

    token_generator = invitation_tokens
    template_name = "admin/marcelcms/invitation/choose.html"
    success_url = reverse_lazy("admin:index")

    def get_user(self, uidb64: str) -> User | None:
        user = super().get_user(uidb64)
        return user if user and user.is_active and user.is_staff and may_log_in_locally(user) else None

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        member = self.user
        groups = member.groups.order_by("name").values_list("name", flat=True) if member else []
        return {
            **super().get_context_data(**kwargs),
            **admin.site.each_context(self.request),
            "title": _("Choose your password") if self.validlink else _("This link does not hold any more"),
            "member": member,
            "roles": [ROLE_TEXTS[name] for name in groups if name in ROLE_TEXTS],
            "teams": [role_title(name) for name in groups if name not in ROLE_TEXTS],
            "days": days_valid(),
            "login_url": reverse("admin:login"),
        }

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        super().form_valid(form)
        member = cast("User", self.user)
        said: list[Any] = [{"changed": {"fields": ["password"]}}]
        LogEntry.objects.log_actions(member.pk, [member], CHANGE, said, single_object=True)
        response = enter(self.request, member, str(self.success_url))
        if self.request.user.is_authenticated:
            messages.success(self.request, _("Your password is saved, and you are signed in."))
        return response

"""The list “Contradictions”: both statements side by side, and what staff do about them."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analytics.contradictions.listing import KINDS, Key, list_keys, read_rows
from analytics.contradictions.services import dismiss_contradiction, reopen_contradiction
from analytics.models import Contradiction
from chat.conversations.impact import RECENT

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PER_PAGE = 25
DISMISS, REOPEN = "dismiss", "reopen"
State = Contradiction.State
#: States that the list shows; what is settled is over.
SHOWN = (State.OPEN, State.DISMISSED)


def may_see(user: "User") -> bool:
    return user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document")


@require_safe
def contradictions_view(request: HttpRequest) -> HttpResponse:
    """Show the list. To be wrapped in `admin.site.admin_view`; raise PermissionDenied."""
    user = cast("User", request.user)
    if not may_see(user):
        raise PermissionDenied
    kind = request.GET.get("kind", "") if request.GET.get("kind") in KINDS else ""
    asked = request.GET.get("state")
    state = State(asked) if asked in SHOWN else State.OPEN
    row = request.GET.get("row", "")
    only = int(row) if row.isdecimal() and len(row) < 19 else None
    page = Paginator(list_keys(user, kind=kind, state=state, only=only), PER_PAGE).get_page(request.GET.get("p"))
    context = {
        **admin.site.each_context(request),
        "title": _("Contradictions"),
        "rows": read_rows([Key(*each[:3]) for each in page.object_list], user),
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
        "kinds": [("", _("All kinds")), *KINDS.items()],
        "states": [(each.value, each.label) for each in SHOWN],
        "kind": kind,
        "state": state.value,
        "days": RECENT.days,
        "may_change": user.has_perm("knowledge.change_document"),
    }
    return TemplateResponse(request, "admin/analytics/contradictions/page.html", context)


@require_POST
def contradiction_view(request: HttpRequest, contradiction_id: int) -> HttpResponse:
    """Dismiss a contradiction, or list it again. To be wrapped as above; raise PermissionDenied."""
    user = cast("User", request.user)
    if not may_see(user):
        raise PermissionDenied
    found = get_object_or_404(Contradiction.objects.visible_to(user), pk=contradiction_id)
    if not user.has_perm("knowledge.change_document") or request.POST.get("step") not in (DISMISS, REOPEN):
        raise PermissionDenied
    if request.POST["step"] == DISMISS:
        changed = dismiss_contradiction(contradiction=found, by=user)
        said = _("Noted: no contradiction. It stays away until one of the two texts changes; “%(state)s” lists it.")
        said %= {"state": State.DISMISSED.label}
    else:
        changed = reopen_contradiction(contradiction=found)
        said = _("It is listed again.")
    if changed:
        message: Any = [{"changed": {"fields": ["state"]}}]
        LogEntry.objects.log_actions(user.pk, [found], CHANGE, change_message=message)
        messages.success(request, said)
    else:
        messages.warning(request, _("Somebody else was faster, or one of the two texts has changed."))
    state = State.OPEN if request.POST["step"] == DISMISS else State.DISMISSED
    return HttpResponseRedirect(f"{reverse('contradictions')}?{urlencode({'state': state.value})}")

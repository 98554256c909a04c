"""Answers the form of an FAQ, which asks every half minute who else has it open and whether it was saved meanwhile."""

from typing import TYPE_CHECKING, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from analytics.inbox.presence import note_reader, others_reading
from faqs.models import FAQ

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@require_POST
def faq_reading_view(request: HttpRequest, faq_id: int) -> JsonResponse:
    """Note that the form is open; return who else has it open, and when it was last saved, in seconds.

    To be wrapped in `admin.site.admin_view`; raises PermissionDenied.
    """
    user = cast("User", request.user)
    if not user.has_perm("faqs.change_faq"):
        raise PermissionDenied
    faq = get_object_or_404(FAQ.objects.visible_to(user), pk=faq_id)
    note_reader(faq, user)
    state = {"version": int(faq.updated_at.timestamp()), "readers": others_reading(faq, user)}
    return JsonResponse(state, headers={"Cache-Control": "no-store"})

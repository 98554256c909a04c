"""One reply to several cases that ask alike: each student reads it in their own thread and learns of no other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.inbox.admin.assigning import read_version
from analytics.inbox.items import describe_change
from chat.errors import NotFound, Refused
from chat.models import Case
from chat.services import office_cases
from chat.services.office_cases import OutOfDateCase

if TYPE_CHECKING:
    from django.contrib.auth.models import User

REPLY, REPLY_AND_CLOSE = "reply", "reply_and_close"
#: As many as the inbox shows on a page.
MOST = 50


def several_view(request: HttpRequest, rows: QuerySet[Case], shell: dict[str, Any]) -> HttpResponse:
    """Show the cases that the address or the form names, of the `rows` that the user may change; a POST replies."""
    given = request.POST if request.method == "POST" else request.GET
    cases = find_cases(given, rows)
    if not cases:
        messages.warning(request, _("Tick the cases first that you mean. A person in need gets a reply of their own."))
        return HttpResponseRedirect(_list())
    return _reply(request, cases, shell) if request.method == "POST" else _page(request, cases, shell)


def find_cases(given: QueryDict, rows: QuerySet[Case]) -> list[Case]:
    """Return the named cases to which one reply may go; a person in need gets one of their own."""
    named = [int(each) for each in given.getlist("case") if each.isdecimal() and len(each) < 19][:MOST]
    found = rows.filter(pk__in=named, merged_into=None).exclude(reason=Case.Reason.HELP)
    return list(found.select_related("office", "assistant").annotate(said=Count("messages")).order_by("pk"))


def _page(
    request: HttpRequest, cases: Sequence[Case], shell: dict[str, Any], text: str = "", status: int = 200
) -> HttpResponse:
    context = {
        **shell,
        "title": _("Reply to several students"),
        "cases": cases,
        "languages": sorted({each.get_language_display() for each in cases}),
        "typed_reply": text,
    }
    return TemplateResponse(request, "admin/chat/case/several.html", context, status=status)


def _reply(request: HttpRequest, cases: Sequence[Case], shell: dict[str, Any]) -> HttpResponse:
    text, step, member = request.POST.get("reply", ""), request.POST.get("step"), cast("User", request.user)
    if step not in {REPLY, REPLY_AND_CLOSE}:
        raise PermissionDenied
    sent: list[Case] = []
    changed: list[int] = []
    for case in cases:
        version = read_version(request.POST, f"version-{case.pk}")
        try:
            office_cases.reply(case=case.pk, version=version, text=text, by=member, closes=step == REPLY_AND_CLOSE)
        except OutOfDateCase as error:
            changed.append(case.pk)
            messages.error(request, f"{case}: {describe_change(error.case)}")
        except NotFound:
            messages.warning(request, f"{case}: {_('There is no such case, or the student took it back.')}")
        except Refused as error:
            messages.error(request, error.detail)
            return _page(request, cases, shell, text)
        else:
            sent.append(case)
    _say_sent(request, member, sent)
    left = [each for each in find_cases(request.POST, Case.objects.visible_to(member)) if each.pk in changed]
    if not left:
        return HttpResponseRedirect(_list())
    messages.error(request, _("Nothing was sent to those below: read first what is new."))
    return _page(request, left, shell, text, status=409)


def _say_sent(request: HttpRequest, member: "User", sent: Sequence[Case]) -> None:
    if not sent:
        return
    message: Any = [{"changed": {"fields": ["reply"]}}]
    LogEntry.objects.log_actions(member.pk, sent, CHANGE, change_message=message)
    said = ngettext(
        "Your reply was sent to %(count)d student.", "Your reply was sent to %(count)d students.", len(sent)
    )
    messages.success(request, said % {"count": len(sent)})


def _list() -> str:
    return f"{reverse('to-do')}?kind=cases"

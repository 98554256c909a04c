"""The inbox: one list of cases, topics and answers, with what can be done to several at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from analytics.gaps.admin.gaps import describe_progress
from analytics.inbox.admin.assigning import KINDS as ITEMS
from analytics.inbox.admin.assigning import read_assignment
from analytics.inbox.colleagues import CHANGES, colleagues, may_work
from analytics.inbox.items import Item
from analytics.inbox.services import assign_all, finish_all, reopen_all
from analytics.models import Gap, GapRun, Review
from analytics.reviews.admin.detail import UNDO
from analytics.to_do.listing import FOUND, KINDS, ME, NOBODY, OPENING, Chosen, find_rows, may_see, read_choice
from chat.models import Assistant, Case

if TYPE_CHECKING:
    from django.contrib.auth.models import User

A_PAGE = 50
MODELS = {"cases": "chat.case", "topics": "analytics.gap", "answers": "analytics.review"}
ASSIGN, FINISH, REOPEN, REPLY = ("assign", "finish", "reopen", "reply")


@dataclass(frozen=True, slots=True)
class Row:
    """An item as the list shows it; `name` is its name in forms."""

    item: Any
    name: str
    title: str
    url: str
    reasons: Sequence[str]
    is_overdue: bool

    @property
    def is_topic(self) -> bool:
        return isinstance(self.item, Gap)

    @property
    def is_case(self) -> bool:
        return isinstance(self.item, Case)


def _row(item: Any, today: date) -> Row:
    is_overdue = bool(item.due_on and item.due_on < today)
    if isinstance(item, Gap):
        url = reverse("admin:analytics_gap_change", args=[item.pk])
        return Row(item, f"topic-{item.pk}", item.title, url, [], is_overdue)
    if isinstance(item, Case):
        url = reverse("admin:chat_case_change", args=[item.pk])
        reasons = [item.get_reason_display()]
        return Row(item, f"case-{item.pk}", _opening(item.question), url, reasons, is_overdue)
    begins = getattr(item, "question_begins", "") or _("The question was deleted")
    title = _opening(begins)
    reasons = [str(Review.Reason(reason).label) for reason in item.reasons]
    return Row(
        item, f"answer-{item.pk}", title, reverse("admin:analytics_review_change", args=[item.pk]), reasons, is_overdue
    )


def _opening(text: str) -> str:
    begins = " ".join(text.split())[:OPENING]
    return begins if len(begins) < OPENING else f"{begins.rsplit(' ', 1)[0]} …"


@require_http_methods(["GET", "HEAD", "POST"])
def to_do_view(request: HttpRequest) -> HttpResponse:
    """Show the list; a POST does something to the ticked rows. To be wrapped in `admin.site.admin_view`.

    Raise PermissionDenied.
    """
    user = cast("User", request.user)
    may_change = may_work(user)
    seen = {name: may_see(user, model) for name, model in MODELS.items()}
    if not any(seen.values()):
        raise PermissionDenied
    if request.method == "POST":
        if not may_change:
            raise PermissionDenied
        if request.POST.get("step") == REPLY:
            cases = [("case", each.pk) for each in _ticked(request, user) if isinstance(each, Case)]
            return HttpResponseRedirect(f"{reverse('admin:chat_case_several')}?{urlencode(cases)}")
        _act(request, user)
        return HttpResponseRedirect(request.get_full_path())
    chosen = read_choice(request.GET)
    rows = find_rows(chosen, user)
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("p"))
    today, run = timezone.localdate(), GapRun.objects.first()
    context = {
        **admin.site.each_context(request),
        "title": _("Inbox"),
        "chosen": chosen,
        "rows": [_row(item, today) for item in page.object_list],
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
        "states": [("to_do", _("Not done yet")), ("answered", _("Answered, watch")), ("done", _("Done"))],
        "kinds": [
            ("", _("Everything")),
            *zip(KINDS, (_("Cases"), _("Unanswered topics"), _("Single answers")), strict=True),
        ],
        "reasons": Review.Reason.choices,
        "assistants": list(Assistant.objects.visible_to(user).order_by("name")),
        "colleagues": list(colleagues(Gap, Review, Case)),
        "today": today,
        "me": ME,
        "nobody": NOBODY,
        "overdue": rows.overdue if chosen.state == "to_do" and not chosen.is_overdue else 0,
        "is_cut": rows.is_cut,
        "found": FOUND,
        "is_narrowed": chosen != Chosen(state=chosen.state),
        "may_change": may_change,
        "may_reply": user.has_perm(CHANGES[Case]),
        "undo": request.session.pop(UNDO, None),
        "run": run,
        "is_active": bool(run and run.is_active),
        "progress": describe_progress(run) if run else "",
        "may_look": user.has_perm("analytics.change_gap"),
        **{f"sees_{name}": is_seen for name, is_seen in seen.items()},
    }
    return TemplateResponse(request, "admin/analytics/to_do/page.html", context)


def _ticked(request: HttpRequest, user: "User") -> list[Item]:
    """Return the ticked rows that the member may change."""
    found: list[Item] = []
    for prefix, model in ITEMS.items():
        named = [value.removeprefix(f"{prefix}-") for value in request.POST.getlist("item") if value.startswith(prefix)]
        ids = [int(value) for value in named if value.isdecimal() and len(value) < 19]
        if ids and user.has_perm(CHANGES[model]):
            found += model.objects.visible_to(user).filter(pk__in=ids).order_by("pk")
    return found


def _act(request: HttpRequest, user: "User") -> None:
    items, step = _ticked(request, user), request.POST.get("step")
    if not items:
        messages.warning(request, _("Tick the rows first that you mean."))
        return
    if step == ASSIGN:
        try:
            wanted = read_assignment(request.POST, items)
            changed = assign_all(
                items=items,
                by=user,
                to=wanted.to,
                due_on=wanted.due_on,
                keeps_owner=wanted.keeps_owner,
                keeps_day=wanted.keeps_day,
            )
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return
    elif step == FINISH:
        changed = finish_all(items=items, by=user)
    elif step == REOPEN:
        changed = reopen_all(items=items, by=user)
    else:
        raise PermissionDenied
    for model in ITEMS.values():
        of_model = [item for item in changed if isinstance(item, model)]
        if of_model:
            fields = ["assigned_to", "due_on"] if step == ASSIGN else ["state"]
            message: Any = [{"changed": {"fields": fields}}]
            LogEntry.objects.log_actions(user.pk, of_model, CHANGE, change_message=message)
    said = ngettext("%(count)d was changed.", "%(count)d were changed.", len(changed)) % {"count": len(changed)}
    messages.success(request, said)

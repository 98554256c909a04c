"""The list “Contradictions”: both statements side by side, and what staff do about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

from analytics.contradictions.services import dismiss_contradiction, reopen_contradiction
from analytics.models import Contradiction
from chat.conversations.impact import RECENT, stale_documents
from core.diffs import Part, compare
from faqs.models import FAQ, SimilarPair
from knowledge.models import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PER_PAGE = 25
DISMISS, REOPEN = "dismiss", "reopen"
Kind, State = Contradiction.Kind, Contradiction.State
#: States that the list shows; what is settled is over.
SHOWN = (State.OPEN, State.DISMISSED)


@dataclass(frozen=True, slots=True)
class Side:
    """One statement with its page or FAQ; `parts` are its words, marked where the other statement differs."""

    label: str
    title: str
    heading: str
    language: str
    parts: Sequence[Part]
    edit_url: str
    page_url: str


@dataclass(frozen=True, slots=True)
class Row:
    contradiction: Contradiction
    sides: Sequence[Side]


@dataclass(frozen=True, slots=True)
class Other:
    """Another list of texts that do not go together, with how many rows wait there."""

    text: str
    count: int
    url: str


def may_see(user: "User") -> bool:
    return user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document")


@require_safe
def contradictions_view(request: HttpRequest) -> HttpResponse:
    """Show the list. To be wrapped in `admin.site.admin_view`; raise PermissionDenied."""
    user = cast("User", request.user)
    if not may_see(user):
        raise PermissionDenied
    kind = request.GET.get("kind", "") if request.GET.get("kind") in Kind else ""
    state = request.GET.get("state") if request.GET.get("state") in SHOWN else State.OPEN.value
    rows = Contradiction.objects.visible_to(user).filter(state=state).for_list()
    page = Paginator(rows.filter(kind=kind) if kind else rows, PER_PAGE).get_page(request.GET.get("p"))
    context = {
        **admin.site.each_context(request),
        "title": _("Contradictions"),
        "rows": [_row(each, user) for each in page.object_list],
        "page": page,
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
        "kinds": [("", _("All kinds")), *Kind.choices],
        "states": [(each.value, each.label) for each in SHOWN],
        "kind": kind,
        "state": state,
        "others": list(_others(user)),
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


def _row(each: Contradiction, user: "User") -> Row:
    first, second = _marked(each.first_text, each.second_text)
    one, other = each.first_document or each.first_faq, each.second_document or each.second_faq
    return Row(each, (_side(one, each.first_heading, first, user), _side(other, each.second_heading, second, user)))


def _marked(first: str, second: str) -> tuple[Sequence[Part], Sequence[Part]]:
    lines = {line.kind: line.parts for line in compare(" ".join(first.split()), " ".join(second.split())).lines}
    return lines.get("removed", (Part(first, False),)), lines.get("added", (Part(second, False),))


def _side(owner: Document | FAQ | None, heading: str, parts: Sequence[Part], user: "User") -> Side:
    if isinstance(owner, Document) and not owner.is_written_answer:
        address = reverse("admin:knowledge_document_change", args=[owner.pk])
        return Side(_("Page"), str(owner), heading, owner.language, parts, address, owner.url)
    faq = owner.answer_page.faq if isinstance(owner, Document) else cast("FAQ", owner)
    language = owner.language if owner else ""
    label = _("Answer written by staff") if isinstance(owner, Document) else _("Key points of an FAQ")
    address = reverse("admin:faqs_faq_change", args=[faq.pk]) if user.has_perm("faqs.view_faq") else ""
    return Side(label, faq.question, heading, language, parts, address, "")


def _others(user: "User") -> Iterator[Other]:
    """Yield the lists of duplicates and of changed pages, each if the member may open it."""
    if user.has_perm("faqs.view_faq") or user.has_perm("faqs.change_faq"):
        pairs = SimilarPair.objects.visible_to(user).to_look_at().count()
        yield Other(_("Duplicates: two FAQs that ask the same"), pairs, reverse("admin:faqs_faq_duplicates"))
    changed = stale_documents().visible_to(user).count()
    yield Other(_("Pages that changed under an FAQ or a recent answer"), changed, reverse("impact"))

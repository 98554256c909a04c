"""What an FAQ as it stands in its form would change for the questions nearest to it, shown beside the form."""

from typing import TYPE_CHECKING, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from analytics.admin.shadow_forms import faq_draft
from analytics.admin.shadow_page import row_of_compared
from analytics.shadow.comparing import Asking, Compared, look_up_batch, without_answers
from analytics.shadow.drafts import FAQDraft
from analytics.shadow.neighbours import nearest
from analytics.shadow.overlays import FAQOverlay, IndexReplaced
from chat.models import Assistant
from faqs.models import FAQ
from knowledge.inference.embedder import EmbeddingUnavailable
from knowledge.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scoping import UnknownCollection

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@require_POST
def faq_neighbourhood_view(request: HttpRequest) -> HttpResponse:
    """A fragment for the form's own script, a page for who has none; nothing is saved."""
    user = cast("User", request.user)
    faq_id = request.GET.get("faq", "")
    faq = get_object_or_404(FAQ.objects.for_staff(user), pk=int(faq_id)) if faq_id.isdecimal() else None
    may_write = user.has_perm("faqs.change_faq") or (faq is None and user.has_perm("faqs.add_faq"))
    if not (user.has_perm("analytics.add_shadowtest") and may_write):
        raise PermissionDenied
    context: dict[str, object] = {"perms_to_see": user.has_perm("knowledge.view_document")}
    try:
        former = FAQDraft.of(faq) if faq else None
        draft = faq_draft(request.POST, faq, user=user)
        compared = compare_nearest(draft, former, faq.pk if faq else None, user)
        rows = sorted(compared, key=lambda each: -each.difference.severity)
        context |= {
            "rows": [row_of_compared(each) for each in rows if each.difference.severity],
            "total": len(rows),
            "is_retired": draft.status == FAQ.Status.RETIRED,
        }
    except ValidationError as error:
        context["problems"] = error.messages
    except (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection) as error:
        context["problems"] = [str(error)]
    except IndexReplaced:
        context["problems"] = [_("The search index was replaced meanwhile: test again.")]
    if request.headers.get("X-Requested-With") == "fetch":
        return TemplateResponse(request, "admin/analytics/shadow/faq_neighbours.html", context)
    context |= {**admin.site.each_context(request), "title": _("What this FAQ would change")}
    return TemplateResponse(request, "admin/analytics/shadow/faq_page.html", context)


def compare_nearest(draft: FAQDraft, former: FAQDraft | None, faq_id: int | None, user: "User") -> list[Compared]:
    """The nearest questions of the assistants that somebody works on, each asked of its own.

    Raises EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, IndexReplaced.
    """
    own = Assistant.objects.for_staff(user).select_related("profile", "prompt").in_bulk()
    ways = [draft.question, *draft.phrasings]
    questions = nearest([*ways, *(_ways(former) if former else ())], assistants=own.keys())
    if not questions:
        return []
    overlay = FAQOverlay(draft, faq_id)
    overlay.prepare()
    asking = Asking({pk: own[pk] for pk in {question.assistant_id for question in questions}})
    compared: list[Compared] = []
    while questions:
        found = look_up_batch(overlay, asking, questions)
        compared += map(without_answers, found)
        questions = questions[len(found) :]
    return compared


def _ways(draft: FAQDraft) -> list[str]:
    return [draft.question, *draft.phrasings]

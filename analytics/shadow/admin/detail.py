"""The page of one shadow test: how far it is, what would change, question by question, and what to do about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import Avg, Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from analytics.inbox.items import TO_DO
from analytics.models import Gap, ShadowResult, ShadowTest
from analytics.privacy import mask_pii, standalone_text
from analytics.shadow.admin.forms import faq_draft, link_target, may_publish, may_test
from analytics.shadow.comparison import Asking, Compared, look_up_batch, without_answers
from analytics.shadow.drafts import Draft, FAQDraft, TargetGone, present, read_draft
from analytics.shadow.overlays import FAQOverlay, IndexReplaced
from analytics.shadow.questions import kept_questions, nearest
from analytics.shadow.reasons import explain_unchanged
from chat.models import Assistant, Message, PromptVersion, RetrievalProfile
from chat.prompt_template import BUILT_IN
from core.diffs import Comparison, compare
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.llm import client
from core.inference.reranker import RerankerUnavailable
from faqs.models import FAQ
from knowledge.models import Collection, Document
from knowledge.retrieval.scope import UnknownCollection

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import QueryDict

A_PAGE = 25
State, Unchanged = ShadowTest.State, ShadowResult.Unchanged
KINDS: Mapping[str, tuple[str | Promise, Q]] = {
    "": (_("everything that changes"), Q(severity__gt=0)),
    "worse": (_("worse"), Q(verdict="worse")),
    "decision": (_("answered now, or no longer"), Q(decision_changed=True)),
    "sources": (_("other sources"), Q(sources_changed=True)),
    "answer": (_("another answer"), Q(answer_changed=True)),
    "better": (_("better"), Q(verdict="better")),
    "same": (_("unchanged"), Q(severity=0)),
}
MODELS = {"faq": FAQ, "document": Document, "profile": RetrievalProfile, "prompt": Assistant}
#: Unchanged questions that the page of what changes names.
UNCHANGED = 25
#: Period over which the tokens of an answer are averaged.
TOKENS_SINCE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Source:
    """A source of one side; `is_other` where the other side has it not, or in another place."""

    document: int
    title: str
    is_other: bool
    is_right: bool


@dataclass(frozen=True, slots=True)
class Side:
    abstains: bool
    answer: str
    sources: Sequence[Source]


@dataclass(frozen=True, slots=True)
class Row:
    """A question as a page shows it; `question_id` is that of a kept one."""

    text: str
    question_id: int | None
    verdict: str
    is_decision: bool
    before: Side
    after: Side
    unchanged: str = ""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field's value now and in the draft; a long text as a comparison."""

    label: str
    before: str
    after: str
    comparison: Comparison | None = None


def list_unchanged(test: ShadowTest, kind: str) -> dict[str, Any]:
    """Return why questions did not change, and the first of them, where the page shows what changes."""
    counts = dict(test.results.filter(severity=0).values_list("unchanged").annotate(Count("pk")).order_by())
    rows = select_results(test, "same")[:UNCHANGED] if kind == "" else []
    return {
        "reasons": explain_unchanged(test.kind, counts),
        "unchanged": [build_row(result) for result in rows],
        "unchanged_count": sum(counts.values()),
    }


def describe_progress(test: ShadowTest) -> str:
    """Say in one sentence how far a test is."""
    if test.state == State.QUEUED:
        return gettext("Waits for its turn.")
    if test.state == State.RUNNING:
        if not test.total:
            return gettext("Reads the questions.")
        return gettext("%(done)s of %(total)s questions so far.") % {"done": test.done, "total": test.total}
    return gettext(test.message) if test.message else ""


def build_page(test: ShadowTest, asked: "QueryDict", user: "User") -> dict[str, Any]:
    kind = asked.get("show", "")
    kind = kind if kind in KINDS else ""
    results = select_results(test, kind)
    page = Paginator(results, A_PAGE).get_page(asked.get("p"))
    draft = read_draft(test)
    live = _present(test)
    is_changed = live is not None and live.fingerprint != test.base
    is_open = not test.is_active and not test.decision
    may = may_test(test.kind, user)
    return {
        "test": test,
        "is_active": test.is_active,
        "message": describe_progress(test),
        "kind": kind,
        "kinds": [(name, label) for name, (label, _condition) in KINDS.items()],
        "page": page,
        "rows": [build_row(result) for result in page],
        **list_unchanged(test, kind),
        "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
        "changes": list_changes(live, draft, test) if live and not is_changed else [],
        "is_gone": live is None,
        "is_changed": is_changed and test.decision != ShadowTest.Decision.PUBLISHED,
        "may_publish": is_open and live is not None and not is_changed and may_publish(test, user),
        "may_discard": is_open and may,
        "may_stop": test.is_active and may,
        "may_repeat": is_open and may and live is not None and not is_changed,
        "address": link_target(test),
        "assistants": Assistant.objects.visible_to(user) if may else [],
        "gap": find_gap(test, user),
        "kept_count": kept_count(test),
        "has_model": client.is_configured(),
        "tokens": tokens_of_an_answer(test) if client.is_configured() else None,
    }


def find_gap(test: ShadowTest, user: "User") -> Gap | None:
    """Return the gap that a published FAQ was drafted for, if nobody has closed it yet."""
    if test.kind != ShadowTest.Kind.FAQ or test.decision != ShadowTest.Decision.PUBLISHED:
        return None
    if not user.has_perm("analytics.change_gap"):
        return None
    to_do = Gap.objects.visible_to(user).filter(state__in=TO_DO, merged_into=None)
    return to_do.defer("centroid").filter(faq=test.target_id).first()


def select_results(test: ShadowTest, kind: str) -> QuerySet[ShadowResult]:
    _label, condition = KINDS[kind]
    rows = test.results.filter(condition).select_related("question", "message__answer")
    return rows.prefetch_related("question__judgments").order_by("-severity", "pk")


def build_row(result: ShadowResult) -> Row:
    if result.question:
        text = result.question.text
        right = {judgment.document_id for judgment in result.question.judgments.all() if judgment.grade > 0}
    else:
        text, right = mask_pii(standalone_text(result.message)) if result.message else "", set()
    sides = _sides(result.before, result.after, right)
    return Row(
        text, result.question_id, result.verdict, result.decision_changed, *sides, result.get_unchanged_display()
    )


def row_of_compared(compared: Compared) -> Row:
    question, change = compared.question, compared.difference
    sides = _sides(compared.before, compared.after, question.truth.accepted)
    unchanged = str(Unchanged(compared.unchanged).label) if compared.unchanged else ""
    return Row(question.shown, question.question_id, change.verdict.value, change.decision, *sides, unchanged)


def _sides(before: Mapping[str, Any], after: Mapping[str, Any], right: AbstractSet[int]) -> tuple[Side, Side]:
    return _side(before, after["sources"], right), _side(after, before["sources"], right)


def _side(served: Mapping[str, Any], others: Sequence[Mapping[str, Any]], right: AbstractSet[int]) -> Side:
    places = {source["document"]: place for place, source in enumerate(others)}
    sources = [
        Source(
            source["document"],
            source["title"] or source["url"],
            places.get(source["document"]) != place,
            source["document"] in right,
        )
        for place, source in enumerate(served["sources"])
    ]
    return Side(served["abstains"], served["answer"], sources)


def list_changes(live: Draft, draft: Draft, test: ShadowTest) -> list[FieldChange]:
    """Return the fields in which the draft differs from what is live."""
    old, new = live.dump(), draft.dump()
    return [_field_change(name, old[name], new[name], test) for name in new if old[name] != new[name]]


def _field_change(name: str, old: Any, new: Any, test: ShadowTest) -> FieldChange:
    label = _label(name, test)
    before, after = _shown(name, old, test), _shown(name, new, test)
    is_text = name in {"text", "reference_answer", "phrasings", "documents", "legs", "description"}
    return FieldChange(label, before, after, compare(before, after) if is_text else None)


def _label(name: str, test: ShadowTest) -> str:
    named = {
        "phrasings": gettext("Other ways to ask the same"),
        "documents": gettext("Documents that answer it, best first"),
        "legs": gettext("retrievers"),
        "version": gettext("version of the instructions"),
    }
    return named.get(name) or str(MODELS[test.kind]._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def _shown(name: str, value: Any, test: ShadowTest) -> str:
    if name == "documents":
        titles = {row.pk: str(row) for row in Document.objects.filter(pk__in=value).only("title", "url")}
        return "\n".join(f"{place}. {titles.get(pk, '–')}" for place, pk in enumerate(value, start=1))
    if name == "collection":
        return str(Collection.objects.filter(pk=value).first() or "–")
    if name == "version":
        version = PromptVersion.objects.filter(pk=value).first() if value else None
        return version.name if version else BUILT_IN.name
    if name == "legs":
        return "\n".join(f"{retriever} × {weight:g}, {k}" for retriever, weight, k in value)
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    field: Any = MODELS[test.kind]._meta.get_field(name)
    labels = dict(field.flatchoices)
    return str(labels.get(value, value)) if value not in (None, "") else "–"


def kept_count(test: ShadowTest) -> int:
    """Count the assistant's questions with known answers."""
    return kept_questions().filter(evaluation_set__assistant=test.assistant_id).count()


def tokens_of_an_answer(test: ShadowTest) -> int | None:
    """Return the mean tokens that an answer of this assistant took lately; None if that is unknown."""
    written = Message.objects.filter(
        conversation__assistant=test.assistant_id,
        prompt_tokens__isnull=False,
        created_at__gte=timezone.now() - TOKENS_SINCE,
    )
    average = written.aggregate(tokens=Avg(F("prompt_tokens") + F("answer_tokens")))["tokens"]
    return round(average) if average else None


def _present(test: ShadowTest) -> Draft | None:
    try:
        return present(test)
    except TargetGone:
        return None


@require_POST
def faq_neighbourhood_view(request: HttpRequest) -> HttpResponse:
    """Show the neighbourhood: a fragment for the form's script, a page without it. Nothing is saved."""
    user = cast("User", request.user)
    faq_id = request.GET.get("faq", "")
    faq = get_object_or_404(FAQ.objects.visible_to(user), pk=int(faq_id)) if faq_id.isdecimal() else None
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
            "unchanged": [row_of_compared(each) for each in rows if not each.difference.severity],
            "reasons": explain_unchanged(ShadowTest.Kind.FAQ, Counter(each.unchanged for each in rows)),
            "total": len(rows),
            "is_retired": draft.status == FAQ.Status.RETIRED,
        }
    except ValidationError as error:
        context["problems"] = error.messages
    except (EmbeddingUnavailable, RerankerUnavailable, UnknownCollection) as error:
        context["problems"] = [str(error)]
    except IndexReplaced:
        context["problems"] = [gettext("The search index was replaced meanwhile: test again.")]
    if request.headers.get("X-Requested-With") == "fetch":
        return TemplateResponse(request, "admin/analytics/shadow/faq_neighbours.html", context)
    context |= {**admin.site.each_context(request), "title": gettext("What this FAQ would change")}
    return TemplateResponse(request, "admin/analytics/shadow/faq_page.html", context)


def compare_nearest(draft: FAQDraft, former: FAQDraft | None, faq_id: int | None, user: "User") -> list[Compared]:
    """Compare the nearest questions of the assistants that the user works on, each asked of its own.

    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, IndexReplaced.
    """
    own = Assistant.objects.visible_to(user).select_related("profile", "prompt").in_bulk()
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

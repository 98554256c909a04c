"""How each question of a run went: narrowed, sorted, and what was found beside what would have been right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page
from django.db.models import F, Prefetch, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.models import EvaluationRun, Judgment, QuestionResult
from chat.profiles import UnknownProfile, get_profile
from knowledge.models import Document

A_PAGE = 25
#: A right document that comes later is missed.
LAST = 10
MRR, EVIDENCE = F("measures__mrr"), F("evidence")
SORTS: Mapping[str, tuple[str | Promise, tuple[Any, ...]]] = {
    "": (_("as in the set"), ()),
    "mrr": (_("lowest MRR first"), (MRR.asc(nulls_last=True),)),
    "-mrr": (_("highest MRR first"), (MRR.desc(nulls_last=True),)),
    "evidence": (_("least evidence first"), (EVIDENCE.asc(nulls_last=True),)),
    "-evidence": (_("most evidence first"), (EVIDENCE.desc(nulls_last=True),)),
}
KINDS: Mapping[str, str | Promise] = {
    "": _("All"),
    "missed": _("missed: no right document among the first 10"),
    "abstains": _("would abstain, but is answerable"),
    "answers": _("would answer, but is not answerable"),
    "unjudged": _("no judgment"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A document of the first ones retrieved; None: it was deleted since."""

    document: Document | None
    is_right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """`rank` is that of the first right document within the first 100; None where there was none."""

    result: QuestionResult
    rank: int | None
    is_judged: bool
    is_missed: bool
    abstains: bool | None
    found: Sequence[Found]
    right: Sequence[Judgment]


def threshold_of(run: EvaluationRun) -> float | None:
    """Below it an assistant with this profile abstains, as the profile is now; None where it is gone."""
    try:
        return get_profile(run.profile).threshold
    except UnknownProfile:
        return None


def results_of(run: EvaluationRun, *, kind: str, sort: str, threshold: float | None) -> QuerySet[QuestionResult]:
    results = run.question_results.all()
    if kind == "missed":
        results = results.filter(**{f"measures__recall@{LAST}": 0})
    elif kind == "unjudged":
        results = results.filter(measures={})
    elif kind == "abstains" and threshold is not None:
        results = results.filter(question__answerable=True, evidence__lt=threshold)
    elif kind == "answers" and threshold is not None:
        results = results.filter(question__answerable=False, evidence__gte=threshold)
    _label, order = SORTS.get(sort, SORTS[""])
    judgments = Judgment.objects.select_related("document").defer("document__text").order_by("-grade", "pk")
    return results.order_by(*order, "question").prefetch_related(
        Prefetch("question__judgments", judgments, to_attr="right"), "question"
    )


def rows_of(page: Page[QuestionResult], threshold: float | None) -> list[Row]:
    """In a constant number of queries."""
    results = list(page)
    shown = {document for result in results for document in result.ranking}
    documents = Document.objects.filter(pk__in=shown).only("title", "url").in_bulk()
    return [_row(result, documents, threshold) for result in results]


def _row(result: Any, documents: Mapping[int, Document], threshold: float | None) -> Row:
    right = [judgment for judgment in result.question.right if judgment.grade > 0]
    reciprocal = result.measures.get("mrr")
    rank = round(1 / reciprocal) if reciprocal else None
    return Row(
        result,
        rank,
        bool(result.measures),
        bool(result.measures) and (rank is None or rank > LAST),
        None if threshold is None or result.evidence is None else result.evidence < threshold,
        _found(result.ranking, documents, {judgment.document_id for judgment in right}),
        right,
    )


def _found(ranking: Iterable[int], documents: Mapping[int, Document], right: set[int]) -> list[Found]:
    return [Found(documents.get(document), document in right) for document in ranking]

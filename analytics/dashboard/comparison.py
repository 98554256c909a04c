"""Two views side by side: the figures of one, and those of the other in the place of the period before."""

from collections.abc import Sequence
from dataclasses import replace

from analytics.dashboard.cases import CaseFigures, case_figures
from analytics.dashboard.overview import Overview, overview
from analytics.dashboard.queries import series, spreads, top_documents, top_faqs
from analytics.dashboard.suppression import without_small_groups
from analytics.dashboard.types import NeverCited, Ranked
from analytics.dashboard.visibility import View


def publishable_overview(view: View, *, with_gaps: bool) -> Overview | None:
    """Return what the reader of a view may see of it; None if it is about too few people."""
    return _publishable(overview(view, with_gaps=with_gaps))


def compare(found: Overview, view: View) -> tuple[Overview, Overview | None]:
    """Return an overview with what another view has in the place of the period before, and that view's own.

    The other one is None if it is about too few people. Its lists hold what is in those of `found` alone.
    """
    other = _publishable(_beside(view, found))
    missing = 0 if view.least <= 1 else None
    return replace(
        found,
        before=other.now if other else None,
        spread_before=other.spread if other else None,
        cases_before=other.cases if other else CaseFigures(None),
        faqs=_with_before(found.faqs, other.faqs if other else [], missing),
        documents=_with_before(found.documents, other.documents if other else [], missing),
    ), other


def _publishable(found: Overview) -> Overview | None:
    least = found.view.least
    return found if least <= 1 else without_small_groups(found, least=least)


def _beside(view: View, found: Overview) -> Overview:
    points, now, before = series(view)
    spread, spread_before = spreads(view)
    cases, cases_before = case_figures(view)
    return Overview(
        view=view,
        points=points,
        now=now,
        before=before,
        spread=spread,
        spread_before=spread_before,
        faqs=top_faqs(view, [row.pk for row in found.faqs]),
        documents=top_documents(view, [row.pk for row in found.documents]),
        never=NeverCited(0, []),
        gaps=[],
        cases=cases,
        cases_before=cases_before,
    )


def _with_before(rows: Sequence[Ranked], others: Sequence[Ranked], missing: int | None) -> list[Ranked]:
    answers: dict[int, int | None] = {row.pk: row.answers for row in others}
    return [replace(row, before=answers.get(row.pk, missing)) for row in rows]

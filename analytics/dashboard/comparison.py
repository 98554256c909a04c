"""Two views side by side: the figures of one, and those of the other in the place of the period before."""

from collections.abc import Sequence
from dataclasses import replace

from analytics.dashboard.cases import CaseFigures
from analytics.dashboard.overview import Overview, overview, overview_beside
from analytics.dashboard.suppression import without_small_groups
from analytics.dashboard.types import Ranked
from analytics.dashboard.visibility import View


def publishable_overview(view: View, *, with_gaps: bool, with_topics: bool = False) -> Overview | None:
    """Return what the reader of a view may see of it; None if it is about too few people."""
    return _publishable(overview(view, with_gaps=with_gaps, with_topics=with_topics))


def compare(found: Overview, view: View) -> tuple[Overview, Overview | None]:
    """Return an overview with what another view has in the place of the period before, and that view's own.

    The other one is None if it is about too few people. Its lists hold what is in those of `found` alone.
    """
    other = _publishable(overview_beside(view, found))
    missing = 0 if view.least <= 1 else None
    return replace(
        found,
        before=other.now if other else None,
        spread_before=other.spread if other else None,
        cases_before=other.cases if other else CaseFigures(None),
        faqs=_with_before(found.faqs, other.faqs if other else [], missing),
        documents=_with_before(found.documents, other.documents if other else [], missing),
        # A topic is one assistant's alone: another one cannot have been asked about it.
        topics=_with_before(found.topics, other.topics if other else [], missing)
        if view.assistant == found.view.assistant
        else _with_before(found.topics, [], None),
    ), other


def _publishable(found: Overview) -> Overview | None:
    least = found.view.least
    return found if least <= 1 else without_small_groups(found, least=least)


def _with_before(rows: Sequence[Ranked], others: Sequence[Ranked], missing: int | None) -> list[Ranked]:
    answers: dict[int, int | None] = {row.pk: row.answers for row in others}
    return [replace(row, before=answers.get(row.pk, missing)) for row in rows]

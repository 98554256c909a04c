"""Counts beside the rows of a list, computed only for the rows that are shown; a join would count all of them."""

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def count_related(rows: QuerySet[Any], *, by: str) -> Coalesce:
    """Annotate with the number of `rows` whose foreign key `by` names the outer row."""
    of_this = rows.filter(**{by: OuterRef("pk")}).order_by().values(by)
    return Coalesce(Subquery(of_this.annotate(count=Count("pk")).values("count")), 0)

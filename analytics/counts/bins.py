"""Times put into the bins of `analytics.histograms` by the database."""

import math

from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Cast, Ceil, Greatest, Least, Ln

from analytics.histograms import BINS, FIRST_MS, GROWTH


def bin_of(time: str, first: float = FIRST_MS) -> Case:
    """Return the bin of an annotated number: up to `first` in the first bin, then each bin GROWTH times as wide, the
    rest in the last."""
    place = Ceil(Ln(F(time) / first) / math.log(GROWTH))
    return Case(
        When(**{f"{time}__lte": first}, then=Value(0)),
        default=Least(Greatest(Cast(place, IntegerField()), Value(0)), Value(BINS - 1)),
    )

"""Times as counts in bins whose width grows with the time, so that any quantile is within 5%; pure.

Masson, Rim and Lee, DDSketch (VLDB 2019): with bins that grow by (1 + a) / (1 - a), the middle of the bin that holds a
quantile is at most the share a away from it. Counts of several days are added bin by bin.
"""

import math
from collections.abc import Sequence

ACCURACY = 0.05
GROWTH = (1 + ACCURACY) / (1 - ACCURACY)
#: The first bin of an answer's times ends here; the last one holds all that is longer than about three minutes.
FIRST_MS = 5.0
BINS = 106


def bin_middle(number: int, first: float = FIRST_MS) -> float:
    """Return a time at most ACCURACY away from all in this bin, except for the first and the last one; `first` is
    where the first bin ends."""
    return first * 2 * GROWTH**number / (GROWTH + 1)


def quantile(counts: Sequence[int], share: float, first: float = FIRST_MS) -> float | None:
    """Return the time that this share (0 to 1) of the counts does not exceed, in the unit of `first`; None without
    counts."""
    total = sum(counts)
    if not total:
        return None
    wanted = max(1, math.ceil(share * total))
    seen = 0
    for number, count in enumerate(counts):
        seen += count
        if seen >= wanted:
            return bin_middle(number, first)
    raise AssertionError("counts add up to their sum")

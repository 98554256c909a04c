"""A smaller set of questions with the same shares; pure."""

import random
from collections.abc import Hashable, Sequence

SEED = 1


def sampled(strata: Sequence[Hashable], count: int | None) -> list[int]:
    """Places of `count` members, in order, each stratum in proportion (largest remainders); all where None.

    The same strata give the same places.
    """
    if count is None or count >= len(strata):
        return list(range(len(strata)))
    members: dict[Hashable, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    exact = {stratum: len(places) * count / len(strata) for stratum, places in members.items()}
    shares = {stratum: int(value) for stratum, value in exact.items()}
    by_remainder = sorted(exact, key=lambda stratum: shares[stratum] - exact[stratum])
    for stratum in by_remainder[: count - sum(shares.values())]:
        shares[stratum] += 1
    chooser = random.Random(SEED)  # noqa: S311 (a sample, no secret)
    return sorted(place for stratum, places in members.items() for place in chooser.sample(places, shares[stratum]))

"""Who chooses assistants, sites and languages, and subtracts, learns of no small group."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.dashboard.suppression import publishable_views
from analytics.dashboard.types import People

SITES = [("1", "11"), ("1", "12"), ("1", "13"), ("2", "21"), ("2", "22"), ("3", "")]
LANGUAGES = ["de", "en", ""]
CELLS = [(own, at, spoken) for (own, at), spoken in itertools.product(SITES, LANGUAGES)]
PLACES = [(None, None), *((own, None) for own in "123"), *SITES]
VIEWS = [(own, at, spoken) for (own, at), spoken in itertools.product(PLACES, [None, *LANGUAGES])]


def published_views(people, *, least):
    """Return the publishable views of so many different people in each cell."""
    views = publishable_views({cell: People(count) for cell, count in people.items() if count}, least=least)
    whole = sum(people.values())
    if whole < least:
        return []
    return [
        (own, at, spoken)
        for own, at, spoken in VIEWS
        if count_people((own, at, spoken), people) and views.publishes(assistant=own, site=at, language=spoken)
    ]


def is_in(cell, view):
    return all(wanted in (None, given) for wanted, given in zip(view, cell, strict=True))


def count_people(view, people):
    return sum(count for cell, count in people.items() if is_in(cell, view))


def indicator_row(view):
    return [float(is_in(cell, view)) for cell in CELLS]


@given(st.lists(st.integers(0, 3) | st.integers(5, 30), min_size=len(CELLS), max_size=len(CELLS)), st.integers(2, 7))
@settings(max_examples=400)
@pytest.mark.slow
def test_no_small_group_is_a_sum_or_a_difference_of_what_is_shown(counts, least):
    people = dict(zip(CELLS, counts, strict=True))
    published = published_views(people, least=least)
    assert all(count_people(view, people) >= least for view in published)
    known = np.array([indicator_row(view) for view in published]).reshape(-1, len(CELLS))
    rank = np.linalg.matrix_rank(known) if published else 0
    rows = {view: np.array(indicator_row(view)) for view in VIEWS}
    differences = [wide - narrow for wide, narrow in itertools.permutations(rows.values(), 2) if (wide >= narrow).all()]
    for row in [*rows.values(), *differences]:
        behind = float(np.dot(row, counts))
        if 0 < behind < least:
            assert np.linalg.matrix_rank(np.vstack([known, row])) > rank

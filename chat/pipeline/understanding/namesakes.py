"""Names of which a question says only a part that several have: "Computer Science", where there are a bachelor's and a
master's programme of that name; pure."""

import re
from collections.abc import Sequence

from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.verification.units import Unit, split_units
from core.terms import distinct_words, figures

#: A name may have so many words that the question does not say, such as the two of "B.Sc.".
MOST_UNSAID = 2
#: The same in another language, or an abbreviation.
IN_BRACKETS = re.compile(r"\([^()]*\)")


def find_namesakes(question: str, candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of table rows that the question may mean alike, each from another table; empty if at most one.

    Rows of one table are shown together, rows with the same figures say the same, and tables with other columns say
    other things. Only pages in the best one's language are compared, since another language has the names again.
    """
    asked = distinct_words(question)
    tables = [each for each in candidates if each.language == candidates[0].language]
    rows = [(place, row) for place, each in enumerate(tables) for row in _named(asked, each)]
    if not rows:
        return []
    # "Bachelor's programmes" above a table tells its rows from those of another one.
    closeness = [len(asked & distinct_words(f"{row.context} {row.label}")) for _place, row in rows]
    said = [asked & distinct_words(row.label) for _place, row in rows]
    best = max(zip(closeness, map(len, said), strict=True))
    chosen = [row for row, near, words in zip(rows, closeness, said, strict=True) if (near, len(words)) == best]
    names: dict[str, tuple[set[int], set[str]]] = {}
    for place, row in chosen:
        places, numbers = names.setdefault(row.label, (set(), set()))
        places.add(place)
        numbers.update(figures(row.shown))
    found = list(names.values())
    is_apart = all(not one[0] & other[0] for number, one in enumerate(found) for other in found[:number])
    tells_apart = len({frozenset(numbers) for _places, numbers in found}) > 1
    is_one_name = len({frozenset(asked & distinct_words(name)) for name in names}) == 1
    is_one_matter = len({tuple(name for name, _cell in row.cells) for _place, row in chosen}) == 1
    return list(names) if is_apart and tells_apart and is_one_name and is_one_matter else []


def _named(asked: set[str], candidate: Candidate) -> list[Unit]:
    """Return the rows of which the question says the name but for a word or two."""
    units = split_units(candidate.text, candidate.full_title, candidate.heading)
    found = []
    for unit in units:
        words = distinct_words(IN_BRACKETS.sub("", unit.label))
        if len(unit.cells) > 1 and asked & words and len(words - asked) <= MOST_UNSAID:
            found.append(unit)
    return found

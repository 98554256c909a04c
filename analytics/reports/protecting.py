"""Rows without what tells who asked; pure.

A student's own words are masked as everywhere (`analytics.masking`), and what they said of themselves once is taken out
wherever it is said again, by them or in an answer. What else an answer says it has from pages, whose names and
addresses are public: they stay.
"""

from analytics.masking import masked, without
from analytics.reports.answers import MADE_BY, OWN_WORDS, SAID, Row
from chat.models import Message


def protect(row: Row) -> None:
    """Masks the row in place."""
    for key in OWN_WORDS:
        if row.get(key):
            row[key] = without(masked(row[key]), row[SAID])
    if row.get("answer") and row[MADE_BY] != Message.Strategy.EXTRACTIVE:
        row["answer"] = without(row["answer"], row[SAID])

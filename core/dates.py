"""Dates as people read them."""

import datetime

from django.utils import translation
from django.utils.formats import date_format


def format_day(day: datetime.date, language: str) -> str:
    """Write a day with its month as a word, which nobody mistakes for the day."""
    with translation.override(language):
        return date_format(day, "j. F Y" if language == "de" else "j F Y")

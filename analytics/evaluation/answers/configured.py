"""Tells whether a judging model is configured. Pages that show it need not load the client's library."""

from django.conf import settings


def is_configured() -> bool:
    return bool(settings.JUDGE_BASE_URL and settings.JUDGE_MODEL)

"""Whether a judging model is configured, in a module of its own, so that pages that say so load no library."""

from django.conf import settings


def is_configured() -> bool:
    return bool(settings.JUDGE_BASE_URL and settings.JUDGE_MODEL)

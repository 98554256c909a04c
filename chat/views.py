"""The chat page."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from chat.asking import default_assistant
from chat.page_strings import page_strings
from knowledge.inference import chat_model


@require_safe
def chat_page(request: HttpRequest) -> HttpResponse:
    """Served to everybody; makes no identifier and stores nothing."""
    assistant = default_assistant()
    language = (get_language() or "en")[:2]
    suggestions = ""
    if assistant is not None:
        suggestions = (language == "de" and assistant.suggestions_de) or assistant.suggestions
    config = {
        "socket": "/ws/chat",
        "session": "/api/v1/session",
        "language": language,
        "maxCharacters": settings.QUESTION_MAX_CHARACTERS,
        "quotes": not chat_model.is_configured(),
        "retentionDays": settings.RETENTION_DAYS,
    }
    context = {
        "assistant": assistant,
        "welcome": assistant and ((language == "de" and assistant.welcome_de) or assistant.welcome),
        "suggestions": [line.strip() for line in suggestions.splitlines() if line.strip()],
        "config": config,
        "strings": page_strings(),
    }
    return render(request, "chat/page.html", context)

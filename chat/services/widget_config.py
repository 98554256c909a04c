"""Facts about an assistant that a page may know before anybody agreed to anything."""

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.urls import reverse

from chat.conversations.retention import kept_days
from chat.models import Language
from chat.pipeline.question import build_contact
from chat.sites.lookup import SiteContext
from core.inference.llm import client

NAMELESS = "MarcelCMS"


def widget_config(place: SiteContext, *, base_url: str) -> dict[str, Any]:
    """`base_url` is where the page reaches this server, with a slash at its end. Texts fall back to the other
    language's, as the page itself does."""
    assistant, site = place.assistant, place.site
    contact = build_contact(assistant)
    logo = base_url.rstrip("/") + reverse("site-logo", args=[site.public_id]) if site.logo else ""
    return {
        "site": site.public_id if site.pk else "",
        "assistant": {
            "name": assistant.name if assistant else NAMELESS,
            "institution": assistant.institution if assistant else "",
            "languages": assistant.languages if assistant else Language.values,
        },
        "welcome": _texts(assistant.welcome if assistant else "", assistant.welcome_de if assistant else ""),
        "suggestions": {
            language: [line.strip() for line in text.splitlines() if line.strip()]
            for language, text in _texts(
                assistant.suggestions if assistant else "", assistant.suggestions_de if assistant else ""
            ).items()
        },
        "theme": {
            "accent": site.accent,
            "position": site.position,
            "logo": logo,
            "greeting": _texts(site.greeting, site.greeting_de),
        },
        "contact": asdict(contact) if contact else None,
        "offices": bool(assistant and assistant.offices.filter(is_active=True).exists()),
        "mails": bool(settings.EMAIL_HOST),
        "limits": {"question_characters": settings.QUESTION_MAX_CHARACTERS},
        "retention_days": kept_days(assistant),
        "writes": client.is_configured() and (assistant is None or assistant.uses_model),
        "privacy_url": site.privacy_url,
    }


def _texts(english: str, german: str) -> dict[str, str]:
    return {"en": english, "de": german or english}

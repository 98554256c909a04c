"""A question to an assistant with all that its answer depends on: its set-up and what was said before."""

from dataclasses import replace
from functools import lru_cache

from chat.context import Ask
from chat.events import Contact
from chat.help_contacts import contacts_of
from chat.models import Assistant
from chat.profiles import PROFILES, Profile, profile_of
from knowledge.inference.chat_model import Sampling
from knowledge.languages import language_of


def default_assistant() -> Assistant | None:
    return Assistant.objects.order_by("pk").first()


def ask_of(assistant: Assistant | None, text: str, language: str) -> Ask:
    """A question to an assistant, as the first of a conversation.

    It is answered in the language that it is asked in; `language`, that of the page, decides where that cannot be told.
    """
    return replace(_unasked(assistant, language_of(text) or language), text=text)


def ask_as_set_up(assistant: int | None, versions: tuple[str | None, ...], text: str, language: str) -> Ask:
    """As `ask_of`; the assistant is read only where `versions` differ from when it was read before (`records.Look`)."""
    return replace(_read(assistant, versions, language_of(text) or language), text=text)


@lru_cache(maxsize=128)
def _read(assistant: int | None, _versions: tuple[str | None, ...], language: str) -> Ask:
    rows = Assistant.objects.select_related("prompt", "profile")
    return _unasked(rows.filter(pk=assistant).first() if assistant else None, language)


def _unasked(assistant: Assistant | None, language: str) -> Ask:
    """All of a question but its text."""
    if assistant is None:
        return Ask("", language=language, emergency_contacts=contacts_of(Assistant()))
    spoken = assistant.language_for(language)
    suggestions = (spoken == "de" and assistant.suggestions_de) or assistant.suggestions
    return Ask(
        "",
        language=spoken,
        languages=tuple(assistant.languages),
        collections=tuple(assistant.collections.values_list("slug", flat=True)),
        profile=profile_for(assistant),
        assistant=assistant.name,
        institution=assistant.institution,
        persona=assistant.persona,
        template=assistant.template,
        sampling=Sampling(assistant.model, assistant.temperature, assistant.max_tokens or 0),
        contact=contact_of(assistant),
        abstention=assistant.abstention_in(spoken),
        emergency_contacts=contacts_of(assistant),
        suggestions=tuple(line.strip() for line in suggestions.splitlines() if line.strip()),
    )


def profile_for(assistant: Assistant | None) -> Profile:
    """How the assistant retrieves."""
    row = assistant.profile if assistant else None
    if row is None or row.is_built_in:
        return PROFILES[row.name if row else "default"]
    return profile_of(row)


def contact_of(assistant: Assistant | None) -> Contact | None:
    if assistant is None or not (assistant.contact_name or assistant.contact_email or assistant.contact_url):
        return None
    return Contact(assistant.contact_name, assistant.contact_url, assistant.contact_email)

"""A question to an assistant with all that its answer depends on: its set-up and what was said before."""

from dataclasses import replace

from chat.context import Ask
from chat.events import Contact
from chat.models import Assistant, Conversation
from chat.profiles import PROFILES, Profile, profile_of
from knowledge.inference.chat_model import Sampling
from knowledge.languages import language_of

HISTORY_MESSAGES = 6


def default_assistant() -> Assistant | None:
    return Assistant.objects.order_by("pk").first()


def ask_of(assistant: Assistant | None, text: str, language: str) -> Ask:
    """A question to an assistant, as the first of a conversation.

    It is answered in the language that it is asked in; `language`, that of the page, decides where that cannot be told.
    """
    language = language_of(text) or language
    if assistant is None:
        return Ask(text, language=language)
    spoken = assistant.language_for(language)
    suggestions = (spoken == "de" and assistant.suggestions_de) or assistant.suggestions
    return Ask(
        text=text,
        language=spoken,
        collections=tuple(assistant.collections.values_list("slug", flat=True)),
        profile=profile_for(assistant),
        assistant=assistant.name,
        institution=assistant.institution,
        persona=assistant.persona,
        template=assistant.template,
        sampling=Sampling(assistant.model, assistant.temperature, assistant.max_tokens or 0),
        contact=contact_of(assistant),
        abstention=assistant.abstention_in(spoken),
        suggestions=tuple(line.strip() for line in suggestions.splitlines() if line.strip()),
    )


def ask_in(conversation: Conversation, text: str, language: str) -> Ask:
    """The server's own record is the only history there is: what a client claims was said does not count."""
    said = conversation.messages.exclude(text="").order_by("-pk").values_list("role", "text")[:HISTORY_MESSAGES]
    asked_back = conversation.messages.filter(choices__isnull=False).values_list("choices__kind", flat=True)
    return replace(
        ask_of(conversation.assistant, text, language),
        history=tuple(reversed(said)),
        audience=tuple(conversation.audience),
        asked_kinds=tuple(asked_back),
        caller=conversation.visitor_id.hex,
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

"""Assistants, how they retrieve, and what was said with them."""

from chat.models.assistants import Assistant
from chat.models.conversations import Citation, Conversation, Feedback, Message, Visitor
from chat.models.profiles import ProfileLeg, RetrievalProfile

__all__ = [
    "Assistant",
    "Citation",
    "Conversation",
    "Feedback",
    "Message",
    "ProfileLeg",
    "RetrievalProfile",
    "Visitor",
]

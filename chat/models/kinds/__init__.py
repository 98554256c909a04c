"""Kinds of messages: those of students in need with their contacts, and examples that staff add to an assistant."""

from chat.models.kinds.examples import ORDINARY, Kind, KindExample
from chat.models.kinds.needs import EmergencyContact, Need

__all__ = ["ORDINARY", "EmergencyContact", "Kind", "KindExample", "Need"]

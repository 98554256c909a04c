"""The page of an assistant, with what belongs to it alone."""

from chat.admin.assistants.page import AssistantAdmin, ProfileField

__all__ = ["AssistantAdmin", "ProfileField"]

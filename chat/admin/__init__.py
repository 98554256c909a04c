"""Where staff set up assistants, read what was asked and answered, and try questions themselves."""

from chat.admin.assistants import AssistantAdmin
from chat.admin.conversations import ConversationAdmin
from chat.admin.trying import try_question_view

__all__ = ["AssistantAdmin", "ConversationAdmin", "try_question_view"]

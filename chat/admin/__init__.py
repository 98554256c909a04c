"""Pages on which staff set up assistants, read what was asked and answered, and try questions themselves."""

from chat.admin.api_clients import APIClientAdmin
from chat.admin.assistants import AssistantAdmin
from chat.admin.conversations import ConversationAdmin
from chat.admin.held_back import HeldBackAdmin
from chat.admin.impact import impact_document_view, impact_list_view
from chat.admin.offices import OfficeAdmin
from chat.admin.profiles import RetrievalProfileAdmin
from chat.admin.prompts import PromptVersionAdmin
from chat.admin.sites import SiteAdmin
from chat.admin.trying.page import try_question_view
from chat.admin.webhooks import WebhookAdmin, WebhookDeliveryAdmin
from chat.admin.why import why_answer_view

__all__ = [
    "APIClientAdmin",
    "AssistantAdmin",
    "ConversationAdmin",
    "HeldBackAdmin",
    "OfficeAdmin",
    "PromptVersionAdmin",
    "RetrievalProfileAdmin",
    "SiteAdmin",
    "WebhookAdmin",
    "WebhookDeliveryAdmin",
    "impact_document_view",
    "impact_list_view",
    "try_question_view",
    "why_answer_view",
]

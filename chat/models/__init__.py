"""Assistants, how they retrieve, where they stand, and what was said with them."""

from chat.models.api_clients import APIClient
from chat.models.assistants import Assistant, Language
from chat.models.cases import Case, CaseAddress, CaseMail, CaseMessage, RefusedMail
from chat.models.conversations import AnswerRecord, Citation, Conversation, Feedback, Message, Visitor
from chat.models.experiments import Experiment
from chat.models.held_back import HeldBackSentence
from chat.models.kinds import ORDINARY, EmergencyContact, Kind, KindExample, Need
from chat.models.offices import Office, OfficeHours, OfficeRule
from chat.models.profiles import ProfileLeg, RetrievalProfile
from chat.models.prompts import ModelLayout, PromptVersion
from chat.models.sites import Site
from chat.models.webhooks import Webhook, WebhookDelivery, WebhookEvent

__all__ = [
    "ORDINARY",
    "APIClient",
    "AnswerRecord",
    "Assistant",
    "Case",
    "CaseAddress",
    "CaseMail",
    "CaseMessage",
    "Citation",
    "Conversation",
    "EmergencyContact",
    "Experiment",
    "Feedback",
    "HeldBackSentence",
    "Kind",
    "KindExample",
    "Language",
    "Message",
    "ModelLayout",
    "Need",
    "Office",
    "OfficeHours",
    "OfficeRule",
    "ProfileLeg",
    "PromptVersion",
    "RefusedMail",
    "RetrievalProfile",
    "Site",
    "Visitor",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
]

"""Webhooks and their deliveries."""

from chat.admin.webhooks.deliveries import WebhookDeliveryAdmin
from chat.admin.webhooks.webhooks import WebhookAdmin

__all__ = ["WebhookAdmin", "WebhookDeliveryAdmin"]

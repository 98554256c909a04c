"""A webhook for tests, and a check of signatures that shares nothing with the code."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from chat.models import Assistant, Webhook, WebhookDelivery, WebhookEvent
from chat.services.webhooks import make_webhook
from chat.webhooks.delivery import deliver_due
from tests.chat.webhooks.receiver import Got

EVERY = list(WebhookEvent.values)


def hook_for(url: str, *assistants: Assistant, **fields: Any) -> tuple[Webhook, str]:
    """Return a new webhook, and its secret."""
    webhook = Webhook(**{"name": "Tickets", "url": url, "events": EVERY, **fields})
    secret = make_webhook(webhook=webhook)
    webhook.assistants.set(assistants)
    return webhook, secret


def verify(secret: str, got: Got) -> dict[str, Any]:
    """Return the event, if its signature is right and new."""
    key = base64.b64decode(secret.split("_", 1)[1])
    signed = b".".join([got.headers["webhook-id"].encode(), got.headers["webhook-timestamp"].encode(), got.body])
    version, given = got.headers["webhook-signature"].split(",")
    assert version == "v1"
    assert hmac.compare_digest(base64.b64decode(given), hmac.new(key, signed, hashlib.sha256).digest())
    assert abs(timezone.now().timestamp() - int(got.headers["webhook-timestamp"])) < 60
    event: dict[str, Any] = json.loads(got.body)
    assert event["id"] == got.headers["webhook-id"]
    return event


def deliver_later(webhook: Webhook, *, after: timedelta = timedelta(0)) -> None:
    """Deliver what is due of the webhook when that time has passed."""
    for delivery in webhook.deliveries.exclude(next_attempt_at=None):
        WebhookDelivery.objects.filter(pk=delivery.pk).update(next_attempt_at=delivery.next_attempt_at - after)
    deliver_due(webhook.pk)


def make_due(webhook: Webhook) -> None:
    webhook.deliveries.exclude(next_attempt_at=None).update(next_attempt_at=timezone.now())

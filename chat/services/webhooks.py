"""Services for webhooks: make one, switch it on and off, try it, and send an event again."""

from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.models import Webhook, WebhookDelivery
from chat.models.webhooks import TEST
from chat.tasks import deliver_webhook
from chat.webhooks.announce import write_body
from chat.webhooks.delivery import turn_off
from core.db.encryption import encrypt
from core.outgoing.signature import new_secret


@transaction.atomic
def make_webhook(*, webhook: Webhook) -> str:
    """Save a new webhook with a secret of its own; return the secret, which is kept encrypted only."""
    secret = new_secret()
    webhook.secret = encrypt(secret)
    webhook.off_because = "" if webhook.is_active else Webhook.Off.STAFF
    webhook.full_clean(exclude=["assistants"])
    webhook.save(force_insert=True)
    return secret


@transaction.atomic
def change_webhook(*, webhook: Webhook) -> None:
    """Save what staff changed. Switched off, it keeps nothing waiting; switched on, it begins anew."""
    before = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    if webhook.is_active and not before.is_active:
        webhook.off_because, webhook.failing_since = "", None
    webhook.save()
    if not webhook.is_active:
        turn_off(webhook, Webhook.Off.STAFF)


@transaction.atomic
def send_test(*, webhook: Webhook) -> WebhookDelivery:
    """Queue an event that only tries the webhook. Raise ValidationError if it is switched off."""
    _require_active(webhook)
    event_id, now = uuid4(), timezone.now()
    slugs = list(webhook.assistants.order_by("slug").values_list("slug", flat=True))
    delivery = WebhookDelivery.objects.create(
        webhook=webhook,
        event_id=event_id,
        event=TEST,
        body=write_body(event_id, TEST, {"assistants": slugs}, at=now),
        next_attempt_at=now,
    )
    deliver_webhook.delay_on_commit(webhook.pk)
    return delivery


@transaction.atomic
def send_again(*, delivery: WebhookDelivery) -> None:
    """Queue a finished delivery once more, with all its attempts. Raise ValidationError."""
    _require_active(delivery.webhook)
    finished = WebhookDelivery.objects.filter(pk=delivery.pk).exclude(
        state__in=[WebhookDelivery.State.WAITING, WebhookDelivery.State.SENDING]
    )
    waiting = {"state": WebhookDelivery.State.WAITING, "attempts": 0, "next_attempt_at": timezone.now()}
    if not finished.update(**waiting, finished_at=None, last_status=None, problem=""):
        raise ValidationError(_("This event is being sent already."))
    deliver_webhook.delay_on_commit(delivery.webhook_id)


def _require_active(webhook: Webhook) -> None:
    if not webhook.is_active:
        raise ValidationError(_("This webhook is switched off: tick “active” and save it first."))

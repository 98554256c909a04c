"""Delivers events: one webhook's in their order, by one worker at a time, and again later if they are not accepted.

A worker takes a delivery for a while (`LEASE`). If it dies, the delivery is due again after that, so the receiver may
get an event twice with the same id, and never not at all.
"""

import logging
import time
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.models import Webhook, WebhookDelivery
from chat.webhooks.schedule import next_wait
from core.db.encryption import Undecryptable, decrypt
from core.outgoing.post import Reply, post
from core.outgoing.signature import sign

logger = logging.getLogger(__name__)

State = WebhookDelivery.State
#: Longer than one attempt takes.
LEASE = timedelta(seconds=60)
#: How long one run may begin further deliveries: other tasks wait for the worker.
RUN_SECONDS = 40.0
#: A webhook of which nothing was accepted for so long is switched off when an event has failed for good.
OFF_AFTER = timedelta(days=3)
KEPT = timedelta(days=30)
#: The receiver says that it does not exist any more.
HTTP_GONE = 410


def deliver_due(webhook_id: int) -> timedelta | None:
    """Send what is due of a webhook. Return how soon to look again; None: at the next regular look.

    A receiver that does not reply costs one attempt a run, and what else is due waits for the next run.
    """
    until = time.monotonic() + RUN_SECONDS
    soon = None
    while time.monotonic() < until and (delivery := claim(webhook_id)):
        reply = _send(delivery)
        if reply is None:
            break
        wait = _record(delivery, reply)
        if delivery.webhook.failing_since is None:  # else each further event would be tried at once
            soon = soon or wait
        if reply.status is None:
            break
    return soon


@transaction.atomic
def claim(webhook_id: int) -> WebhookDelivery | None:
    """Take the next due delivery for this worker; None if there is none or another worker is sending to the webhook."""
    # Whoever holds the webhook's row is about to take a delivery of it.
    rows = Webhook.objects.select_for_update(skip_locked=True, no_key=True)
    hook = rows.filter(pk=webhook_id, is_active=True).first()
    now = timezone.now()
    if hook is None or hook.deliveries.filter(state=State.SENDING, next_attempt_at__gt=now).exists():
        return None
    due = hook.deliveries.unfinished().filter(next_attempt_at__lte=now).order_by("next_attempt_at", "pk")
    delivery: WebhookDelivery | None = due.select_for_update(skip_locked=True, no_key=True).first()
    if delivery is None:
        return None
    delivery.state, delivery.next_attempt_at = State.SENDING, now + LEASE
    delivery.attempts += 1
    delivery.save(update_fields=["state", "next_attempt_at", "attempts"])
    delivery.webhook = hook
    return delivery


def _send(delivery: WebhookDelivery) -> Reply | None:
    """Send it; None, with the webhook switched off, if it cannot be signed."""
    try:
        secret = decrypt(delivery.webhook.secret)
    except Undecryptable:
        turn_off(delivery.webhook, Webhook.Off.SECRET)
        return None
    body, moment, message_id = delivery.body.encode(), int(time.time()), str(delivery.event_id)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "MarcelCMS",
        "webhook-id": message_id,
        "webhook-timestamp": str(moment),
        "webhook-signature": sign(secret, message_id=message_id, timestamp=moment, body=body),
    }
    return post(delivery.webhook.url, body, headers, allow_private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES)


@transaction.atomic
def _record(delivery: WebhookDelivery, reply: Reply) -> timedelta | None:
    """Write down what became of an attempt. Return when to try again, if at all.

    Nothing is written if the delivery was deleted, ended or taken by another worker meanwhile.
    """
    hook, now = delivery.webhook, timezone.now()
    values = {"last_status": reply.status, "problem": reply.problem or ""}
    if reply.is_success:
        Webhook.objects.filter(pk=hook.pk, failing_since__isnull=False).update(failing_since=None)
        _write(delivery, state=State.DELIVERED, next_attempt_at=None, finished_at=now, **values)
        return None
    logger.info("event not accepted webhook=%d delivery=%d status=%s", hook.pk, delivery.pk, reply.status)
    Webhook.objects.filter(pk=hook.pk, failing_since=None).update(failing_since=now)
    wait = next_wait(delivery.attempts)
    if reply.status == HTTP_GONE or wait is None:
        _write(delivery, state=State.FAILED, next_attempt_at=None, finished_at=now, **values)
        if reply.status == HTTP_GONE:
            turn_off(hook, Webhook.Off.GONE)
        elif Webhook.objects.filter(pk=hook.pk, failing_since__lte=now - OFF_AFTER).exists():
            turn_off(hook, Webhook.Off.FAILING)
        return None
    _write(delivery, state=State.WAITING, next_attempt_at=now + wait, **values)
    return wait


def _write(delivery: WebhookDelivery, **values: object) -> None:
    WebhookDelivery.objects.filter(pk=delivery.pk, state=State.SENDING, attempts=delivery.attempts).update(**values)


@transaction.atomic
def turn_off(hook: Webhook, why: Webhook.Off) -> None:
    """Switch a webhook off; what waits is not sent any more."""
    Webhook.objects.filter(pk=hook.pk).update(is_active=False, off_because=why, failing_since=None)
    hook.deliveries.unfinished().update(state=State.FAILED, next_attempt_at=None, finished_at=timezone.now())
    if why != Webhook.Off.STAFF:
        logger.warning("webhook switched off webhook=%d because=%s", hook.pk, why)


def due_webhooks() -> list[int]:
    """Return the active webhooks (ids) that have something due."""
    due = WebhookDelivery.objects.unfinished().filter(next_attempt_at__lte=timezone.now(), webhook__is_active=True)
    return sorted(set(due.order_by().values_list("webhook", flat=True).distinct()))


def delete_old() -> int:
    """Delete the deliveries of events of more than 30 days ago; return how many."""
    return WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT).delete()[0]

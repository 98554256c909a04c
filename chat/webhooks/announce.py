"""Announces what happened: one delivery for each webhook that takes the event, saved with what happened.

No event holds words of students or anything that identifies a visitor. It names a staff screen, which shows what is
meant to those who may see it.
"""

import json
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from chat.models import Webhook, WebhookDelivery
from chat.models.webhooks import WebhookEvent

#: By its name, because the task imports what delivers.
TASK = "chat.tasks.deliver_webhook"


@transaction.atomic
def announce(
    event: WebhookEvent,
    *,
    key: str,
    assistants: Collection[int],
    data: Mapping[str, Any],
    conversation: UUID | None = None,
    settles_in: timedelta = timedelta(0),
) -> None:
    """Queue the event for the webhooks that take it of one of these assistants (ids).

    `key` names what happened: the same is announced once. What is announced again before it `settles_in` replaces the
    data that was to be sent. With a conversation, which the caller has locked, the deliveries are deleted with it.
    """
    takers = list(Webhook.objects.taking(event).filter(assistants__in=assistants).distinct())
    if not takers:
        return
    event_id, now = name_event(event, key), timezone.now()
    slugs = _slugs(takers, assistants)
    bodies = {hook.pk: write_body(event_id, event, {"assistants": slugs[hook.pk], **data}, at=now) for hook in takers}
    if settles_in:
        for pk, body in bodies.items():
            WebhookDelivery.objects.filter(webhook=pk, event_id=event_id, attempts=0).update(body=body)
    WebhookDelivery.objects.bulk_create(
        (
            WebhookDelivery(
                webhook_id=pk,
                event_id=event_id,
                event=event,
                conversation_id=conversation,
                body=body,
                next_attempt_at=now + settles_in,
            )
            for pk, body in bodies.items()
        ),
        ignore_conflicts=True,
    )
    if not settles_in:
        for pk in bodies:
            import_string(TASK).delay_on_commit(pk)


def withdraw(event: WebhookEvent, *, key: str) -> None:
    """Delete what was announced and has not been sent yet."""
    WebhookDelivery.objects.filter(event_id=name_event(event, key), attempts=0).delete()


def name_event(event: str, key: str) -> UUID:
    """Return the event's id: the same for the same key, and another one on each server."""
    return uuid5(uuid5(NAMESPACE_URL, settings.PUBLIC_URL), f"{event} {key}")


def write_body(event_id: UUID, event: str, data: Mapping[str, Any], *, at: Any) -> str:
    """Return the event as JSON, as it is sent at each attempt."""
    body = {"id": str(event_id), "type": event, "timestamp": at.isoformat(timespec="seconds"), "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _slugs(hooks: Collection[Webhook], assistants: Collection[int]) -> dict[int, list[str]]:
    """Return the short names of those of these assistants that each webhook has."""
    slugs: dict[int, list[str]] = {hook.pk: [] for hook in hooks}
    links = Webhook.assistants.through.objects.filter(webhook__in=slugs, assistant__in=assistants)
    for hook, slug in links.order_by("assistant__slug").values_list("webhook_id", "assistant__slug"):
        slugs[hook].append(slug)
    return slugs

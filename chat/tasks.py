"""Celery tasks of the chat: ids in, one call, safe to run twice. Nothing heavy is imported until a task runs."""

from datetime import timedelta

from celery import shared_task

#: How often `deliver_due_webhooks` looks; what is due sooner is queued at once.
LOOK_EVERY = timedelta(seconds=60)
#: Above what a run takes on, and below the time for which a mail is claimed.
MAIL_SECONDS = 300


@shared_task(soft_time_limit=90, time_limit=120)
def deliver_webhook(webhook_id: int) -> None:
    """Send what is due of one webhook."""
    from chat.webhooks.delivery import deliver_due

    wait = deliver_due(webhook_id)
    if wait is not None and wait < LOOK_EVERY:
        deliver_webhook.apply_async((webhook_id,), countdown=wait.total_seconds())


@shared_task(soft_time_limit=50, time_limit=60, expires=60)
def deliver_due_webhooks() -> None:
    """Queue the webhooks with something due: a further attempt, or what a lost worker or broker left behind."""
    from chat.webhooks.delivery import due_webhooks

    for webhook_id in due_webhooks():
        # A worker that is busy for longer gets it from a later look: the queue never fills with the same.
        deliver_webhook.apply_async((webhook_id,), expires=LOOK_EVERY.total_seconds())


@shared_task(soft_time_limit=240, time_limit=300)
def delete_webhook_deliveries() -> None:
    """Delete old deliveries."""
    from chat.webhooks.delivery import delete_old

    delete_old()


@shared_task(soft_time_limit=240, time_limit=300)
def embed_kind_examples() -> None:
    """Make the vectors of examples of kinds of messages that have none; the next run tries again what failed."""
    from chat.pipeline.understanding.own_examples.loading import embed_pending

    embed_pending()


@shared_task(time_limit=MAIL_SECONDS)
def send_case_mails() -> None:
    """Send what offices replied to students who want it by e-mail; the next run goes on where this one stopped."""
    from chat.cases.mail.sending import send_due

    send_due()


@shared_task(time_limit=MAIL_SECONDS)
def read_case_mails() -> None:
    """Read what students answered by e-mail, in one process at a time."""
    from chat.streaming.case_mails import read_mails

    read_mails()

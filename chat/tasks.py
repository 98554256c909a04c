"""Celery tasks: one call, safe to run twice. Nothing heavy is imported until a task runs."""

from celery import shared_task

#: Above what a run takes on, and below the time for which a mail is claimed.
MAIL_SECONDS = 300


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

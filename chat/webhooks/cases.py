"""Events about questions that students left with offices."""

from typing import Any

from django.conf import settings
from django.urls import reverse

from chat.models import Case
from chat.models.webhooks import WebhookEvent
from chat.webhooks.announce import announce


def announce_opened(case: Case, **_signal: Any) -> None:
    """Receive `case_opened`, with the conversation locked: announce a case that is new or was passed on.

    Nothing is announced of people in need.
    """
    if case.reason == Case.Reason.HELP or case.assistant_id is None or case.reply_due is None:
        return
    screen = reverse("admin:chat_case_change", args=[case.pk])
    announce(
        WebhookEvent.CASE_OPENED,
        key=f"{case.pk} {case.office_id}",
        assistants=[case.assistant_id],
        data={
            "case": case.pk,
            "office": case.office.name if case.office else "",
            "reason": case.reason,
            "language": case.language,
            "reply_due": case.reply_due.isoformat(timespec="seconds"),
            "url": f"{settings.PUBLIC_URL}{screen}",
        },
        conversation=case.conversation_id,
    )

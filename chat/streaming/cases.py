"""Tells the student's tabs what became of a case."""

from functools import partial
from uuid import UUID

from django.db import transaction

from chat.cases.views import view_case, with_messages
from chat.models import Case
from chat.protocol.events import CaseChanged
from chat.streaming.publisher import publish_from_thread, publish_once
from core.db.prepared import in_database


async def publish_case(case: int) -> None:
    """Publish the case as it is now; do nothing if it was deleted meanwhile."""
    found = await in_database(_read)(case)
    if found is not None:
        await publish_once(*found)


def publish_on_commit(case: int) -> None:
    """Publish the case as soon as the caller's transaction is saved."""
    transaction.on_commit(partial(publish_case_from_thread, case))


def publish_case_from_thread(case: int) -> None:
    """Publish the case as it is now where no event loop runs; do nothing if it was deleted meanwhile."""
    found = _read(case)
    if found is not None:
        publish_from_thread(*found)


def _read(case: int) -> tuple[UUID, UUID, CaseChanged] | None:
    row = with_messages(Case.objects.filter(pk=case)).select_related("conversation").first()
    if row is None:
        return None
    return row.conversation.visitor_id, row.conversation_id, CaseChanged(view_case(row))

"""What the student sees of offices and of their own cases."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.utils import translation
from django.utils.timezone import localtime

from chat.cases.hours import describe_hours, is_open, reply_due
from chat.errors import NotFound
from chat.models import Case, CaseMessage, Conversation, Message, Office
from chat.protocol.shapes import CaseView, CaseWords, OfficeChoice

#: Messages of a conversation that can be sent along, the latest.
SHARED_MOST = 40


def view_office(office: Office, language: str) -> OfficeChoice:
    """Return what a student reads of an office before leaving a question there."""
    with translation.override(language):
        return OfficeChoice(
            id=office.pk,
            name=office.name_in(language),
            hours=tuple(describe_hours(office)),
            is_open=is_open(office),
            reply_due=localtime(reply_due(office)).isoformat(),
        )


def own_cases(conversation: Conversation) -> list[CaseView]:
    """Return the conversation's cases, the oldest first; two queries however many there are."""
    return [view_case(case) for case in with_messages(conversation.cases.all())]


def with_messages(cases: QuerySet[Case]) -> QuerySet[Case]:
    """Read along what `view_case` needs."""
    return cases.select_related("office", "address").prefetch_related("messages").order_by("pk")


def view_case(case: Case) -> CaseView:
    """Return a case as its student sees it: the office's name instead of who wrote."""
    address = getattr(case, "address", None)
    return CaseView(
        id=case.pk,
        office=case.office.name_in(case.language) if case.office else "",
        state=case.state,
        question=case.question,
        about=case.about_id,
        opened_at=case.opened_at.isoformat(),
        reply_due=localtime(case.reply_due).isoformat() if case.reply_due else "",
        mails="" if address is None else "confirmed" if address.confirmed_at else "unconfirmed",
        helped=case.helped,
        messages=tuple(view_message(each) for each in case.messages.all()),
    )


def load_view(case: int) -> CaseView:
    """Return the case of this id as its student sees it. Raise NotFound."""
    row = with_messages(Case.objects.filter(pk=case)).first()
    if row is None:
        raise NotFound
    return view_case(row)


def view_message(message: CaseMessage) -> CaseWords:
    """Return a message of a case without its author's name."""
    return CaseWords(message.pk, message.by, message.text, message.asks_back, message.created_at.isoformat())


def export_cases(conversation: Conversation) -> list[dict[str, Any]]:
    """Return all that is stored of the conversation's cases, as JSON can hold it."""
    rows = with_messages(conversation.cases.all()).prefetch_related("shared")
    return [
        {
            **asdict(view_case(case)),
            "reason": case.reason,
            "email": case.address.email if hasattr(case, "address") else "",
            "shared": [message.pk for message in case.shared.all()],
        }
        for case in rows
    ]


def shareable(messages: Iterable[Message]) -> Sequence[dict[str, Any]]:
    """Return the messages of a conversation that can be sent along with a question, oldest first."""
    seen = [each for each in messages if each.text and not each.is_replaced]
    finished = [each for each in seen if each.status != Message.Status.GENERATING]
    return [{"id": each.pk, "role": each.role, "text": each.text} for each in finished[-SHARED_MOST:]]

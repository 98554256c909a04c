"""Services for a student's questions to offices and wishes to be told: each is saved, and told to all of their tabs.

All raise `errors.NotFound` for what is not the visitor's own, `errors.Refused` for what makes no sense, and
redis.RedisError, OSError and django.db.DatabaseError if a part is away.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chat.cases.messages import add_student_message, change, lock_own_case
from chat.cases.news import case_opened
from chat.cases.opening import open_case
from chat.cases.routing import choose_office, list_offices
from chat.cases.views import load_view, shareable, view_office
from chat.cases.wishes import add_answer, open_wish
from chat.conversations.store import own_conversation
from chat.errors import NotFound
from chat.models import Case, Message
from chat.protocol.events import CaseWithdrawn
from chat.protocol.shapes import CaseView
from chat.services.case_mails import change_address, queue_reply_mail
from chat.sites import rate_limits
from chat.sites.session_tokens import Session
from chat.streaming.cases import publish_case, publish_on_commit
from chat.streaming.publisher import publish_once
from core.db.prepared import in_database


def describe_handover(session: Session, conversation: UUID, answer: int | None) -> dict[str, Any]:
    """Return what the student chooses from before leaving a question. Raise NotFound."""
    row = own_conversation(session.visitor, conversation)
    messages = list(row.messages.order_by("pk"))
    about = next((each for each in messages if each.pk == answer and each.role == Message.Role.ASSISTANT), None)
    if answer is not None and about is None:
        raise NotFound
    offices = list_offices(row)
    chosen = choose_office(row, about, offices)
    question = _question_of(about, messages)
    shown = shareable(messages)
    proposed = {about.pk, about.question_id} if about else set()
    return {
        "offices": [view_office(office, session.language) for office in offices],
        "office": chosen.pk if chosen else None,
        "question": question,
        "messages": shown,
        "shared": [each["id"] for each in shown if each["id"] in proposed],
        "mails": bool(settings.EMAIL_HOST),
    }


def _question_of(about: Message | None, messages: Sequence[Message]) -> str:
    """Return the question of that answer; without an answer none, for the last message may be a wish for a person."""
    if about is None:
        return ""
    return next((each.text for each in messages if each.pk == about.question_id), "")


async def leave_question(
    session: Session,
    *,
    conversation: UUID,
    client_id: UUID,
    office: int,
    question: str,
    answer: int | None,
    shared: Sequence[int],
    email: str,
    address: str,
) -> CaseView:
    """Leave a question with an office; find it if this `client_id` was used before.

    `email` is where replies are to go too, once its owner has confirmed it, and `address` that of the network.
    """
    await rate_limits.count_case(visitor=session.visitor.hex, address=address)
    case, is_new = await in_database(_open)(
        email=email,
        visitor=session.visitor,
        conversation=conversation,
        client_id=client_id,
        office=office,
        question=question,
        answer=answer,
        shared=shared,
    )
    if is_new:
        return await _told(case.pk)
    view: CaseView = await in_database(load_view)(case.pk)
    return view


@transaction.atomic
def _open(*, email: str, **values: Any) -> tuple[Case, bool]:
    case, is_new = open_case(**values)
    if is_new:
        case_opened.send(Case, case=case)
        if email.strip():
            change_address(case, email)
    return case, is_new


async def wish_to_know(
    session: Session, *, conversation: UUID, client_id: UUID, answer: int, email: str, address: str
) -> CaseView:
    """Wish to be told once the question of this answer has a better one; find the wish if it was made before.

    `email` is where it is to be told too, once its owner has confirmed it, and `address` that of the network.
    """
    await rate_limits.count_case(visitor=session.visitor.hex, address=address)
    case = await in_database(_wish)(
        email=email, visitor=session.visitor, conversation=conversation, client_id=client_id, answer=answer
    )
    return await _told(case)


@transaction.atomic
def _wish(*, email: str, **values: Any) -> int:
    case, is_new = open_wish(**values)
    if is_new and email.strip():
        change_address(case, email)
    return case.pk


@transaction.atomic
def tell_answered(*, case: int, title: str, url: str) -> bool:
    """Tell a student once what answers their question now, in the chat and by e-mail if they want that.

    Return False if they were told, or took the wish back, before.
    """
    message = add_answer(case=case, title=title, url=url)
    if message is None:
        return False
    queue_reply_mail(message)
    publish_on_commit(case)
    return True


async def write(session: Session, case: int, *, client_id: UUID, text: str, address: str) -> CaseView:
    """Write to the office in a case of one's own."""
    await rate_limits.count_case(visitor=session.visitor.hex, address=address)
    await in_database(_write)(session.visitor, case, client_id, text)
    return await _told(case)


@transaction.atomic
def _write(visitor: UUID, case: int, client_id: UUID, text: str) -> None:
    row = lock_own_case(visitor, case)
    add_student_message(case=row, text=text, client_id=client_id)


async def say_helped(visitor: UUID, case: int, helped: bool | None) -> CaseView:
    """Say whether what came helped, the office's reply or an answer that was told; or take that back."""
    await in_database(_say_helped)(visitor, case, helped)
    return await _told(case)


@transaction.atomic
def _say_helped(visitor: UUID, case: int, helped: bool | None) -> None:
    row = lock_own_case(visitor, case)
    if row.first_reply_at is None and row.state != Case.State.TOLD:
        raise NotFound
    change(row, by=None, helped=helped)


async def withdraw(visitor: UUID, case: int) -> None:
    """Take a question back: it is deleted with all that was said about it."""
    conversation = await in_database(_withdraw)(visitor, case)
    await publish_once(visitor, conversation, CaseWithdrawn(case))


@transaction.atomic
def _withdraw(visitor: UUID, case: int) -> UUID:
    row = lock_own_case(visitor, case)
    row.delete()
    return row.conversation_id


async def _told(case: int) -> CaseView:
    """Tell all of the student's tabs of the case, and return it. Raise NotFound."""
    await publish_case(case)
    view: CaseView = await in_database(load_view)(case)
    return view

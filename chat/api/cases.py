"""Questions that a visitor leaves with an office. What is somebody else's is not found."""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Path, Query, Router, Status

from chat.api.auth import SessionToken, client_address, current_session
from chat.api.openapi import problems
from chat.protocol.rest import AddressGiven, CaseMessageGiven, CaseOpened, Handover, HelpedGiven, MessageId, WishGiven
from chat.protocol.shapes import CaseView
from chat.services import case_mails, student_cases
from core.db.prepared import in_database

router = Router(auth=SessionToken())


@router.get(
    "conversations/{conversation}/handover",
    response={200: Handover, **problems(401, 403, 404, 422, 503)},
    operation_id="handover_get",
    summary="What a student chooses from before leaving a question with an office",
)
async def handover_get(
    request: HttpRequest,
    conversation: UUID,
    answer: Annotated[MessageId | None, Query(description="The answer that did not help.")] = None,
) -> dict[str, Any]:
    """Say which office the question belongs to, when it replies, and which messages can go along."""
    found: dict[str, Any] = await in_database(student_cases.describe_handover)(
        current_session(request), conversation, answer
    )
    return found


@router.post(
    "conversations/{conversation}/cases",
    response={200: CaseView, **problems(400, 401, 403, 404, 413, 422, 429, 503)},
    operation_id="case_open",
    summary="Leave a question with an office",
)
async def case_open(request: HttpRequest, conversation: UUID, data: CaseOpened) -> CaseView:
    """Open a case: staff of the office read the question and the messages that are shared, and reply here."""
    return await student_cases.leave_question(
        current_session(request),
        conversation=conversation,
        client_id=data.client_id,
        office=data.office,
        question=data.question,
        answer=data.answer,
        shared=data.shared,
        email=data.email,
        address=client_address(request),
    )


@router.post(
    "conversations/{conversation}/wishes",
    response={200: CaseView, **problems(400, 401, 403, 404, 413, 422, 429, 503)},
    operation_id="wish_make",
    summary="Wish to be told once a question has an answer",
)
async def wish_make(request: HttpRequest, conversation: UUID, data: WishGiven) -> CaseView:
    """Tell the student once, as soon as what staff publish answers the question. A second wish for it is the first."""
    return await student_cases.wish_to_know(
        current_session(request),
        conversation=conversation,
        client_id=data.client_id,
        answer=data.answer,
        email=data.email,
        address=client_address(request),
    )


@router.post(
    "cases/{case}/messages",
    response={200: CaseView, **problems(400, 401, 403, 404, 413, 422, 429, 503)},
    operation_id="case_write",
    summary="Write to the office",
)
async def case_write(request: HttpRequest, case: Path[MessageId], data: CaseMessageGiven) -> CaseView:
    """Add a message; a closed case is opened again by it, and a wish goes to the office of its question."""
    return await student_cases.write(
        current_session(request), case, client_id=data.client_id, text=data.text, address=client_address(request)
    )


@router.put(
    "cases/{case}/helped",
    response={200: CaseView, **problems(400, 401, 403, 404, 413, 422, 503)},
    operation_id="case_helped",
    summary="Say whether the reply or the answer helped",
)
async def case_helped(request: HttpRequest, case: Path[MessageId], data: HelpedGiven) -> CaseView:
    """Again to change it."""
    return await student_cases.say_helped(current_session(request).visitor, case, data.helped)


@router.put(
    "cases/{case}/email",
    response={200: CaseView, **problems(400, 401, 403, 404, 413, 422, 429, 503)},
    operation_id="case_email",
    summary="Say where replies go too",
)
async def case_email(request: HttpRequest, case: Path[MessageId], data: AddressGiven) -> CaseView:
    """Have replies sent by e-mail too, once the link of a first mail was followed; empty ends that."""
    return await case_mails.set_address(
        current_session(request), case, email=data.email, address=client_address(request)
    )


@router.delete(
    "cases/{case}",
    response={204: None, **problems(401, 403, 404, 422, 503)},
    operation_id="case_withdraw",
    summary="Take a question back",
)
async def case_withdraw(request: HttpRequest, case: Path[MessageId]) -> Status[None]:
    """Delete it with all that was said about it."""
    await student_cases.withdraw(current_session(request).visitor, case)
    return Status(204, None)

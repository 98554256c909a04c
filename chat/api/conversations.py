"""A visitor's conversations, and what they think of them. What is somebody else's is not found."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Path, Router, Status

from chat.api.auth import SessionToken, client_address, current_session
from chat.api.openapi import file_of, problems
from chat.conversations import visitors
from chat.conversations.store import dates_of, own_answer, own_conversation, saved_messages, source_of
from chat.errors import NotFound
from chat.pipeline.plain_language import PlainAnswer
from chat.protocol.rest import ContactUsed, FeedbackGiven, InPlainLanguage, MessageId, RatingGiven, Renamed, Title
from chat.protocol.shapes import ConversationSummary, Snapshot
from chat.services import chat
from chat.services.plain_language import put_plainly
from chat.streaming import replay
from chat.take_along.calendar_file import write_calendar
from chat.take_along.conversation_file import write_conversation
from core.db.prepared import in_database

router = Router(auth=SessionToken())


@router.get(
    "conversations",
    response={200: list[ConversationSummary], **problems(401, 403, 503)},
    operation_id="conversation_list",
    summary="The visitor's conversations",
)
async def conversation_list(request: HttpRequest) -> list[dict[str, Any]]:
    """List the 200 latest conversations, the latest first."""
    listed: list[dict[str, Any]] = await in_database(visitors.list_conversations)(current_session(request).visitor)
    return listed


@router.get(
    "conversations/{conversation}",
    response={200: Snapshot, **problems(401, 403, 404, 422, 503)},
    operation_id="conversation_get",
    summary="A conversation as it is saved",
)
async def conversation_get(request: HttpRequest, conversation: UUID) -> dict[str, Any]:
    visitor = current_session(request).visitor
    await in_database(own_conversation)(visitor, conversation)
    return (await replay.resume(visitor=visitor, conversation=conversation, after=None))[0]


@router.patch(
    "conversations/{conversation}",
    response={200: Renamed, **problems(400, 401, 403, 404, 413, 422, 503)},
    operation_id="conversation_rename",
    summary="Rename a conversation",
)
async def conversation_rename(request: HttpRequest, conversation: UUID, data: Title) -> dict[str, Any]:
    title = await in_database(visitors.rename_conversation)(
        visitor=current_session(request).visitor, conversation=conversation, title=data.title
    )
    return {"id": conversation, "title": title}


@router.delete(
    "conversations/{conversation}",
    response={204: None, **problems(401, 403, 404, 422, 503)},
    operation_id="conversation_delete",
    summary="Delete a conversation for good",
)
async def conversation_delete(request: HttpRequest, conversation: UUID) -> Status[None]:
    """With all that was said in it, its sources, ratings and events; an answer on its way ends."""
    await chat.delete_conversation(current_session(request).visitor, conversation)
    return Status(204, None)


@router.put(
    "conversations/{conversation}/rating",
    response={204: None, **problems(400, 401, 403, 404, 413, 422, 503)},
    operation_id="conversation_rate",
    summary="Rate a conversation with 1 to 5 stars",
)
async def conversation_rate(request: HttpRequest, conversation: UUID, data: RatingGiven) -> Status[None]:
    """Again to change it."""
    await chat.rate(current_session(request).visitor, conversation=conversation, stars=data.stars)
    return Status(204, None)


@router.post(
    "messages/{message}/stop",
    response={204: None, **problems(401, 403, 404, 422, 503)},
    operation_id="message_stop",
    summary="Stop an answer that is being written",
)
async def message_stop(request: HttpRequest, message: Path[MessageId]) -> Status[None]:
    """Stop an answer; what was written of it is kept."""
    await chat.stop(current_session(request).visitor, message)
    return Status(204, None)


@router.put(
    "messages/{message}/feedback",
    response={204: None, **problems(400, 401, 403, 404, 413, 422, 503)},
    operation_id="message_feedback",
    summary="Say whether an answer helped, and why not",
)
async def message_feedback(request: HttpRequest, message: Path[MessageId], data: FeedbackGiven) -> Status[None]:
    """Again to change it; 0 withdraws it."""
    await chat.give_feedback(
        current_session(request).visitor, message=message, value=data.value, reasons=data.reasons, comment=data.comment
    )
    return Status(204, None)


@router.post(
    "messages/{message}/contacts",
    response={204: None, **problems(400, 401, 403, 404, 413, 422, 503)},
    operation_id="message_contact",
    summary="Tell that the visitor went to a contact that an answer names",
)
async def message_contact(request: HttpRequest, message: Path[MessageId], data: ContactUsed) -> Status[None]:
    """Tell of which kind it was, not whose. The same kind again changes nothing."""
    await chat.use_contact(current_session(request).visitor, message=message, kind=data.kind)
    return Status(204, None)


@router.get(
    "conversations/{conversation}/file",
    response={200: str, **problems(401, 403, 404, 422, 503)},
    operation_id="conversation_file",
    summary="A conversation as a page to keep or to print",
    openapi_extra=file_of("text/html"),
)
async def conversation_file(request: HttpRequest, conversation: UUID) -> HttpResponse:
    """One HTML file that needs nothing else: questions, answers, and the sources with their addresses."""
    page = await in_database(_written_conversation)(current_session(request).visitor, conversation)
    headers = {"Content-Disposition": 'attachment; filename="conversation.html"', "Cache-Control": "no-store"}
    return HttpResponse(page, content_type="text/html; charset=utf-8", headers=headers)


def _written_conversation(visitor: UUID, conversation: UUID) -> str:
    row = own_conversation(visitor, conversation)
    return write_conversation(row.title, saved_messages(row), assistant=row.assistant.name if row.assistant else "")


@router.get(
    "messages/{message}/calendar",
    response={200: str, **problems(401, 403, 404, 422, 503)},
    operation_id="message_calendar",
    summary="A date that an answer names, for the calendar",
    openapi_extra=file_of("text/calendar"),
)
async def message_calendar(request: HttpRequest, message: Path[MessageId], begin: str) -> HttpResponse:
    """Send the one of the answer's `dates` that begins then, as an iCalendar file (RFC 5545) that names its source."""
    written = await in_database(_written_date)(current_session(request).visitor, message, begin)
    headers = {"Content-Disposition": 'attachment; filename="date.ics"', "Cache-Control": "no-store"}
    return HttpResponse(written, content_type="text/calendar; charset=utf-8", headers=headers)


def _written_date(visitor: UUID, message: int, begin: str) -> bytes:
    answer = own_answer(visitor, message)
    for date in dates_of(answer):
        if date.begin == begin:
            (source,) = (source_of(each) for each in answer.citations.all() if each.n == date.n)
            assistant = answer.conversation.assistant
            return write_calendar(date, source, assistant=assistant.name if assistant else "")
    raise NotFound


@router.post(
    "messages/{message}/plain",
    response={200: InPlainLanguage, **problems(401, 403, 404, 422, 429, 503)},
    operation_id="message_plain",
    summary="The same answer in plain language",
)
async def message_plain(request: HttpRequest, message: Path[MessageId]) -> PlainAnswer:
    """Have a language model say the same more simply. What the cited passages do not prove stands as it was."""
    return await put_plainly(current_session(request), message=message, address=client_address(request))


@router.get(
    "my-data",
    response={200: dict[str, Any], **problems(401, 403, 404, 503)},
    operation_id="my_data_get",
    summary="All that is stored of the visitor, as a file",
)
async def my_data_get(request: HttpRequest) -> JsonResponse:
    data = await in_database(visitors.export_visitor)(current_session(request).visitor)
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"', "Cache-Control": "no-store"}
    return JsonResponse(data, headers=headers, json_dumps_params={"ensure_ascii": False, "indent": 1})


@router.delete(
    "my-data",
    response={204: None, **problems(401, 403, 503)},
    operation_id="my_data_erase",
    summary="Erase all that is stored of the visitor, now",
)
async def my_data_erase(request: HttpRequest) -> Status[None]:
    """Their session ends on every tab; to go on they are asked to agree anew."""
    await chat.erase(current_session(request).visitor)
    return Status(204, None)

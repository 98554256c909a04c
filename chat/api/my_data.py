"""What is stored of a visitor: theirs to take, and to have erased."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from ninja import Router, Status

from chat import actions, visitors
from chat.api.documentation import problems
from chat.api.visiting import SessionToken, session_of
from chat.threads import in_database

router = Router(auth=SessionToken())


@router.get(
    "my-data",
    response={200: dict[str, Any], **problems(401, 403, 404, 503)},
    operation_id="my_data_get",
    summary="All that is stored of the visitor, as a file",
)
async def my_data_get(request: HttpRequest) -> JsonResponse:
    data = await in_database(visitors.all_of)(session_of(request).visitor)
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
    await actions.erase(session_of(request).visitor)
    return Status(204, None)

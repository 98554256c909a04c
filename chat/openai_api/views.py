"""The addresses below /v1/: the assistants that a key may use as models, and their answers."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from chat.models import APIClient, Assistant
from chat.openai_api.errors import answers_errors, error_reply, unknown_model
from chat.openai_api.replies import as_chunks, as_completion
from chat.openai_api.requests import read_body
from chat.services import client_questions
from chat.services.api_clients import find_assistant, identify, list_assistants, read_bearer
from core.db.prepared import in_database
from core.rest.event_stream import EventStream

ASK = APIClient.Scope.ASK
NO_STORE = {"Cache-Control": "no-store"}


@csrf_exempt
@answers_errors
async def model_list(request: HttpRequest) -> HttpResponseBase:
    """Return the assistants that the key may use."""
    client = await _identify(request)
    if request.method != "GET":
        return _wrong_method("GET")
    rows = await in_database(list_assistants)(client)
    return JsonResponse({"object": "list", "data": [_as_model(row) for row in rows]}, headers=NO_STORE)


@csrf_exempt
@answers_errors
async def model_detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    client = await _identify(request)
    if request.method != "GET":
        return _wrong_method("GET")
    row = await in_database(find_assistant)(client, slug)
    return JsonResponse(_as_model(row), headers=NO_STORE) if row else unknown_model(slug)


@csrf_exempt
@answers_errors
async def chat_completions(request: HttpRequest) -> HttpResponseBase:
    """Answer the last message; what was said before it is the history."""
    client = await _identify(request)
    if request.method != "POST":
        return _wrong_method("POST")
    body = read_body(request)
    text, history = body.split()
    assistant = await in_database(find_assistant)(client, body.model)
    if assistant is None:
        return unknown_model(body.model)
    language = (translation.get_language() or "")[:2]
    asked = await client_questions.ask(client, assistant=assistant, text=text, history=history, language=language)
    if body.stream:
        return EventStream(as_chunks(asked, model=assistant.slug, wants_usage=body.wants_usage))
    answer = await client_questions.read_whole(asked)
    if answer.has_failed:
        return error_reply(503, answer.error, "server_error", code="answer_failed")
    return JsonResponse(await as_completion(asked, answer, model=assistant.slug), headers=NO_STORE)


@csrf_exempt
@answers_errors
async def not_found(_request: HttpRequest) -> HttpResponseBase:
    return error_reply(404, _("There is no such address here."), code="unknown_url")


async def _identify(request: HttpRequest) -> APIClient:
    return await identify(read_bearer(request.headers.get("Authorization", "")), scope=ASK)


def _as_model(assistant: Assistant) -> dict[str, Any]:
    return {
        "id": assistant.slug,
        "object": "model",
        "created": 0,
        "owned_by": assistant.institution,
        "name": assistant.name,
    }


def _wrong_method(right: str) -> HttpResponseBase:
    response = error_reply(405, _("This address takes %(method)s only.") % {"method": right}, code="wrong_method")
    response["Allow"] = right
    return response

"""The OpenAPI document, where the framework's own says less than is so."""

from typing import Any

from ninja import NinjaAPI

from chat.protocol.rest import Problem

EVENT: dict[str, Any] = {
    "description": "Each of the stream's events.",
    "type": "object",
    "properties": {
        "id": {"description": "The event's number, where it has one.", "type": "string"},
        "data": {"description": "The event as JSON.", "type": "string", "contentMediaType": "application/json"},
    },
    "required": ["data"],
}
EVENTS_EXAMPLE = 'id: 7\ndata: {"type": "message_delta", "seq": 7, "message": 12, "text": "The semester", …}\n\n'
#: For operations that reply with server-sent events.
EVENT_STREAM: dict[str, Any] = {
    "responses": {
        200: {"content": {"text/event-stream": {"schema": EVENT, "example": EVENTS_EXAMPLE}}},
    }
}


def file_of(kind: str) -> dict[str, Any]:
    """Say that an operation replies with a file of that media type."""
    return {"responses": {200: {"content": {kind: {"schema": {"type": "string"}}}}}}


#: Media types of replies that are no JSON.
NO_JSON = {"text/event-stream", "text/html", "text/calendar"}
RETRY_AFTER = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}}}


def problems(*statuses: int) -> dict[int, type[Problem]]:
    """Errors that an operation may reply with."""
    return dict.fromkeys(statuses, Problem)


class PublicAPI(NinjaAPI):
    def get_openapi_schema(self, **options: Any) -> Any:
        """With the media types that are really sent."""
        schema = super().get_openapi_schema(**options)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, reply in operation["responses"].items():
                    content = reply.get("content", {})
                    if int(status) >= 400:
                        content["application/problem+json"] = content.pop("application/json")
                    elif NO_JSON & content.keys():
                        del content["application/json"]
                    if int(status) in {429, 503}:
                        reply["headers"] = RETRY_AFTER
        return schema

"""The base of every event that the server sends.

The event log adds `seq` and `conversation` to each event, the runner adds `message` to each event of an answer.
"""

from functools import cache
from typing import Any, ClassVar, cast

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.dataclasses import dataclass
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, SchemaSerializer

SEQ: JsonSchemaValue = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
CONVERSATION: JsonSchemaValue = {"type": "string"}
MESSAGE: JsonSchemaValue = {"type": "integer"}


@cache
def _serializer(event: Any) -> SchemaSerializer:
    return TypeAdapter[Any](event).serializer


@dataclass(frozen=True, slots=True)
class Event:
    """An event that the server sends."""

    #: What is added on the way to the client: to every event, and to those where it is known.
    required: ClassVar[JsonSchemaValue] = {}
    optional: ClassVar[JsonSchemaValue] = {}

    def to_wire(self) -> dict[str, Any]:
        """Return the event as JSON values, without what is only for the record."""
        wire: dict[str, Any] = _serializer(cast(Any, type(self))).to_python(self)
        return wire

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the event as it arrives, with what is added on its way."""
        schema = handler(core)
        shape = handler.resolve_ref_schema(schema)
        added = {**cls.optional, **cls.required}
        shape["properties"] = {"type": shape["properties"]["type"], **added, **shape["properties"]}
        shape["required"] = ["type", *cls.required, *shape.get("required", ())]
        return schema


@dataclass(frozen=True, slots=True)
class ConversationEvent(Event):
    """An event that is numbered and kept in its conversation's log."""

    required: ClassVar[JsonSchemaValue] = {"conversation": CONVERSATION}
    optional: ClassVar[JsonSchemaValue] = {"seq": SEQ}


@dataclass(frozen=True, slots=True)
class AnswerEvent(ConversationEvent):
    """A part of an answer."""

    required: ClassVar[JsonSchemaValue] = {"conversation": CONVERSATION, "message": MESSAGE}

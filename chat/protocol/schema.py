"""The protocol as JSON Schema and as the widget's TypeScript, made from the models; pure."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from chat.protocol import events, frames, rest, shapes

WIDGET = Path(__file__).parents[1] / "widget"
SCHEMA_FILE, TYPES_FILE = WIDGET / "protocol.schema.json", WIDGET / "src" / "protocol.ts"
TITLE = "The wire protocol of the chat, version 1"
DESCRIPTION = (
    "What clients send and what the server says, over the websocket and, with the same events, over SSE. "
    "Readers ignore properties and events that they do not know."
)
Mode = Literal["validation", "serialization"]
#: What the widget reads, and so checks.
READ: tuple[Any, ...] = (
    events.ServerEvent,
    rest.AssistantInfo,
    rest.Handover,
    rest.InPlainLanguage,
    rest.SessionReply,
    shapes.ConversationSummary,
    rest.Problem,
)
SENT: tuple[Any, ...] = (frames.ClientFrame, frames.CloseCode)
LETTERS = {"string": "s", "integer": "i", "number": "n", "boolean": "b", "null": "0"}


@cache
def definitions() -> dict[str, JsonSchemaValue]:
    """Return the schema of each shape, by its title."""
    modes: list[tuple[Any, Mode]] = [(each, "serialization") for each in READ] + [(each, "validation") for each in SENT]
    adapters = [(str(number), mode, TypeAdapter[Any](each)) for number, (each, mode) in enumerate(modes)]
    _keys, schema = TypeAdapter.json_schemas(adapters)
    found: dict[str, JsonSchemaValue] = schema["$defs"]
    names = {name: shape.get("title", name) for name, shape in found.items()}
    return dict(sorted((names[name], _plain(shape, names)) for name, shape in found.items()))


def _plain(schema: Any, names: Mapping[str, str]) -> Any:
    """Leave out titles, defaults and discriminators, and refer to shapes by their titles."""
    if isinstance(schema, list):
        return [_plain(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return {"$ref": f"#/$defs/{names[name]}"}
    kept = {
        key: _plain(part, names) for key, part in schema.items() if key not in {"title", "default", "discriminator"}
    }
    if "properties" in schema:
        kept["properties"] = {name: _plain(part, names) for name, part in schema["properties"].items()}
        constant = [name for name, part in schema["properties"].items() if "const" in part]
        kept["required"] = list(dict.fromkeys([*constant, *schema.get("required", ())]))
    if "description" in schema:
        kept["description"] = " ".join(schema["description"].split())
    return kept


def json_schema() -> str:
    """Return the file `protocol.schema.json`."""
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "description": DESCRIPTION,
        "$defs": definitions(),
    }
    return json.dumps(document, indent=2) + "\n"


def typescript() -> str:
    """Return the file `protocol.ts`: a type for each shape, and the shapes that the widget checks at run time."""
    parts = ["// Made by `manage.py widget_protocol` from chat/protocol: change that, not this.\n"]
    for name, schema in definitions().items():
        comment = f"/** {schema['description']} */\n" if "description" in schema else ""
        parts.append(f"{comment}export type {name} = {_type(schema)};\n")
    checked = {name: _shape(definitions()[name]) for name in sorted(_reachable())}
    notation = json.dumps(checked, indent=2)
    comment = "/** What the server says, in the notation of net/shapes.ts. */"
    parts.append(f"{comment}\nexport const SHAPES = {notation} as const;\n")
    return "\n".join(parts)


def _name(schema: JsonSchemaValue) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def _alternatives(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    return schema.get("oneOf") or schema.get("anyOf") or []


def _type(schema: JsonSchemaValue, indent: str = "") -> str:
    """Return the TypeScript type of a schema."""
    if "$ref" in schema:
        return _name(schema)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if parts := _alternatives(schema):
        return " | ".join(_type(part, indent) for part in parts)
    match schema["type"]:
        case "integer":
            return "number"
        case "array":
            return f"Array<{_type(schema['items'], indent)}>"
        case "object":
            inner = f"{indent}  "
            lines = (
                f"{inner}{name}{'' if name in schema.get('required', ()) else '?'}: {_type(part, inner)};\n"
                for name, part in schema["properties"].items()
            )
            return f"{{\n{''.join(lines)}{indent}}}"
    return str(schema["type"])


def _shape(schema: JsonSchemaValue) -> Any:
    """Return the schema as net/shapes.ts reads it: short, because every visitor loads it."""
    if "$ref" in schema:
        return f"${_name(schema)}"
    if "const" in schema:
        return f"={schema['const']}"
    if "enum" in schema:
        # A number is checked as such: the notation knows words only.
        words = all(isinstance(value, str) for value in schema["enum"])
        return "|".join(f"={value}" for value in schema["enum"]) if words else "i"
    if parts := _alternatives(schema):
        return "|".join(_shape(part) for part in parts)
    if schema["type"] == "array":
        return [_shape(schema["items"])]
    if schema["type"] == "object":
        required = schema.get("required", ())
        return {name if name in required else f"{name}?": _shape(part) for name, part in schema["properties"].items()}
    return LETTERS[schema["type"]]


def _reachable() -> set[str]:
    """Return the names of the shapes that the widget reads."""
    found: set[str] = set()
    waiting = [
        "ServerEvent",
        "AssistantInfo",
        "Handover",
        "InPlainLanguage",
        "SessionReply",
        "ConversationSummary",
        "Problem",
    ]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(definitions()[name])
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield _name(schema)
        for part in schema.values():
            yield from _references(part)

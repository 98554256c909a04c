"""Markdown tables, and JSON Schema as such; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]


def cell(text: object) -> str:
    """On one line, and with what would end a cell or begin a tag made harmless."""
    flat = " ".join(str(text).split())
    return flat.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def prose(text: str) -> str:
    """Return a description without the list of its values, which the type says already."""
    return cell("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("* `")))


def code(text: object) -> str:
    return f"`{str(text).replace('|', chr(92) + '|')}`" if str(text) else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def anchor(name: str) -> str:
    """Return the address that MkDocs gives a heading of these words."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", name.lower()).strip())


def type_of(schema: Schema) -> str:
    """Return what a value may be, with links to the shapes of the same page."""
    if ref := schema.get("$ref"):
        name = str(ref).rsplit("/", 1)[-1]
        return f"[{name}](#{anchor(name)})"
    if "const" in schema:
        return code(repr(schema["const"]).replace("'", '"'))
    if "enum" in schema:
        return ", ".join(code(repr(value).replace("'", '"')) for value in schema["enum"])
    for key, word in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
        if key in schema:
            return word.join(dict.fromkeys(type_of(part) for part in schema[key]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(type_of({**schema, "type": each}) for each in kind)
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(values := schema.get("additionalProperties"), Mapping) and values:
        return f"object of {type_of(values)}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def limits_of(schema: Schema) -> str:
    """Return what narrows a value, in words."""
    words = {
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minimum": "at least {}",
        "maximum": "at most {}",
        "maxItems": "at most {} of them",
        "pattern": "matches `{}`",
    }
    said = [text.format(cell(schema[key])) for key, text in words.items() if key in schema]
    if schema.get("default") not in (None, "", [], {}):
        said.append(f"default `{cell(schema['default'])}`")
    return ", ".join(said)


def properties(schema: Schema) -> str:
    """Return a table of an object's properties; empty where it names none."""
    required = set(schema.get("required", ()))
    rows = []
    for name, part in schema.get("properties", {}).items():
        said = ". ".join(filter(None, [prose(part.get("description", "")).rstrip("."), limits_of(part)]))
        rows.append([code(name), type_of(part), "yes" if name in required else "", said])
    return table(["property", "what it is", "required", "meaning"], rows) if rows else ""


def shape(name: str, schema: Schema, *, level: int = 3) -> str:
    """Return a named shape with its heading."""
    parts = [f"{'#' * level} {name}\n"]
    if said := schema.get("description"):
        parts.append(f"{prose(said)}\n")
    if schema.get("properties"):
        parts.append(properties(schema))
    else:
        parts.append(f"{type_of(schema)}\n")
    return "\n".join(parts)

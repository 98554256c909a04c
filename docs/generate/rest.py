"""The pages of the two REST APIs, from the OpenAPI documents that the server itself gives out."""

import json
from collections.abc import Mapping
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

from chat.api import api
from docs.generate.tables import Schema, cell, code, limits_of, properties, prose, shape, table, type_of

PUBLIC = """# Public API

What the widget does, over HTTP, for programs of your own. It lies below `/api/v1/`; the server gives its OpenAPI
document at `/api/v1/openapi.json`. This page is made from it.

A session begins with `POST /api/v1/session`, which you may call only after the visitor agreed. Its token goes along
as `Authorization: Bearer TOKEN`. It is valid for an hour; an old one is exchanged for a new one for as long as the
visitor's conversations are kept. From a browser only the origins that the site allows are served.

```console
$ curl -s https://chat.uni.example/api/v1/session -H 'Content-Type: application/json' \\
    -d '{"consent": true, "language": "en"}'
```

Errors are problems as RFC 9457 has them: `detail` is a sentence that may be shown to the student, and `code` is for
programs. At 429 and 503 the header `Retry-After` says when to come back.
"""
STAFF = """# Staff API

What staff do in the admin, for their programs. It lies below `/api/staff/v1/`; the server gives its OpenAPI document
at `/api/staff/v1/schema/` to staff. This page is made from it.

Make a token in the admin under “API tokens”. It is shown once. A program may do what the member of staff may do at
that moment, and sees the rows of their teams.

```console
$ curl -s https://chat.uni.example/api/staff/v1/faqs/ -H 'Authorization: Bearer marcel_…'
```

- **Lists** come in pages; `next` is the address of the following one. A filter that does not exist is refused.
- **Changes** name the `version` that they were made from. Where somebody else was faster the reply is 409, with the
  row as it is now and the fields in question.
- **Limits** are `STAFF_API_PER_MINUTE` a member of staff, and `STAFF_API_PER_MINUTE_AND_ADDRESS` an address that does
  not say who it is ([settings](settings.md)).
- Everything that is written here goes through the same services as in the admin: versions, indexing and the audit
  log come by themselves.
"""
METHODS = ("get", "post", "put", "patch", "delete")


def public_page() -> str:
    return _page(PUBLIC, json.loads(json.dumps(api.get_openapi_schema(), default=str)))


def staff_page() -> str:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return _page(STAFF, json.loads(OpenApiJsonRenderer().render(document)))


def _page(introduction: str, document: Mapping[str, Any]) -> str:
    parts = [introduction, "## Operations\n"]
    for path, operations in document["paths"].items():
        shared = operations.get("parameters", [])
        parts += [_operation(method, path, operations[method], shared) for method in METHODS if method in operations]
    parts.append("## Shapes\n")
    parts += [shape(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    return "\n".join(parts)


def _operation(method: str, path: str, operation: Schema, shared: list[Schema]) -> str:
    parts = [f"### {method.upper()} {path}\n", f"**{cell(operation.get('summary', ''))}**\n"]
    if said := operation.get("description"):
        parts.append(f"{cell(said)}\n")
    if rows := [_parameter(each) for each in [*shared, *operation.get("parameters", [])]]:
        parts.append(table(["parameter", "in", "what it is", "needed", "meaning"], rows))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body ({code(media)}): {type_of(body['schema'])}\n")
        parts.append(properties(body["schema"]))
        for example in body.get("examples", {}).values():
            written = json.dumps(example.get("value"), ensure_ascii=False, indent=2)
            parts.append(f"```json\n{written}\n```\n")
    replies = operation["responses"]
    parts.append(table(["status", "reply"], [[each, _reply(replies[each])] for each in replies if int(each) < 400]))
    if refusals := [f"{each}" for each in replies if int(each) >= 400]:
        parts.append(f"Refused with a [problem](#problem): {', '.join(refusals)}.\n")
    return "\n".join(parts)


def _parameter(parameter: Schema) -> list[str]:
    schema = parameter.get("schema", {})
    said = ". ".join(filter(None, [prose(parameter.get("description", "")).rstrip("."), limits_of(schema)]))
    needed = "yes" if parameter.get("required") else ""
    return [code(parameter["name"]), parameter["in"], type_of(schema), needed, said]


def _reply(reply: Schema) -> str:
    said = cell(reply.get("description", ""))
    kinds = [f"{type_of(body.get('schema', {}))} as {code(media)}" for media, body in reply.get("content", {}).items()]
    return ": ".join(filter(None, [said, ", ".join(kinds)])) or "nothing"

"""The OpenAPI document, where the framework's own says less than is so."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 says; `code` is for programs, `detail` a sentence for people.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "Which fields are wrong, and why.",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "retry_after": {"type": "integer", "description": "Seconds."},
        "changed": {
            "type": "array",
            "items": {"type": "string"},
            "description": "After a conflict: the fields in which what was sent differs from what there is now.",
        },
        "current": {
            "type": "object",
            "additionalProperties": True,
            "description": "After a conflict: what there is now, as it is read.",
        },
    },
    "example": {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "This request is not as it should be.",
        "code": "invalid",
        "errors": [{"field": "size", "message": "Give a whole number from 1 to 200."}],
    },
}
SAID = {
    400: "Something in the request is wrong.",
    401: "No token, or one that is not valid any more.",
    403: "The member of staff may not do this.",
    404: "There is no such row, or none that their teams look after.",
    406: "Replies are JSON alone.",
    409: "Somebody else changed it meanwhile.",
    413: "The body is too large.",
    415: "The body is not called JSON.",
    429: "Too many requests in this minute.",
    503: "The database or the broker is away.",
}
ALWAYS = (400, 401, 403, 406, 429, 503)
RETRY_AFTER = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}}}


def add_problems(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add errors to every operation and forbid unknown fields in bodies; a hook of drf-spectacular."""
    result["components"]["schemas"]["Problem"] = PROBLEM
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema["additionalProperties"] = False
    result["components"]["responses"] = {f"Problem{status}": describe_problem(status) for status in SAID}
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            statuses = {*ALWAYS, *([404] if "{" in path else []), *([409] if method != "get" else [])}
            statuses |= {413, 415} if "requestBody" in operation else set()
            for status in sorted(statuses):
                operation["responses"][str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    return result


def describe_problem(status: int) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    reply: dict[str, Any] = {"description": SAID[status], "content": content}
    return {**reply, "headers": RETRY_AFTER} if status in {429, 503} else reply


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "marcelcms.accounts.api_tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "Made by its user under “API tokens” in the admin."}

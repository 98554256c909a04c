"""Pages of long lists by keyset: each begins behind the last row of the one before, however deep it is.

No row is counted, and a row that comes or goes meanwhile shifts no other onto a page twice or past it.
"""

from collections.abc import Sequence
from typing import Any

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

A_PAGE, MOST = 50, 200
SALT = "staff-api-cursor"
PARAMETERS = ("cursor", "size", "ordering")


class Keyset(BasePagination):
    """The view says by its `orderings` which orders there are, as name: fields without a null among them, and which
    one is meant by default (`default_ordering`); `-` before a name turns the order round. The key breaks ties."""

    def paginate_queryset(self, queryset: "QuerySet[Any]", request: Request, view: Any = None) -> list[Any]:
        """Raises ValidationError."""
        self.request = request
        ordering = _ordering_in(request, view)
        size = _size_in(request)
        descends = ordering.startswith("-")
        fields = [*view.orderings[ordering.removeprefix("-")], "pk"]
        if (cursor := request.query_params.get("cursor")) is not None:
            queryset = queryset.filter(_behind(_values_in(cursor, ordering, queryset.model, fields), descends))
        rows = list(queryset.order_by(*(f"-{name}" if descends else name for name in fields))[: size + 1])
        self.cursor = _cursor_at(rows[size - 1], ordering, fields) if len(rows) > size else None
        return rows[:size]

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self._address(), "results": data})

    def _address(self) -> str | None:
        if self.cursor is None:
            return None
        query = self.request.query_params.copy()
        query["cursor"] = self.cursor
        address: str = self.request.build_absolute_uri(f"{self.request.path}?{query.urlencode()}")
        return address

    # --- for the OpenAPI document ---

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {
                    "type": "string",
                    "format": "uri",
                    "nullable": True,
                    "description": "Where the next page is; null on the last one.",
                },
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        names = [name for ordering in view.orderings for name in (ordering, f"-{ordering}")]
        return [
            {
                "name": "size",
                "in": "query",
                "description": "How many a page.",
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST, "default": A_PAGE},
            },
            {
                "name": "ordering",
                "in": "query",
                "description": "By what; with - the largest or latest first.",
                "schema": {"type": "string", "enum": names, "default": view.default_ordering},
            },
            {
                "name": "cursor",
                "in": "query",
                "description": "Where the page begins, as `next` says.",
                "schema": {"type": "string"},
            },
        ]


def _ordering_in(request: Request, view: Any) -> str:
    ordering: str = request.query_params.get("ordering", view.default_ordering)
    if ordering.removeprefix("-") not in view.orderings:
        orders = ", ".join(view.orderings)
        raise ValidationError(
            {"ordering": _("Choose one of these, or with - before it: %(orders)s.") % {"orders": orders}}
        )
    return ordering


def _size_in(request: Request) -> int:
    text: str = request.query_params.get("size", str(A_PAGE))
    size = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else 0
    if not 1 <= size <= MOST:
        raise ValidationError({"size": _("Give a whole number from 1 to %(most)d.") % {"most": MOST}})
    return size


def _cursor_at(row: Model, ordering: str, fields: Sequence[str]) -> str:
    values = [_field(type(row), name).value_to_string(row) for name in fields]
    return signing.dumps([ordering, *values], salt=SALT)


def _values_in(cursor: str, ordering: str, model: type[Model], fields: Sequence[str]) -> dict[str, Any]:
    try:
        made_for, *texts = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        made_for = None
    if made_for != ordering:
        raise ValidationError({"cursor": _("This is no cursor of this list: begin again without one.")})
    return {name: _field(model, name).to_python(text) for name, text in zip(fields, texts, strict=True)}


def _field(model: type[Model], name: str) -> Any:
    return model._meta.pk if name == "pk" else model._meta.get_field(name)


def _behind(values: dict[str, Any], descends: bool) -> Q:
    """Rows that come after one with these values. The bound on the first field is what an index can use."""
    further = "lt" if descends else "gt"
    names = list(values)
    after = Q()
    for place, name in enumerate(names):
        same = {before: values[before] for before in names[:place]}
        after |= Q(**same, **{f"{name}__{further}": values[name]})
    return Q(**{f"{names[0]}__{further}e": values[names[0]]}) & after

"""Pages of the staff API's lists: REST framework's cursor pagination, with a cursor that names the last row.

REST framework's own cursor holds the first field of the order alone, and counts among equal values with an offset that
ends at 1,000: an import gives more rows than that the same time. It also replaces a wrong size by the default.
"""

from collections.abc import Sequence
from typing import Any

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

SALT = "staff-api-cursor"
PARAMETERS = ("cursor", "size", "ordering")


class KeysetPagination(CursorPagination):
    """Order and position by all fields of one of the view's `orderings`, and by the primary key for ties.

    `orderings` maps a name to fields without nulls; `-` before the name reverses the order. Without `ordering` in the
    request, the view's `default_ordering` holds.
    """

    page_size = 50
    max_page_size = 200
    page_size_query_param = "size"
    page_size_query_description = "How many a page."
    cursor_query_description = "Where the page begins, as `next` says."

    def paginate_queryset(self, queryset: "QuerySet[Any]", request: Request, view: Any = None) -> list[Any] | None:
        """Return a page of the rows behind the cursor. Raise ValidationError for a wrong parameter."""
        fields = self.get_ordering(request, queryset, view)
        try:
            cursor = super().decode_cursor(request)
        except NotFound as error:
            raise _wrong_cursor() from error
        if cursor is not None:
            queryset = queryset.filter(_rows_after(_load_position(cursor, queryset.model, fields)))
        page: list[Any] | None = super().paginate_queryset(queryset, request, view)
        return page

    def decode_cursor(self, request: Request) -> None:
        """Return no cursor: `paginate_queryset` has filtered the rows by all fields already."""

    def get_page_size(self, request: Request) -> int:
        text: str = request.query_params.get(self.page_size_query_param, str(self.page_size))
        size = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else 0
        if not 1 <= size <= self.max_page_size:
            most = {"most": self.max_page_size}
            raise ValidationError({"size": _("Give a whole number from 1 to %(most)d.") % most})
        return size

    def get_ordering(self, request: Request, queryset: "QuerySet[Any]", view: Any) -> tuple[str, ...]:
        ordering: str = request.query_params.get("ordering", view.default_ordering)
        name = ordering.removeprefix("-")
        if name not in view.orderings:
            orders = ", ".join(view.orderings)
            raise ValidationError(
                {"ordering": _("Choose one of these, or with - before it: %(orders)s.") % {"orders": orders}}
            )
        sign = "-" if ordering.startswith("-") else ""
        return tuple(f"{sign}{field}" for field in (*view.orderings[name], "pk"))

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})

    def _get_position_from_instance(self, instance: Model, ordering: Sequence[str]) -> str:
        values = [_field(type(instance), name).value_to_string(instance) for name in ordering]
        return signing.dumps([list(ordering), values], salt=SALT)

    # --- for the OpenAPI document ---

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        next_page = {
            "type": "string",
            "format": "uri",
            "nullable": True,
            "description": "Where the next page is; null on the last one.",
        }
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": next_page, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        cursor, size = super().get_schema_operation_parameters(view)
        size["schema"] |= {"minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
        ordering = {
            "name": "ordering",
            "required": False,
            "in": "query",
            "description": "By what; with - the largest or latest first.",
            "schema": {
                "type": "string",
                "enum": [name for ordering in view.orderings for name in (ordering, f"-{ordering}")],
                "default": view.default_ordering,
            },
        }
        return [size, ordering, cursor]


def _load_position(cursor: Cursor, model: type[Model], ordering: Sequence[str]) -> dict[str, Any]:
    """Return the last row's values by ordered field. Raise ValidationError unless the cursor is of this order."""
    try:
        fields, texts = signing.loads(cursor.position or "", salt=SALT)
    except signing.BadSignature:
        fields, texts = [], []
    if fields != list(ordering):
        raise _wrong_cursor()
    return {name: _field(model, name).to_python(text) for name, text in zip(ordering, texts, strict=True)}


def _wrong_cursor() -> ValidationError:
    return ValidationError({"cursor": _("This is no cursor of this list: begin again without one.")})


def _field(model: type[Model], name: str) -> Any:
    name = name.removeprefix("-")
    return model._meta.pk if name == "pk" else model._meta.get_field(name)


def _rows_after(position: dict[str, Any]) -> Q:
    """Return the filter for rows behind `position`. The bound on the first field is what an index can use."""
    after = Q()
    equal: dict[str, Any] = {}
    bounds = []
    for ordered, value in position.items():
        name, operator = ordered.removeprefix("-"), "lt" if ordered.startswith("-") else "gt"
        bounds.append({f"{name}__{operator}e": value})
        after |= Q(**equal, **{f"{name}__{operator}": value})
        equal[name] = value
    return Q(**bounds[0]) & after

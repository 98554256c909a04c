"""Many more rows like one that is there, written by the database itself."""

from typing import Any

from django.db import connection, models

#: Where the ids of copies begin, beyond those of all other rows, and how many copies a row may have.
BEYOND, MOST = 10_000_000, 100_000
#: A text of fewer characters is a code, and has to stay the one it is.
SHORTEST_TEXT = 30


def crowd(row: models.Model, *, first: int, last: int) -> None:
    """Make copies `first` to `last` of a row, each a minute older than the one before, with texts and ids of its own;
    what can belong to one row alone, such as the answer under a review, is copied with it. Copies that are there
    already, since they were made for another row, stay."""
    has_numbers = not isinstance(row._meta.pk, models.UUIDField)
    if has_numbers and type(row)._base_manager.filter(pk=_first_id(row) + first).exists():
        return
    columns = {field.column: _value(row, field, first, last) for field in row._meta.concrete_fields}
    names = ", ".join(connection.ops.quote_name(name) for name in columns)
    values = ", ".join(columns.values())
    table, key = (connection.ops.quote_name(name) for name in (row._meta.db_table, row._meta.pk.column))
    numbers = "generate_series(%s, %s) AS nth"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table}, {numbers} WHERE {key} = %s",
            [first, last, row.pk],
        )
        cursor.execute(f"ANALYZE {table}")


def _value(row: models.Model, field: Any, first: int, last: int) -> str:
    column = connection.ops.quote_name(field.column)
    if isinstance(field, models.OneToOneField) and getattr(row, field.name) is not None:
        owner = getattr(row, field.name)
        crowd(owner, first=first, last=last)
        return _id_of_copy(owner)
    if field.primary_key:
        return "gen_random_uuid()" if isinstance(field, models.UUIDField) else _id_of_copy(row)
    if isinstance(field, models.UUIDField):
        return f"CASE WHEN {column} IS NULL THEN NULL ELSE gen_random_uuid() END"
    if isinstance(field, models.DateTimeField):
        return f"{column} - nth * interval '1 minute'"
    if isinstance(field, models.PositiveIntegerField) and _is_place(field):
        return f"{column} + nth"
    if isinstance(field, models.DecimalField) and _is_part_of_key(field):
        return f"{column} + nth / 10000.0"
    if isinstance(field, models.CharField | models.TextField) and not field.choices:
        longest = field.max_length or 1_000_000
        if longest >= SHORTEST_TEXT:
            return f"CASE {column} WHEN '' THEN '' ELSE left({column}, {longest - 10}) || ' ' || nth END"
    return column


def _id_of_copy(row: models.Model) -> str:
    return f"{_first_id(row)} + nth"


def _first_id(row: models.Model) -> int:
    return BEYOND + int(row.pk) * (MOST + 1)


def _is_place(field: Any) -> bool:
    """Return whether the number tells the rows of one owner apart."""
    constraints = field.model._meta.constraints
    return any(field.name in each.fields for each in constraints if isinstance(each, models.UniqueConstraint))


def _is_part_of_key(field: Any) -> bool:
    return any(field.name in names for names in field.model._meta.unique_together)

"""Builds INSERT statements of a model's rows that give every column its field's default."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import NOT_PROVIDED, AutoField, Field, Model
from psycopg.sql import Literal


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT of one model's rows. `made` are its parameters that each execution makes anew."""

    sql: str
    made: Mapping[str, Callable[[], Any]]


def insert(row: str, model: type[Model], source: str = "", **given: str) -> Insert:
    """Return the INSERT with what is `given` for its columns; every other column gets its field's default.

    The values are SQL expressions over `source`. The parameter `now` is the time of the fields that Django sets by
    itself, and `row` tells several rows of one statement apart. Raises TypeError if a column has no value: when this
    module is imported, and not when a student asks.
    """
    columns, made = dict(given), {}
    for field in model._meta.concrete_fields:
        column = field.column
        is_databases = isinstance(field, AutoField) or field.generated or field.db_default is not NOT_PROVIDED
        if column is None or column in given or is_databases:
            continue
        if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
            columns[column] = "%(now)s"
        elif callable(field.default) and not isinstance(field.default, type):  # `list` is the same for every row
            columns[column], made[f"{row}.{column}"] = f"%({row}.{column})s", partial(_database_default, field)
        elif field.get_default() is not None:
            columns[column] = Literal(_database_default(field)).as_string().replace("%", "%%")
        elif not field.null:
            raise TypeError(f"{model.__name__}.{field.name} has no default: give it a value")
    names, values = ", ".join(columns), ", ".join(columns.values())
    return Insert(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {values} {source}", made)


def _database_default(field: "Field[Any, Any]") -> Any:
    """Return the default as psycopg writes it."""
    value = field.get_db_prep_save(field.get_default(), connection)
    return value.value if isinstance(value, Enum) else value

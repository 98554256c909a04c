"""The OpenAPI document of the staff API: for staff only, and kept beside the tests so that every change of it is seen.

`manage.py spectacular --file tests/staff/openapi.yaml` writes it anew.
"""

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from drf_spectacular.validation import validate_schema

from marcelcms.rest.urls import router
from tests.factories import UserFactory
from tests.staff.api import Program

SNAPSHOT = Path(__file__).with_name("openapi.yaml")
DOCUMENT = "/schema/"


@pytest.fixture
def document(db: None) -> dict[str, Any]:
    return fetch_document()


@functools.cache
def fetch_document() -> dict[str, Any]:
    """Return the document, which takes seconds to make, from the first test that asks."""
    cache.clear()
    reply = Program(UserFactory(), accept="application/vnd.oai.openapi").get(DOCUMENT)
    assert reply.status_code == 200
    parsed: dict[str, Any] = read_yaml(reply.content)
    return parsed


def read_yaml(text: str | bytes) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def test_the_document_is_what_the_snapshot_says(document: dict[str, Any]) -> None:
    assert document == read_yaml(SNAPSHOT.read_text()), "run manage.py spectacular --file tests/staff/openapi.yaml"


def test_the_document_is_openapi(document: dict[str, Any]) -> None:
    validate_schema(document)


def test_every_operation_says_what_it_does_who_may_and_how_it_fails(document: dict[str, Any]) -> None:
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["security"] == [{"token": []}, {"cookieAuth": []}]
            assert {"400", "401", "403", "429"} <= set(operation["responses"])


def test_every_body_has_an_example(document: dict[str, Any]) -> None:
    bodies = {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    }
    assert {name for name, body in bodies.items() if not body.get("examples")} == set()


def test_what_it_says_is_for_who_calls_it(document: dict[str, Any]) -> None:
    """No docstring of a class that many share, and no name of ours that nobody can send or get."""
    frame = {inspect.cleandoc(base.__doc__ or "") for view in views() for base in view.__mro__[1:]} - {""}
    known = set(names_in(document)) | {"nobody", "none", "-"}
    for text in descriptions_in(document):
        assert text not in frame
        assert set(re.findall(r"`([^`\n]+)`", text)) <= known, text


def test_no_body_takes_other_fields_than_it_names(document: dict[str, Any]) -> None:
    bodies = {name: schema for name, schema in document["components"]["schemas"].items() if name.endswith("Request")}
    assert bodies
    assert [name for name, schema in bodies.items() if schema.get("additionalProperties") is not False] == []


def views() -> set[type]:
    return {viewset for _prefix, viewset, _basename in router.registry}


def descriptions_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(said := part.get("description"), str):
            yield said
        for each in part.values():
            yield from descriptions_in(each)
    elif isinstance(part, list):
        for each in part:
            yield from descriptions_in(each)


def names_in(part: Any) -> Iterator[str]:
    """Return all keys and single words: fields, parameters, and the values to choose from."""
    if isinstance(part, dict):
        for name, each in part.items():
            yield str(name)
            yield from names_in(each)
    elif isinstance(part, list):
        for each in part:
            yield from names_in(each)
    elif isinstance(part, str) and " " not in part:
        yield part


@pytest.mark.django_db
def test_the_document_is_for_staff_alone() -> None:
    cache.clear()
    assert Program().get(DOCUMENT).status_code == 401
    assert Program(UserFactory(is_staff=False)).get(DOCUMENT).status_code == 403

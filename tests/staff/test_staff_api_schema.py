"""The OpenAPI document of the staff API: for staff only, and kept beside the tests so that every change of it is seen.

`manage.py spectacular --file tests/staff/openapi.yaml` writes it anew.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from drf_spectacular.validation import validate_schema

from tests.factories import UserFactory
from tests.staff.api import Program

SNAPSHOT = Path(__file__).with_name("openapi.yaml")
DOCUMENT = "/schema/"


@pytest.fixture
def document(db: None) -> dict[str, Any]:
    cache.clear()
    reply = Program(UserFactory(), accept="application/vnd.oai.openapi").get(DOCUMENT)
    assert reply.status_code == 200
    parsed: dict[str, Any] = yaml.safe_load(reply.content)
    return parsed


def test_the_document_is_what_the_snapshot_says(document: dict[str, Any]) -> None:
    assert document == yaml.safe_load(SNAPSHOT.read_text()), "run manage.py spectacular --file tests/staff/openapi.yaml"


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


@pytest.mark.django_db
def test_the_document_is_for_staff_alone() -> None:
    cache.clear()
    assert Program().get(DOCUMENT).status_code == 401
    assert Program(UserFactory(is_staff=False)).get(DOCUMENT).status_code == 403

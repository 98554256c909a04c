"""The staff API against its own documentation: schemathesis makes requests, good and bad ones, of all operations."""

import warnings
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.cache import cache
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.factories import UserFactory
from tests.servers import Server
from tests.staff.api import Rows, make_token, read_version, rows_of_team

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SNAPSHOT = Path(__file__).with_name("openapi.yaml")
EXAMPLES = 6


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_request_breaks_the_api_or_its_documentation(
    server: Server, settings: Settings, mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    monkeypatch.setattr("core.tasks.Task.delay_on_commit", lambda *_: None)
    settings.STAFF_API_PER_MINUTE = settings.STAFF_API_PER_MINUTE_AND_ADDRESS = 1_000_000
    token = make_token(UserFactory(is_superuser=True))
    headers = {"Authorization": f"Bearer {token}"}
    schema = schemathesis.openapi.from_path(SNAPSHOT)
    schema.config.update(base_url=server.origin)
    schema.config.generation.update(modes=[mode])
    statuses: set[int] = set()
    for number, operation in enumerate(found.ok() for found in schema.get_all_operations()):
        fuzz(operation, mode, statuses, rows_of_team(f"Team {number}"), headers)
    assert {200, 201, 204} <= statuses if mode == GenerationMode.POSITIVE else {400, 404} <= statuses


FRAMING = frozenset({"content-length", "transfer-encoding"})


def fuzz(operation: Any, mode: GenerationMode, statuses: set[int], rows: Rows, headers: dict[str, str]) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @hypothesis_settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def requests(case: Any) -> None:
        if mode == GenerationMode.POSITIVE:
            to_rows_that_there_are(case, operation, rows)
        # The web server itself refuses these where they are nonsense; the API never sees them.
        for name in [name for name in case.headers or () if name.lower() in FRAMING]:
            del case.headers[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # What a schema cannot say is whether a row, a version or a cursor is one that there is.
            response = case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])
        statuses.add(response.status_code)

    requests()


def to_rows_that_there_are(case: Any, operation: Any, rows: Rows) -> None:
    basename = operation.path.split("/v1/")[1].split("/")[0]
    if case.path_parameters and "id" in case.path_parameters:
        key = rows.key(basename)
        case.path_parameters["id"] = key if isinstance(key, int) else str(key)
    if isinstance(case.body, dict):
        for name, value in {
            "collection": rows.collection.slug,
            "category": None,
            "translation_of": None,
            "sources": [{"document": rows.document.pk}],
            "documents": [rows.document.pk],
            "evaluation_set": rows.evaluation_set.pk,
            "profiles": ["default"],
            "report": rows.report.pk,
            "url": "https://www.uni.example/fuzzed",
            "audience": [],
            "to": None,
        }.items():
            if name in case.body:
                case.body[name] = value
        if "version" in case.body and operation.method != "delete":
            row = {"documents": rows.document, "faqs": rows.faq, "reviews": rows.review}[basename]
            case.body["version"] = read_version(row)
    if case.query:
        case.query.pop("cursor", None)

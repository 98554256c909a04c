"""The public API against its own documentation: schemathesis makes requests, good and bad ones, of all operations."""

import warnings
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pages"), pytest.mark.timeout(300)]

EXAMPLES = 15
#: What a schema cannot say: that a text holds a word, that an office takes questions, that there is a language model.
UNSAID = {
    ("post", "/api/v1/conversations/{conversation}/ask"),
    ("patch", "/api/v1/conversations/{conversation}"),
    ("post", "/api/v1/conversations/{conversation}/cases"),
    ("post", "/api/v1/messages/{message}/plain"),
}


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_request_breaks_the_api_or_its_documentation(
    server: Server, settings: Settings, mode: GenerationMode
) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.SESSIONS_PER_MINUTE_AND_ADDRESS = 100_000
    settings.QUESTIONS_PER_MINUTE_AND_ADDRESS = settings.QUESTIONS_PER_MINUTE_AND_SITE = 100_000
    schema = schemathesis.openapi.from_url(f"{server.origin}/api/v1/openapi.json")
    schema.config.generation.update(modes=[mode])
    statuses: set[int] = set()
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 24
    for operation in operations:
        fuzz(server, operation, mode, statuses)
    assert {200, 204, 404} <= statuses if mode == GenerationMode.POSITIVE else {404, 422} <= statuses


def fuzz(server: Server, operation: Any, mode: GenerationMode, statuses: set[int]) -> None:
    where = operation.method, operation.path
    client = Client.begin(server)
    own = client.ask(QUESTION)

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
        nonlocal client, own
        if where == ("delete", "/api/v1/my-data"):
            client = Client.begin(server)
        if operation.method != "delete" and not operation.path.endswith("/events") and mode == GenerationMode.POSITIVE:
            # Of the visitor's own things; a stream of events would not end.
            for name, value in (("conversation", own.conversation), ("message", own.message)):
                if name in (case.path_parameters or {}):
                    case.path_parameters[name] = value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            response = case.call_and_validate(
                headers={"Authorization": f"Bearer {client.token}"},
                excluded_checks=[positive_data_acceptance] if where in UNSAID else [],
            )
        statuses.add(response.status_code)

    requests()

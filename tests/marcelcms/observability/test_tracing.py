"""Where a collector is set, a question's way is one trace, without anybody's words; else nothing is recorded."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from pytest_django import Settings

from chat.models import Message
from marcelcms.observability.tracing import send_traces
from tests.conftest import QUESTION
from tests.fakes.collector import Collector
from tests.fakes.llm import FakeLLM
from tests.runtime.processes import ROOT
from tests.servers import server_process, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pages"), pytest.mark.slow]
SAID = "It is 318.40 euros [1]."


@pytest.fixture
def collector() -> Iterator[Collector]:
    started = Collector()
    yield started
    started.close()


def of(span: Span) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "") for each in span.attributes}


def test_a_questions_way_is_one_trace_without_anybodys_words(collector: Collector, llm: FakeLLM) -> None:
    llm.says(SAID)
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with server_process(LLM_BASE_URL=llm.base_url, LLM_MODEL="fake", **where) as server, server.connect() as tab:
        answer = tab.answer(QUESTION)
        wait_until(lambda: any(span.name == "question" for span in collector.spans))
    assert answer.end["status"] == "complete"
    spans = collector.spans
    names = {span.span_id: span.name for span in spans}
    parents = {span.name: names.get(span.parent_span_id) for span in spans}
    assert len({span.trace_id for span in spans}) == 1
    assert parents["question"] is None
    for name in ("understand", "retrieve", "language model", "check a sentence", "save"):
        assert parents[name] == "question", name
    for name in ("words", "embed", "lexical", "dense", "faq"):
        assert parents[name] == "retrieve", name
    (root,) = (span for span in spans if span.name == "question")
    reply = Message.objects.get(role="assistant")
    assert of(root).items() >= {"message": reply.pk, "status": "complete", "strategy": "generated"}.items()
    assert len(str(of(root)["request_id"])) >= 8
    sent = b"".join(collector.bodies).lower()
    words = {*QUESTION.lower().split(), "318.40", "euros"} - {"is", "the", "a"}
    assert [word for word in words if word.encode() in sent] == []


def test_a_model_that_fails_is_seen_by_its_errors_code_alone(collector: Collector, llm: FakeLLM) -> None:
    llm.fails(500)
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with server_process(LLM_BASE_URL=llm.base_url, LLM_MODEL="fake", **where) as server, server.connect() as tab:
        tab.answer(QUESTION)
        wait_until(lambda: any(span.name == "question" for span in collector.spans))
    failed = [span for span in collector.spans if span.status.code == Status.STATUS_CODE_ERROR]
    assert {(span.name, span.status.message) for span in failed} == {("language model", "status_500")}
    assert not any(span.events for span in collector.spans)


def test_a_collector_that_is_away_costs_no_answer() -> None:
    with server_process(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9") as server, server.connect() as tab:
        assert tab.answer(QUESTION).end["status"] == "complete"


def test_without_an_address_nothing_is_loaded() -> None:
    code = "import sys; import marcelcms.asgi; print('opentelemetry.sdk.trace' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_address_without_the_libraries_is_refused_with_what_to_do(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector.example:4318"
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ImproperlyConfigured, match="install the extra `tracing`"):
        send_traces()

"""Traces of questions, sent to a collector of OpenTelemetry where an address is set.

Its library reads the other OTEL_* variables itself: headers, sampling, the service's name. What it logs of a collector
that is away names addresses only.
"""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.telemetry import tracing

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def send_traces() -> None:
    """Begin to send; nothing where no address is set. Raises ImproperlyConfigured if the libraries are not there."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured(f"{ENDPOINT} is set: install the extra `tracing`, or unset it.") from error
    resource = Resource.create({"service.name": settings.OTEL_SERVICE_NAME})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracing.record_with(provider.get_tracer("marcelcms"))

"""Where OpenTelemetry's records go: to the collector that is configured, where the extra `otel` is installed."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from bio_mcp import __version__

TIMEOUT_S = 3  # of all tries to send, and so of each of the two last sendings before the process ends

log = logging.getLogger(__name__)


@contextmanager
def exporting(endpoint: str) -> Iterator[None]:
    """Send spans and metrics of this process to the collector at `endpoint` (OTLP over HTTP) until the block ends.

    Nothing is sent without an endpoint, nor without the extra, as others may have set the variable for all programs.
    Headers, attributes and the name of the service may be set by OpenTelemetry's own variables.
    """
    end = _started(endpoint.rstrip("/")) if endpoint else _nothing
    try:
        yield
    finally:
        end()


def _nothing() -> None:
    """There is nothing to end."""


def _started(base: str) -> Callable[[], None]:
    """Start to send; returns how to end it, which sends what is left."""
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed: nothing is sent")
        return _nothing
    from opentelemetry import metrics, trace

    us = Resource({"service.name": "bio-mcp", "service.version": __version__}).merge(OTELResourceDetector().detect())
    tracers = TracerProvider(resource=us)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces", timeout=TIMEOUT_S)))
    measured = OTLPMetricExporter(f"{base}/v1/metrics", timeout=TIMEOUT_S)
    meters = MeterProvider([PeriodicExportingMetricReader(measured)], us)
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(meters)
    ending = ExitStack()
    ending.callback(meters.shutdown)
    ending.callback(tracers.shutdown)
    return ending.close

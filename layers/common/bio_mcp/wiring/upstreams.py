"""Whether the services outside that this installation is configured to use answer, asked past every cache."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bio_mcp.deadline import Deadline, bounded_by
from bio_mcp.errors import Misconfigured, UpstreamFailed
from bio_mcp.health import FAIL, OK, Finding, examine
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.ports.language_models import LanguageModel
    from bio_mcp.ports.ncbi import NcbiLookup
    from bio_mcp.ports.reranking import Reranker

WAIT_S = 9.0  # for each service, all tries together
ARTICLE = "PMC3531190"
PASSAGE = "Aspirin lowers fever."


def upstreams(
    settings: Settings,
    lookup: "Callable[[], NcbiLookup]",
    model: "Callable[[], LanguageModel | None]",
    reranker: "Callable[[], Reranker | None]",
    services: Callable[[], Mapping[str, Callable[[], Finding]]],
) -> list[Finding]:
    """Ask each of them once. `lookup`, `model` and `reranker` make what asks NCBI's other services and the models,
    `services` gives what asks each of `BIO_MCP_SOURCES`."""
    asked: dict[str, Callable[[], Finding]] = {"NCBI's ID converter": lambda: _converter(lookup())}
    try:
        asked |= services()
    except Misconfigured as failure:
        found = Finding(FAIL, str(failure))
        asked["literature services"] = lambda: found
    if settings.llm != "none":
        asked["language model"] = lambda: _language_model(model())
    if settings.reranker != "none":
        asked["reranker"] = lambda: _reranker(reranker())
    if settings.auth_jwks_url:
        asked["issuer's keys"] = lambda: _issuer(settings.auth_jwks_url)
    if settings.otlp_endpoint:
        asked["OpenTelemetry collector"] = lambda: _collector(settings.otlp_endpoint)
    return [_within_time(name, check) for name, check in asked.items()]


def _within_time(name: str, check: Callable[[], Finding]) -> Finding:
    with bounded_by(Deadline(WAIT_S)):
        return examine(name, check)


def _converter(lookup: "NcbiLookup") -> Finding:
    found = lookup.convert([ARTICLE], "pmcid", deadline=Deadline(WAIT_S))
    return Finding(OK, f"answers; it knows {len(found)} of 1 article")


def _language_model(model: "LanguageModel | None") -> Finding:
    if model is None:
        return Finding(OK, "none")
    written = model.generate("Does aspirin lower fever?", [PASSAGE], Deadline(WAIT_S))
    return Finding(OK, f"{model.fingerprint} answers with {len(written.text)} characters")


def _reranker(model: "Reranker | None") -> Finding:
    if model is None:
        return Finding(OK, "none")
    [score] = model.scores("Does aspirin lower fever?", [PASSAGE], Deadline(WAIT_S))
    return Finding(OK, f"{model.fingerprint} answers with a score of {score:.3g}")


def _issuer(url: str) -> Finding:
    from bio_mcp.adapters.jwks import fetch

    return Finding(OK, f"published, {len(fetch(url)):,} bytes")


def _collector(endpoint: str) -> Finding:
    from bio_mcp.adapters.http import answers

    if not answers(endpoint, WAIT_S):
        raise UpstreamFailed("nothing answers at OTEL_EXPORTER_OTLP_ENDPOINT; start the collector or unset it")
    return Finding(OK, "answers")

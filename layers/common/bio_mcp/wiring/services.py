"""Services on the network (NCBI, scholarly services, Zotero, files, models), and the rows that all modes have."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, Misconfigured, UpstreamFailed
from bio_mcp.health import FAIL, OK, WARN, Finding, examine
from bio_mcp.lazy import Lazy
from bio_mcp.ports.state import Budgets
from bio_mcp.scope import UNITS, Limits, bounded_by
from bio_mcp.settings import Settings
from bio_mcp.wiring.mode import Mode, Table, load, load_from_aws, secret_of
from bio_mcp.wiring.models import (
    EMBEDDINGS,
    LANGUAGE_MODELS,
    RERANKERS,
    InstalledModels,
    metered,
    searched_index,
    searched_model,
    worker_processes,
)

if TYPE_CHECKING:
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.entrez.transport import HttpTransport
    from bio_mcp.ports.ncbi import NcbiLookup, RateLimiter
    from bio_mcp.ports.sources import Sources
    from bio_mcp.ports.zotero import ZoteroLibrary

WAIT_S = 9.0  # for a service that the doctor asks


def _entrez(own: Mode) -> "Eutils":
    from bio_mcp.adapters.entrez.transport import HttpTransport

    pacer = metered("bio_mcp.adapters.metered:MeteredTurns", own.rate_limiter)
    return _eutils(own, pacer, HttpTransport, own.settings.ncbi_base_url, key=own.ncbi_key)


def _lookup(own: Mode) -> "NcbiLookup":
    """Over the rate limiter of the E-utilities."""
    from bio_mcp.adapters.entrez.client import ConverterTransport, EntrezLookup

    asked: Any = own.entrez  # the client itself, whose pace this shares
    return EntrezLookup(asked, _eutils(own, asked.pacer, ConverterTransport, own.settings.converter_url))


def _eutils(own: Mode, pacer: "RateLimiter", transport: "type[HttpTransport]", url: str, **more: Any) -> "Eutils":
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.retry import Backoff
    from bio_mcp.literature.medline import parse

    to = own.settings
    wire = own.closing(transport(url, identity={"tool": to.ncbi_tool, "email": to.ncbi_admin_email}, **more))
    return Eutils(wire, pacer=pacer, parse=parse, backoff=Backoff(tries=to.ncbi_max_retries + 1))


def _cached(own: Mode, cached: str, asked: Any, source: str, **more: Any) -> Any:
    """A service behind the cache, by a class of `caching`; the service itself where nothing is to be stored."""
    if own.settings.cache == "off":
        return asked
    from bio_mcp.adapters.caching import Lifetimes

    to = own.settings
    lifetimes = Lifetimes(to.cache_records_s, to.cache_searches_s, to.cache_links_s, to.cache_info_s)
    return load(cached)(asked, own.cache, lifetimes, source, **more)


NONE = "none"
PAPER, DOI = "27599104", "10.1371/journal.pbio.1002541"  # the paper about iCite's figures


@dataclass(frozen=True, slots=True)
class Scholarly:
    """A scholarly service. `url` is the setting of its address, `client` its adapter with what that takes, `cached` the
    class that stores its answers.

    `gap_s` stands between two requests; `mailed_gap_s` where they carry an e-mail, in the parameter `email`. `known`
    asks for one paper.
    """

    name: str
    url: str
    client: tuple[str, ...]
    cached: str
    gap_s: float
    known: Callable[[Any, Deadline], int]
    email: str = ""
    mailed_gap_s: float = 0.0


SERVICES = {
    "icite": Scholarly(  # states no limit; two requests a second are few
        "NIH iCite",
        "icite_url",
        ("bio_mcp.adapters.scholarly:Icite",),
        "bio_mcp.adapters.caching:CachedMetrics",
        0.5,
        lambda service, deadline: len(service.of([PAPER], deadline=deadline)),
    ),
    "crossref": Scholarly(  # allows one list a second, and three with an e-mail
        "Crossref",
        "crossref_url",
        ("bio_mcp.adapters.scholarly:Crossref", DOI),
        "bio_mcp.adapters.caching:CachedNotices",
        1.1,
        lambda service, deadline: len(service.of([DOI], deadline=deadline)),
        "mailto",
        0.37,
    ),
    "europepmc": Scholarly(  # states no limit; five requests a second are few
        "Europe PMC",
        "europe_pmc_url",
        ("bio_mcp.adapters.scholarly:EuropePmcClient",),
        "bio_mcp.adapters.caching:CachedEuropePmc",
        0.2,
        lambda service, deadline: len(service.articles([PAPER], deadline=deadline)),
    ),
    "unpaywall": Scholarly(  # asks for an e-mail, and for at most 100,000 requests a day, which is one in 0.9 s
        "Unpaywall",
        "unpaywall_url",
        ("bio_mcp.adapters.scholarly:Unpaywall",),
        "bio_mcp.adapters.caching:CachedOpenAccess",
        0.9,
        lambda service, deadline: bool(service.copies(DOI, deadline=deadline).copies),
        "email",
        0.9,
    ),
}


def _scholarly(own: Mode, name: str, *, stored: bool = True) -> Any:
    """The port to a service; `stored`: behind the cache. Raises `Misconfigured` for one that may not be asked."""
    from bio_mcp.adapters.scholarly import RestApi, ServiceTurns

    service, to = SERVICES[name], own.settings
    if name not in _chosen(to):
        raise Misconfigured(f"{service.name} is not asked here; BIO_MCP_SOURCES names the services that may be")
    if name == "unpaywall" and not to.sources_email:
        raise Misconfigured("Unpaywall is asked with an e-mail alone; set BIO_MCP_SOURCES_EMAIL")
    url, mailed = getattr(to, service.url), bool(service.email and to.sources_email)
    turns = own.turns(name, service.mailed_gap_s if mailed else service.gap_s)
    api = RestApi(
        service.name,
        url,
        f"BIO_MCP_{service.url.upper()}",
        pacer=ServiceTurns(service.name, turns),
        user_agent=to.ncbi_tool,
        always={service.email: to.sources_email} if mailed else {},
    )
    client, *more = service.client
    made = load(client)(own.closing(api), *more)
    return _cached(own, service.cached, made, url) if stored else made


def _chosen(settings: Settings) -> tuple[str, ...]:
    """The services that may be asked. Raises `Misconfigured` for an unknown name."""
    named = settings.literature_sources
    if named == (NONE,):
        return ()
    if unknown := [each for each in named if each not in SERVICES]:
        raise Misconfigured(f"BIO_MCP_SOURCES names {unknown[0]!r}; it takes none, or some of {', '.join(SERVICES)}")
    return named


def scholarly_checks(own: Mode) -> dict[str, Callable[[], Finding]]:
    """By name, what asks each service that may be asked once, past the cache."""

    def knows(name: str) -> Finding:
        found = SERVICES[name].known(_scholarly(own, name, stored=False), Deadline(WAIT_S))
        return Finding(OK, f"answers; it knows {found} of 1 paper")

    unasked = () if own.settings.sources_email else ("unpaywall",)
    return {SERVICES[each].name: partial(knows, each) for each in _chosen(own.settings) if each not in unasked}


def _sources(own: Mode) -> "Sources":
    """Files of this machine, unless it is one of Lambda's, objects of S3 and documents on the web."""
    from bio_mcp.adapters.sources import FILES, Folders, GuardedSources, WebFiles

    to = own.settings
    places: dict[str, Callable[[], Sources]] = {
        "https": Lazy(lambda: WebFiles(to.ingest_hosts)),
        "s3": Lazy(partial(_s3_files, own)),
    }
    if not to.initialization:
        places[FILES] = Lazy(lambda: Folders(to.ingest_roots))
    return GuardedSources(places)


def _s3_files(own: Mode) -> "Sources":
    client = load_from_aws("bio_mcp.adapters.aws.clients:Clients", "reading from S3")().make("s3")
    files: Sources = load("bio_mcp.adapters.aws.blobs:S3Files")(own.closing(client), own.settings.ingest_buckets)
    return files


ZOTERO_ORG = "https://api.zotero.org"
USUAL_DATA_DIR = "~/Zotero"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def zotero(own: Mode) -> "ZoteroLibrary":
    """The library, by its web API, or by a Zotero that runs here. Raises `Misconfigured` that names what is missing."""
    to = own.settings
    if not (to.zotero_api_url or to.zotero_library_id):
        raise Misconfigured(
            "no library of Zotero is named; set ZOTERO_LIBRARY_ID and ZOTERO_API_KEY (zotero.org), or ZOTERO_API_URL "
            "(a Zotero that runs here: http://127.0.0.1:23119/api)"
        )
    from bio_mcp.adapters.sources import Folders
    from bio_mcp.adapters.zotero import LocalLibrary, Transport, WebLibrary

    parts = urlsplit(to.zotero_api_url)  # of a Zotero that runs here, or of a server of one's own
    runs_here = parts.hostname in LOOPBACK and parts.path.rstrip("/").endswith("/api")
    if not runs_here:
        to.needed("zotero_library_id")
    number = to.zotero_library_id or "0"
    if not number.isdecimal() or (number == "0" and to.zotero_library_type == "group"):
        raise Misconfigured("ZOTERO_LIBRARY_ID is not the number of a library; zotero.org shows it under Settings, API")
    key = None if runs_here else secret_of(to.zotero_api_key)
    transport = own.closing(Transport(to.zotero_api_url or ZOTERO_ORG, key=key))
    library = f"{to.zotero_library_type}s/{number}"
    if not runs_here:
        return WebLibrary(transport, library)
    linked = [to.zotero_linked_dir] if to.zotero_linked_dir else []
    folders = [Path(to.zotero_data_dir or USUAL_DATA_DIR) / "storage", *map(Path, linked)]
    return LocalLibrary(transport, library, Folders([str(each.expanduser()) for each in folders]))


def zotero_checks(own: Mode) -> list[Finding]:
    """Check whether the library of Zotero can be read, where one is named; nothing but following it needs it."""

    def library() -> Finding:
        try:
            found = own.zotero
            return Finding(OK, f"{found.library_id}, {len(found.collections()):,} collections")
        except Failure as failure:
            return Finding(WARN, str(failure), "Projects that follow Zotero stay as they are meanwhile.")

    named = own.settings.zotero_api_url or own.settings.zotero_library_id
    return [examine("Zotero", library)] if named else []


ARTICLE = "PMC3531190"
QUESTION, PASSAGE = "Does aspirin lower fever?", "Aspirin lowers fever."


def upstreams(own: Mode) -> list[Finding]:
    """Ask each service that is configured once."""
    to = own.settings
    asked: dict[str, Callable[[], Finding]] = {"NCBI's ID converter": partial(_converter, own)}
    try:
        asked |= scholarly_checks(own)
    except Misconfigured as failure:
        unusable = Finding(FAIL, str(failure))
        asked["literature services"] = lambda: unusable
    if to.llm != "none":
        asked["language model"] = partial(_language_model, own)
    if to.reranker != "none":
        asked["reranker"] = partial(_reranker, own)
    if to.auth_jwks_url:
        asked["issuer's keys"] = partial(_issuer, to.auth_jwks_url)
    if to.otlp_endpoint:
        asked["OpenTelemetry collector"] = partial(_collector, to.otlp_endpoint)
    found = []
    for name, check in asked.items():
        with bounded_by(Deadline(WAIT_S)):
            found.append(examine(name, check))
    return found


def _converter(own: Mode) -> Finding:
    found = own.uncached_lookup.convert([ARTICLE], "pmcid", deadline=Deadline(WAIT_S))
    return Finding(OK, f"answers; it knows {len(found)} of 1 article")


def _language_model(own: Mode) -> Finding:
    model: Any = own.language_model
    written = model.generate(QUESTION, [PASSAGE], Deadline(WAIT_S))
    return Finding(OK, f"{model.fingerprint} answers with {len(written.text)} characters")


def _reranker(own: Mode) -> Finding:
    model: Any = own.reranker
    [score] = model.scores(QUESTION, [PASSAGE], Deadline(WAIT_S))
    return Finding(OK, f"{model.fingerprint} answers with a score of {score:.3g}")


def _issuer(url: str) -> Finding:
    from bio_mcp.adapters.oauth import fetch

    return Finding(OK, f"published, {len(fetch(url)):,} bytes")


def _collector(endpoint: str) -> Finding:
    from bio_mcp.adapters.http import answers

    if not answers(endpoint, WAIT_S):
        raise UpstreamFailed("nothing answers at OTEL_EXPORTER_OTLP_ENDPOINT; start the collector or unset it")
    return Finding(OK, "answers")


ENTRY = re.compile(rf"(?:.+:)?(?:{'|'.join(UNITS)})=[0-9]+")
NOTHING = ("none",)


def limits(settings: Settings, budgets: Budgets) -> Limits:
    """The limits that the settings name. Raises `Misconfigured`, which names the variable, for one that is no limit."""
    return Limits(
        budgets,
        _read("BIO_MCP_CALLER_BUDGETS", settings.caller_budgets),
        _read("BIO_MCP_TENANT_BUDGETS", settings.tenant_budgets),
        _read("BIO_MCP_ADDRESS_BUDGETS", settings.address_budgets),
    )


def _read(name: str, entries: Sequence[str]) -> Mapping[str, int]:
    if tuple(entries) == NOTHING:
        return {}
    for entry in entries:
        if not ENTRY.fullmatch(entry):
            units = ", ".join(UNITS)
            raise Misconfigured(
                f"{name} holds {entry!r}; it takes none, or UNIT=NUMBER and NAME:UNIT=NUMBER of {units}"
            )
    return {key: int(number) for key, _, number in (entry.rpartition("=") for entry in entries)}


QUIET_S = 300  # without a sign of progress, after which a file is given up


def _parser(own: Mode) -> Any:
    to = own.settings
    limits = load("bio_mcp.adapters.parsers.isolated:Limits")(
        to.parse_memory_mb << 20, to.parse_seconds, QUIET_S, to.parse_pages
    )
    isolated = load("bio_mcp.adapters.parsers.isolated:IsolatedParser")
    return own.closing(isolated(limits, tesseract=to.tesseract, environment=to.environment_of_programs))


def _answer_tau(own: Mode) -> float:
    if not 0 <= (tau := own.settings.answer_tau) <= 1:
        raise Misconfigured(f"BIO_MCP_ANSWER_TAU is {tau}; it takes a number from 0 to 1")
    return tau


def _on_aws(_own: Mode) -> Any:
    raise Misconfigured("bulk loads run on AWS (BIO_MCP_MODE=aws); on one machine it is bio-mcp import")


SHARED: Table = {
    "passages": lambda own: searched_index(own)[0],
    "embeddings": searched_model,
    "models": lambda own: InstalledModels(own.settings, lambda: own.configured_embeddings),
    "configured_embeddings": lambda own: metered(
        "bio_mcp.adapters.metered:MeteredEmbeddings", EMBEDDINGS[own.settings.embeddings](own.settings)
    ),
    "workers": lambda own: partial(worker_processes, own),
    "upstreams": lambda own: partial(upstreams, own),
    "entrez": _entrez,
    "pubmed": lambda own: own.entrez if own.settings.cache == "off" else own.cached_pubmed,
    "cached_pubmed": lambda own: _cached(
        own, "bio_mcp.adapters.caching:CachedPubmed", own.entrez, own.settings.ncbi_base_url, today=own.today
    ),
    "uncached_lookup": _lookup,
    "lookup": lambda own: _cached(
        own,
        "bio_mcp.adapters.caching:CachedLookup",
        own.uncached_lookup,
        f"{own.settings.ncbi_base_url} {own.settings.converter_url}",
    ),
    "ncbi_key": lambda own: secret_of(own.settings.ncbi_api_key),
    "pubmed_files": lambda own: own.closing(
        load("bio_mcp.adapters.entrez.files:NcbiFiles")(own.settings.ncbi_files_url, own.settings.ncbi_tool)
    ),
    "metrics": lambda own: _scholarly(own, "icite"),
    "notices": lambda own: _scholarly(own, "crossref"),
    "europe_pmc": lambda own: _scholarly(own, "europepmc"),
    "open_access": lambda own: _scholarly(own, "unpaywall"),
    "zotero": zotero,
    "sources": _sources,
    "announcements": lambda own: (
        own.bus
        if own.settings.cache == "off"
        else load("bio_mcp.adapters.caching:InvalidatingAnnouncements")(own.bus, lambda: own.cached_pubmed)
    ),
    "parser": _parser,
    "language_model": lambda own: metered(
        "bio_mcp.adapters.metered:MeteredLanguageModel", LANGUAGE_MODELS[own.settings.llm](own.settings)
    ),
    "reranker": lambda own: metered(
        "bio_mcp.adapters.metered:MeteredReranker", RERANKERS[own.settings.reranker](own.settings)
    ),
    "answer_tau": _answer_tau,
    "sync_max_records": lambda own: own.settings.sync_max_records,
    "chunk_namespace": lambda own: own.settings.chunk_namespace,
    "load_files": _on_aws,
    "load_runs": _on_aws,
}

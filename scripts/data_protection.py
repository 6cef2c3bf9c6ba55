"""The tables of docs/data-protection.md: what a stack stores for how long, and which addresses get what.

Retentions are those of template.yaml and of the adapters, addresses those of the settings. What is new there and not
described here is an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from bio_mcp.adapters.aws.answers import LIFETIME_S as ANSWER_S
from bio_mcp.adapters.aws.state import LIFETIME_S as JOB_S
from bio_mcp.adapters.stored import LONGEST_AUTHORIZATION_S
from bio_mcp.settings import Settings
from bio_mcp.wiring.services import ZOTERO_ORG
from scripts.template.functions import ROOT
from scripts.template.loops import loaded, unrolled

DAY_S = 86_400
DEFAULT = Settings()
Row = tuple[str, ...]

LASTING = "until it is deleted"
HELD: Mapping[str, tuple[str, str, str]] = {  # table: what it holds, what of people, for how long
    "DocumentsTable": ("papers of PubMed", "authors, as published", "until PubMed withdraws them"),
    "CheckpointsTable": ("watermarks of followed queries", "", LASTING),
    "JobsTable": (
        "syncs, ingests, exports, evaluations, as they were asked for",
        "questions as typed, tenant",
        f"{JOB_S // DAY_S} days after the last change",
    ),
    "LeasesTable": ("who works on what, of processes", "", "an hour or two"),
    "AuditTable": ("changes made by hand: who, when, before and after", "subject", LASTING),
    "PaceTable": ("the next free turn at NCBI", "", "one number a key"),
    "CacheTable": ("answers of NCBI and other services", "", f"up to {DEFAULT.cache_links_s // 3_600} hours"),
    "ProjectsTable": ("projects and their sources", "tenant", LASTING),
    "ProjectDocumentsTable": ("documents of projects", "what the documents say", LASTING),
    "GraphTable": ("the graph", "what the documents say", LASTING),
    "AnswersTable": (
        "questions and answers of `rag_answer`",
        "questions as typed",
        f"{ANSWER_S // DAY_S} days",
    ),
    "NewsTable": ("which papers a followed query found, and how far each person has read", "subject", LASTING),
    "ScreeningsTable": ("reviews: decisions, reasons, searches", "subject", LASTING),
    "CallsTable": (
        "calls with their arguments, to be replayed",
        "questions as typed",
        f"{DEFAULT.calls_days} days",
    ),
    "AuthorizationsTable": (
        "sign-in links, sessions, grants and used assertions, by hashes of their secrets; the ids of tokens",
        "subject, tenant, scopes, program, name of a token",
        f"until each expires, {int(LONGEST_AUTHORIZATION_S) // DAY_S} days at most",
    ),
    "BudgetsTable": ("what callers have used", "subject, tenant, or IP address", "two days at most"),
}
FOLDERS: Mapping[str, tuple[str, str]] = {  # of the bucket
    "exports/": ("exported files", "what was asked for"),
    "uploads/": ("files that are sent in the browser, until they are read", "what the documents say"),
    "calls/": ("what recorded calls read", "what the documents say"),
}
ASKING = "subject and tenant of who asked"  # in the message of a call that goes on
QUEUES: Mapping[str, tuple[str, str]] = {
    "WorkQueue": ("calls to be made later, of schedules and continued syncs", ASKING),
    "IngestQueue": ("files that wait to be read, by name", ASKING),
    "EvaluateQueue": ("the rest of evaluations", ASKING),
    "ExportQueue": ("the rest of exports", f"questions as typed, {ASKING}"),
    "DeadLetters": ("what failed five times", f"questions as typed, {ASKING}"),
}
NEVER = "never by default"
LIVE = "a tool of scope `live`, a sync, the nightly look for retractions"
OUTSIDE: Mapping[str, tuple[str, str, str]] = {  # setting of an address: whose, what is sent, who asks for it
    "ncbi_base_url": ("NCBI", "search terms, PMIDs, `NCBI_ADMIN_EMAIL`, the key", LIVE),
    "ncbi_converter_url": ("NCBI", "identifiers of papers", LIVE),
    "ncbi_files_url": ("NCBI", "names of files", "a bulk load, an import"),
    "icite_url": ("NIH iCite", "PMIDs", "tools that name it; `BIO_MCP_SOURCES`"),
    "crossref_url": (
        "Crossref",
        "DOIs, references as typed, `BIO_MCP_SOURCES_EMAIL`",
        "tools that name it; each night DOIs of documents without a PMID, where `NightlyNotices=on`; `BIO_MCP_SOURCES`",
    ),
    "europe_pmc_url": ("Europe PMC", "search terms, identifiers", "tools that name it; `BIO_MCP_SOURCES`"),
    "unpaywall_url": ("Unpaywall", "DOIs, `BIO_MCP_SOURCES_EMAIL`", f"{NEVER}: `BIO_MCP_SOURCES_EMAIL`"),
    "zotero_api_url": ("Zotero", "the key, names of items", f"{NEVER}: `ZOTERO_LIBRARY_ID`"),
    "openai_base_url": (
        "an embedding model",
        "texts of papers and documents, questions",
        f"{NEVER}: `BIO_MCP_EMBEDDINGS=openai`",
    ),
    "reranker_url": ("a reranker", "questions and passages", f"{NEVER}: `BIO_MCP_RERANKER=cohere` or `tei`"),
    "llm_base_url": ("a language model", "questions and quoted sentences", f"{NEVER}: `BIO_MCP_LLM=openai`"),
    "auth_jwks_url": ("an issuer of tokens", "nothing", f"{NEVER}: `MCP_AUTH_JWKS_URL`"),
    "idp_jwks_url": ("an identity provider", "nothing", f"{NEVER}: `MCP_IDP_JWKS_URL`"),
    "otlp_endpoint": (
        "a collector",
        "names, durations and failures of calls",
        f"{NEVER}: `OTEL_EXPORTER_OTLP_ENDPOINT`",
    ),
}
ELSEWHERE = {"ncbi_converter_url": DEFAULT.converter_url, "zotero_api_url": ZOTERO_ORG}  # where the setting is empty
OTHERS: Sequence[Row] = (
    (
        "Amazon Bedrock",
        "",
        "questions and quoted sentences",
        f"{NEVER}: `BIO_MCP_LLM=bedrock`, `BIO_MCP_RERANKER=bedrock`",
    ),
    ("hosts of documents", "", "addresses", f"{NEVER}: `BIO_MCP_INGEST_HOSTS`"),
    ("programs' descriptions of themselves", "", "nothing", "a person who connects a program that has one"),
)
OWN = {"resource_url", "opensearch_url", "queue_url", "heartbeat_url"}
OWN |= {f"{each}_queue_url" for each in ("ingest", "evaluate", "export")} | {"dead_letters_url"}


def stored_table() -> tuple[Row, Iterator[Row]]:
    """Head and rows of what a stack stores."""
    return ("where", "what", "of people", "for how long"), stored(loaded((ROOT / "template.yaml").read_text()))


def stored(read: Mapping[str, Any]) -> Iterator[Row]:
    """The rows, by the template. Raises `LookupError` for what is not described."""
    resources = unrolled(read)["Resources"]
    of = {name: each["Properties"] for name, each in resources.items()}
    tables = {name for name, each in resources.items() if each["Type"] == "AWS::DynamoDB::Table"}
    queues = {name for name, each in resources.items() if each["Type"] == "AWS::SQS::Queue"}
    expiring = {name for name in tables if "TimeToLiveSpecification" in of[name]}
    _same("tables", tables, HELD)
    _same(
        "tables that forget", expiring, {name for name, (*_, kept) in HELD.items() if "day" in kept or "hour" in kept}
    )
    for name, (what, people, kept) in HELD.items():
        copies = "; 35 days more in backups" if "PointInTimeRecoverySpecification" in of[name] else ""
        yield f"`{name}`", what, people, kept + copies
    rules = [each for each in of["Bucket"]["LifecycleConfiguration"]["Rules"] if "Prefix" in each]
    _same("folders that forget", {each["Prefix"] for each in rules if "ExpirationInDays" in each}, FOLDERS)
    for rule in rules:
        if "ExpirationInDays" in rule:
            what, people = FOLDERS[rule["Prefix"]]
            kept = f"{_days(rule['ExpirationInDays'])}; {_versions(of['Bucket'], rule['Prefix'])}"
            yield f"bucket, `{rule['Prefix']}`", what, people, kept
    says = "what the documents say"
    shown = "every PDF that was read, so that its pages can be shown"
    yield "bucket, `files/`", shown, says, f"as long as its document; {_versions(of['Bucket'], 'files/')}"
    rest = "large papers and documents, `inbox/`, logs of `ingest.run`, reports"
    yield "bucket, the rest", rest, says, f"{LASTING}; {_versions(of['Bucket'])}"
    yield (
        "index (OpenSearch, or the bucket)",
        "passages and vectors of papers and documents",
        says,
        f"as the papers and documents; in the bucket {_versions(of['Bucket'], 'index/')}",
    )
    _same("queues", queues, QUEUES)
    for name, (what, people) in QUEUES.items():
        yield f"`{name}`", what, people, f"{of[name]['MessageRetentionPeriod'] // DAY_S} days at most"
    days = read["Parameters"]["LogRetentionDays"]["Default"]
    yield (
        "logs of functions",
        "a line for each call: tool, time, failure, hashes of question and answer",
        "subject, tenant",
        f"{days} days",
    )
    yield "access log of the API", "a line for each request", "IP address", f"{days} days"
    yield (
        "traces in X-Ray",
        "of some calls: tool, services that were asked, times, failures, correlation id",
        "",
        "30 days, as AWS keeps them",
    )
    yield "metrics in CloudWatch", "times and numbers of calls by tool", "", "15 months, as AWS keeps them"


def _days(number: int) -> str:
    return f"{number} day" if number == 1 else f"{number} days"


def _versions(bucket: Mapping[str, Any], folder: str = "") -> str:
    """How long S3 keeps what is deleted there; of several rules the shortest counts."""
    rules = bucket["LifecycleConfiguration"]["Rules"]
    kept = [each for each in rules if "NoncurrentVersionExpiration" in each and each.get("Prefix", "") in ("", folder)]
    return f"{_days(min(each['NoncurrentVersionExpiration']['NoncurrentDays'] for each in kept))} more as a version"


def addresses_table() -> tuple[Row, Iterator[Row]]:
    """Head and rows of who outside is sent something."""
    return ("who", "address", "what is sent", "who asks for it, or what turns it on"), _addresses()


def _addresses() -> Iterator[Row]:
    known = {each.name: each for each in fields(Settings)}
    named = {name for name, each in known.items() if each.metadata["env"].endswith(("_URL", "_ENDPOINT"))}
    _same("addresses", named - OWN, OUTSIDE)
    for name, (who, sent, asks) in OUTSIDE.items():
        default = f"`{found}`, " if (found := known[name].default or ELSEWHERE.get(name, "")) else ""
        yield who, f"{default}`{known[name].metadata['env']}`", sent, asks
    yield from OTHERS


def _same(what: str, found: set[str], described: Any) -> None:
    if differing := found ^ set(described):
        raise LookupError(
            f"describe in scripts/data_protection.py which {what} there are: {', '.join(sorted(differing))}"
        )

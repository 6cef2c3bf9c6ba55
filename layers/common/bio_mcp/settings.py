"""Settings: configuration, read from the environment once. No other module reads the environment."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urljoin, urlsplit
from uuid import UUID

from bio_mcp.errors import Misconfigured
from bio_mcp.literature.identifiers import EUTILS_URL
from bio_mcp.retrieval.passages import NAMESPACE

CONVERTER_PATH = "/tools/idconv/api/v1/articles/"
NCBI_CONVERTER = f"https://pmc.ncbi.nlm.nih.gov{CONVERTER_PATH}"
PROGRAMS_NEED = (
    "PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR",
)  # fmt: skip
NOT_FILLED_IN = re.compile(r"\$\{user_config\.\w+\}")  # what hosts of MCP bundles pass for a field that was left empty
HOME = Path("~/.bio-mcp")


def models_folder(environment: str = sys.prefix) -> Path:
    """The directory of embedding models: inside the Python environment where a former `make setup` built them there,
    else one of the user's, which is still there when an environment is thrown away, as uvx does."""
    inside = Path(environment, "share", "bio-mcp", "models")
    return inside if inside.is_dir() else HOME / "models"


def setting(env: str, default: Any, *, secret: bool = False, mode: str | None = None) -> Any:
    """A field read from the variable `env`; the text below it gives unit and effect, and becomes docs/settings.md.

    A `secret` is in no `repr`. A setting of one `mode` has no effect in the other. A field of a `Literal` type takes
    its values and no others.
    """
    return field(default=default, metadata={"env": env, "secret": secret, "mode": mode}, repr=not secret)


def of_aws(env: str) -> Any:
    """A name of something that a stack has, which has no default."""
    return setting(env, "", mode="aws")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def value_of(of: Field[Any], text: str) -> Any:
    """The variable's text as the field's type. Raises `Misconfigured`, which names the variable but no secret."""
    name = of.metadata["env"]
    kind: Any = Path if isinstance(of.default, Path) else type(of.default)
    if get_origin(of.type) is Literal and text not in get_args(of.type):
        raise Misconfigured(f"{name} is {text!r}; it takes {', '.join(sorted(get_args(of.type)))}")
    if kind is not Path and re.search("[\ud800-\udfff]", text):  # as Python reads bytes that are not UTF-8
        raise Misconfigured(f"{name} is not UTF-8")
    if kind is tuple:
        return words_of(text)
    if kind is int and not text.isdecimal():
        raise Misconfigured(f"{name} must be a whole number, 0 or more")
    try:
        return kind(text)
    except ValueError:
        raise Misconfigured(f"{name} is not a valid {kind.__name__}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting. Lists are comma-separated."""

    # Where everything is
    mode: Literal["embedded", "aws"] = setting("BIO_MCP_MODE", "embedded")
    """embedded: everything in one data directory; aws: in services of AWS"""
    home: Path = setting("BIO_MCP_HOME", HOME)
    """data directory of the embedded mode"""
    models: Path = setting("BIO_MCP_MODELS", models_folder())
    """directory of models of one's own; `share/bio-mcp/models` of the Python environment where there is one"""
    index_name: str = setting("BIO_MCP_INDEX", "pubmed_chunk")
    """name of the passage index"""
    chunk_namespace: UUID = setting("BIO_MCP_CHUNK_NAMESPACE", NAMESPACE)
    """UUID namespace of chunk ids"""

    # Models that make vectors, and that read hits again
    embeddings: Literal["onnx", "hf", "openai"] = setting("BIO_MCP_EMBEDDINGS", "onnx")
    """embedding provider: onnx, hf or openai"""
    embedding_model: str = setting("BIO_MCP_EMBEDDING_MODEL", "bge-small-en-v1.5")
    """model that the provider loads"""
    other_models: tuple[str, ...] = setting("BIO_MCP_OTHER_MODELS", ())
    """models that this process may use besides, for an index that has their vectors: openai:NAME of that endpoint;
    those in BIO_MCP_MODELS are found without"""
    openai_base_url: str = setting("OPENAI_BASE_URL", "https://api.openai.com/v1")
    """any endpoint that speaks OpenAI's embeddings API"""
    openai_api_key: str = setting("OPENAI_API_KEY", "", secret=True)
    """key for that endpoint"""
    embedding_dim: int = setting("BIO_MCP_EMBEDDING_DIM", 384)
    """dimensions of the model, for the openai provider"""
    passage_prefix: str = setting("BIO_MCP_PASSAGE_PREFIX", "")
    """what the model of the openai provider wants before each passage"""
    question_prefix: str = setting("BIO_MCP_QUESTION_PREFIX", "")
    """what that model wants before each question; other models know theirs"""
    reranker: Literal["none", "onnx", "cohere", "tei", "bedrock"] = setting("BIO_MCP_RERANKER", "none")
    """who reads the best 30 hits of a search again and orders them: none; onnx, a model that `bio-mcp admin models
    add --reranker` installed; cohere or tei, an endpoint in the form of Cohere's and Jina's or of
    text-embeddings-inference; bedrock; question and passages are sent there"""
    reranker_model: str = setting("BIO_MCP_RERANKER_MODEL", "")
    """its name: where it is installed, at the endpoint, or its ARN in Bedrock"""
    reranker_url: str = setting("BIO_MCP_RERANKER_URL", "")
    """whole address of that endpoint, such as http://host/rerank"""
    reranker_api_key: str = setting("BIO_MCP_RERANKER_API_KEY", "", secret=True)
    """key for that endpoint, or its place on AWS: secretsmanager:NAME or ssm:NAME"""
    reranker_seconds: int = setting("BIO_MCP_RERANKER_SECONDS", 2)
    """seconds that it may take before the hits stay in the order of the search"""
    threads: int = setting("BIO_MCP_THREADS", 0)
    """threads of the embedding model; 0: one per core"""

    # The language model that may write answers
    llm: Literal["none", "bedrock", "openai"] = setting("BIO_MCP_LLM", "none")
    """who writes answers: none (they are sentences of papers, word for word), bedrock (Amazon Bedrock) or openai (an
    endpoint with OpenAI's chat completions); question and quoted sentences are sent there, and each sentence that
    comes back is checked"""
    llm_model: str = setting("BIO_MCP_LLM_MODEL", "")
    """model or inference profile that writes answers"""
    llm_base_url: str = setting("BIO_MCP_LLM_BASE_URL", "")
    """address of the chat completions, for openai; empty: OPENAI_BASE_URL"""
    llm_api_key: str = setting("BIO_MCP_LLM_API_KEY", "", secret=True)
    """key for that address, or its place on AWS: secretsmanager:NAME or ssm:NAME; empty: OPENAI_API_KEY, where
    BIO_MCP_LLM_BASE_URL is empty too"""
    llm_region: str = setting("BIO_MCP_LLM_REGION", "")
    """AWS region of the model, for bedrock; empty: AWS_REGION"""
    llm_guardrail: str = setting("BIO_MCP_LLM_GUARDRAIL", "")
    """guardrail of Bedrock that texts pass, as ID:VERSION; empty: none"""
    llm_seconds: int = setting("BIO_MCP_LLM_SECONDS", 15)
    """seconds that the model may take before the extract is given"""
    answer_tau: float = setting("BIO_MCP_ANSWER_TAU", 0.75)
    """least confidence, 0 to 1, of an answer of rag_answer that is given: below it the answer is withheld"""

    # NCBI
    ncbi_base_url: str = setting("NCBI_BASE_URL", EUTILS_URL)
    """base URL of the E-utilities"""
    ncbi_files_url: str = setting("NCBI_FILES_URL", "https://ftp.ncbi.nlm.nih.gov/pubmed/")
    """address of the folders baseline and updatefiles"""
    ncbi_converter_url: str = setting("NCBI_ID_CONVERTER_URL", "")
    """address of the PMC ID Converter, which translates PMIDs, PMCIDs and DOIs; empty: NCBI's own, or the one at the
    host of an NCBI_BASE_URL that is not NCBI's"""
    ncbi_api_key: str = setting("NCBI_API_KEY", "", secret=True)
    """NCBI key: 10 requests a second instead of 3; or its place on AWS: secretsmanager:NAME or ssm:NAME"""
    ncbi_admin_email: str = setting("NCBI_ADMIN_EMAIL", "")
    """e-mail that NCBI may write to; sent with each request"""
    ncbi_tool: str = setting("NCBI_TOOL_IDENTIFIER", "bio-mcp")
    """tool name sent with each request"""
    ncbi_delay_ms: int = setting("NCBI_REQUEST_DELAY_MS", 0)
    """least milliseconds between two requests; 0: 120 with a key, 370 without"""
    ncbi_max_retries: int = setting("NCBI_MAX_RETRIES", 5)
    """retries of a request that failed for the moment"""

    # Services about papers beside NCBI
    literature_sources: tuple[str, ...] = setting("BIO_MCP_SOURCES", ("icite", "crossref", "europepmc", "unpaywall"))
    """services beside NCBI that tools may ask, each by tools alone that name it: icite, crossref, europepmc,
    unpaywall; none: no service"""
    sources_email: str = setting("BIO_MCP_SOURCES_EMAIL", "")
    """e-mail that goes with each request to Crossref, which is then faster, and to Unpaywall, which is not asked
    without one"""
    icite_url: str = setting("BIO_MCP_ICITE_URL", "https://icite.od.nih.gov/api")
    """address of NIH iCite's API"""
    crossref_url: str = setting("BIO_MCP_CROSSREF_URL", "https://api.crossref.org")
    """address of Crossref's REST API"""
    europe_pmc_url: str = setting("BIO_MCP_EUROPE_PMC_URL", "https://www.ebi.ac.uk/europepmc/webservices/rest")
    """address of Europe PMC's REST API"""
    unpaywall_url: str = setting("BIO_MCP_UNPAYWALL_URL", "https://api.unpaywall.org/v2")
    """address of Unpaywall's API"""

    # Zotero
    zotero_api_url: str = setting("ZOTERO_API_URL", "")
    """address of Zotero's API: empty for zotero.org, http://127.0.0.1:23119/api for a Zotero that runs here"""
    zotero_library_id: str = setting("ZOTERO_LIBRARY_ID", "")
    """number of the library at Zotero: the user's, or the group's"""
    zotero_library_type: Literal["user", "group"] = setting("ZOTERO_LIBRARY_TYPE", "user")
    """user or group: whose number ZOTERO_LIBRARY_ID is"""
    zotero_api_key: str = setting("ZOTERO_API_KEY", "", secret=True)
    """key of zotero.org that may read the library; or its place on AWS: secretsmanager:NAME or ssm:NAME"""
    zotero_data_dir: str = setting("ZOTERO_DATA_DIR", "")
    """data directory of the Zotero that runs here, whose files are read there; empty: ~/Zotero"""
    zotero_linked_dir: str = setting("ZOTERO_LINKED_DIR", "")
    """folder below which files that are linked in Zotero are read; empty: no such file is"""

    # The cache of NCBI's answers, and the log of calls
    cache: Literal["on", "off"] = setting("BIO_MCP_CACHE", "on")
    """on: NCBI's answers to the live tools are cached; off: NCBI is always asked"""
    cache_records_s: int = setting("BIO_MCP_CACHE_RECORDS_S", 21_600)
    """seconds that a record, summary or full text is cached, hence how late a retraction may be seen; 0: not at all"""
    cache_searches_s: int = setting("BIO_MCP_CACHE_SEARCHES_S", 300)
    """seconds that the result of a search is cached; 0: not at all"""
    cache_links_s: int = setting("BIO_MCP_CACHE_LINKS_S", 86_400)
    """seconds that related articles, headings, ids and matches are cached; 0: not at all"""
    cache_info_s: int = setting("BIO_MCP_CACHE_INFO_S", 3_600)
    """seconds that PubMed's description of itself is cached; 0: not at all"""
    cache_mb: int = setting("BIO_MCP_CACHE_MB", 256)
    """megabytes of the embedded mode's cache.sqlite3, which may be deleted at any time"""

    calls_days: int = setting("BIO_MCP_CALLS_DAYS", 30)
    """days that calls are stored with their arguments, for `bio-mcp admin replay` to repeat; 0: no call is stored"""
    calls_mb: int = setting("BIO_MCP_CALLS_MB", 128)
    """megabytes of the embedded mode's calls.sqlite3, which may be deleted at any time"""

    # Reading documents
    parse_seconds: int = setting("BIO_MCP_PARSE_SECONDS", 1_800)
    """seconds that reading one file may take, recognition of its scanned pages included"""
    parse_memory_mb: int = setting("BIO_MCP_PARSE_MEMORY_MB", 1_024)
    """megabytes of memory that reading a file may take"""
    parse_pages: int = setting("BIO_MCP_PARSE_PAGES", 2_000)
    """pages of the longest PDF that is read"""
    tesseract: str = setting("BIO_MCP_TESSERACT", "tesseract")
    """program that recognises text in scanned pages"""
    ingest_roots: tuple[str, ...] = setting("BIO_MCP_INGEST_ROOTS", ())
    """folders below which a client over HTTP may name files to ingest; the command line and stdio may read whatever
    their user may"""
    ingest_hosts: tuple[str, ...] = setting("BIO_MCP_INGEST_HOSTS", ())
    """hosts that documents may be fetched from over https: name, name:port, or *.name for all below it; those of
    private addresses are refused"""
    ingest_buckets: tuple[str, ...] = setting("BIO_MCP_INGEST_BUCKETS", ())
    """S3 buckets that documents may be read from"""

    # Evaluation
    eval_baseline: str = setting("BIO_MCP_EVAL_BASELINE", "")
    """file of figures that `bio-mcp eval run` compares its own with, to fail where one is worse; empty: none"""

    # What callers may use
    caller_budgets: tuple[str, ...] = setting(
        "BIO_MCP_CALLER_BUDGETS",
        ("calls=100", "ncbi=20000", "sources=10000", "embeddings=1000000", "model_tokens=1000000"),
    )
    """what a token's subject may use: calls a second; requests to NCBI (ncbi) and to the services of BIO_MCP_SOURCES
    (sources), embedded texts (embeddings) and tokens of the language model (model_tokens) a day; NAME:ncbi=5000
    for one subject; a unit that is not named is not limited, and with none nothing is"""
    tenant_budgets: tuple[str, ...] = setting("BIO_MCP_TENANT_BUDGETS", ("public:calls=20", "public:embeddings=100000"))
    """the same of all callers of a tenant together; public is the tenant of those who read without a token"""
    address_budgets: tuple[str, ...] = setting(
        "BIO_MCP_ADDRESS_BUDGETS", ("calls=5", "embeddings=2000", "model_tokens=0")
    )
    """the same of each address that reads without a token"""
    sync_max_records: int = setting("BIO_MCP_SYNC_MAX_RECORDS", 50_000)
    """records that PubMed may have for a new sync before it asks for confirmation, by max_records; 0: never asks"""

    # The HTTP server, and who may call it
    http_host: str = setting("MCP_HTTP_HOST", "127.0.0.1")
    """address that `serve` listens on"""
    http_port: int = setting("MCP_HTTP_PORT", 3010)
    """port that `serve` listens on"""
    allowed_hosts: tuple[str, ...] = setting("MCP_ALLOWED_HOSTS", ())
    """Host headers accepted besides loopback's and MCP_RESOURCE_URL's: name, name:port or name:* for any port; a
    leading *. stands for one label or more"""
    allowed_origins: tuple[str, ...] = setting("MCP_ALLOWED_ORIGINS", ())
    """Origins of browsers that may call; loopback's may as well, where only loopback is served"""
    trusted_proxies: tuple[str, ...] = setting("MCP_TRUSTED_PROXIES", ())
    """addresses or networks of proxies before `serve`, whose X-Forwarded-For says who calls and X-Forwarded-Proto how;
    of any other, this machine's too, they are not read, and all who come through it count as one address"""
    resource_url: str = setting("MCP_RESOURCE_URL", "")
    """public URL of the endpoint, such as https://mcp.example.org/mcp; tokens are made for it"""
    auth_secret: str = setting("MCP_AUTH_SECRET_KEY", "", secret=True)
    """secret of HS256 access tokens, at least 32 random bytes; without it or MCP_AUTH_JWKS_URL only this machine is
    served; or its place on AWS, read again as it rotates: secretsmanager:NAME or ssm:NAME"""
    auth_jwks_url: str = setting("MCP_AUTH_JWKS_URL", "")
    """https address of the issuer's public keys, for RS256 access tokens instead"""
    auth_issuer: str = setting("MCP_AUTH_ISSUER", "")
    """issuer (iss) that a token must name; HS256 tokens need none while this is empty"""
    auth_audience: str = setting("MCP_AUTH_AUDIENCE", "")
    """audience (aud) that a token must name; empty: MCP_RESOURCE_URL, or else bio-mcp"""
    auth_scopes: tuple[str, ...] = setting("MCP_AUTH_REQUIRED_SCOPES", ())
    """scopes that a token must carry, all of them; with bio:read among them, no token writes that does not say so"""
    auth_default_scopes: tuple[str, ...] = setting("MCP_AUTH_DEFAULT_SCOPES", ("read", "live", "sync", "ingest"))
    """what a token may do that names none of read, live, sync, ingest and admin"""
    auth_read_scope: str = setting("MCP_AUTH_READ_SCOPE", "bio:read")
    """another issuer's name for the scopes read and live together"""
    auth_write_scope: str = setting("MCP_AUTH_WRITE_SCOPE", "bio:write")
    """another issuer's name for all scopes together"""
    idp_issuer: str = setting("MCP_IDP_ISSUER", "")
    """issuer of an organisation's identity provider, whose identity assertions (ID-JAG) programs may present in place
    of people who sign in; with MCP_IDP_JWKS_URL, beside MCP_AUTH_SECRET_KEY and MCP_RESOURCE_URL"""
    idp_jwks_url: str = setting("MCP_IDP_JWKS_URL", "")
    """https address of that provider's public keys, RS256 or ES256"""
    idp_subject_claim: str = setting("MCP_IDP_SUBJECT_CLAIM", "sub")
    """claim of an assertion that names the person; another one must be as unique and lasting, as oid"""
    idp_tenant_claim: str = setting("MCP_IDP_TENANT_CLAIM", "")
    """claim of an assertion that names the person's tenant, without which it is refused; empty: there are no tenants"""
    idp_scopes: tuple[str, ...] = setting("MCP_IDP_SCOPES", ("read", "live"))
    """the most that an assertion allows, of read, live, sync, ingest and admin; and what one allows that names none"""
    public_read: Literal["on", "off"] = setting("BIO_MCP_PUBLIC_READ", "off")
    """on: whoever reaches the endpoint may search and read papers and the graph without a token; projects stay
    closed, but those of the tenant public"""
    calls_per_minute: int = setting("MCP_CALLS_PER_MINUTE", 1_200)
    """requests a minute, also all at once, that a token's subject, or an address without one, may make of each
    process; 0: without a limit"""
    http_workers: int = setting("MCP_HTTP_WORKERS", 0)
    """processes that `serve` answers with, some 300 MB each; 0: one per core, four at most"""
    max_request_kb: int = setting("MCP_MAX_REQUEST_KB", 5_000)
    """kilobytes of the largest HTTP request that is read; a longer one is answered 413"""

    # What clients are shown, and logs
    tool_names: Literal["portable", "contract"] = setting("BIO_MCP_TOOL_NAMES", "portable")
    """names that tools/list shows: portable or contract"""
    listed_tools: tuple[str, ...] = setting("BIO_MCP_TOOLS", ("default",))
    """what tools/list shows: default, all, families (rag, pubmed, projects, review, ttm) and single tools, mixed; a
    client may ask for others by ?tools="""
    log_level: Literal["debug", "info", "warning", "error"] = setting("MCP_LOG_LEVEL", "info")
    """debug, info, warning or error"""
    otlp_endpoint: str = setting("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    """address of an OpenTelemetry collector (OTLP over HTTP, such as http://localhost:4318) for spans and durations
    of MCP requests, and spans of their calls and requests, if the extra otel is installed"""

    # Services of AWS: names of tables, queues and what else a stack has
    table_documents: str = of_aws("BIO_MCP_TABLE_DOCUMENTS")
    """DynamoDB table of the papers"""
    table_checkpoints: str = of_aws("BIO_MCP_TABLE_CHECKPOINTS")
    """DynamoDB table of the watermarks"""
    table_jobs: str = of_aws("BIO_MCP_TABLE_JOBS")
    """DynamoDB table of the jobs and their cursors"""
    table_news: str = of_aws("BIO_MCP_TABLE_NEWS")
    """DynamoDB table of what queries found"""
    table_leases: str = of_aws("BIO_MCP_TABLE_LEASES")
    """DynamoDB table of who works on what"""
    table_audit: str = of_aws("BIO_MCP_TABLE_AUDIT")
    """DynamoDB table of the changes made by hand"""
    table_pace: str = of_aws("BIO_MCP_TABLE_PACE")
    """DynamoDB table of the turns at NCBI"""
    table_cache: str = of_aws("BIO_MCP_TABLE_CACHE")
    """DynamoDB table of NCBI's cached answers"""
    table_projects: str = of_aws("BIO_MCP_TABLE_PROJECTS")
    """DynamoDB table of the projects"""
    table_project_documents: str = of_aws("BIO_MCP_TABLE_PROJECT_DOCUMENTS")
    """DynamoDB table of the documents of projects"""
    table_graph: str = of_aws("BIO_MCP_TABLE_GRAPH")
    """DynamoDB table of the graph"""
    table_answers: str = of_aws("BIO_MCP_TABLE_ANSWERS")
    """DynamoDB table of the answers given"""
    table_screenings: str = of_aws("BIO_MCP_TABLE_SCREENINGS")
    """DynamoDB table of the records and decisions of reviews"""
    table_calls: str = of_aws("BIO_MCP_TABLE_CALLS")
    """DynamoDB table of the log of calls"""
    table_authorizations: str = of_aws("BIO_MCP_TABLE_AUTHORIZATIONS")
    """DynamoDB table of who signed in and which clients may call"""
    table_budgets: str = of_aws("BIO_MCP_TABLE_BUDGETS")
    """DynamoDB table of what callers and tenants have used"""
    queue_url: str = of_aws("BIO_MCP_QUEUE_URL")
    """URL of the SQS queue of calls to be made later"""
    ingest_queue_url: str = of_aws("BIO_MCP_INGEST_QUEUE_URL")
    """URL of the SQS queue of files in the inbox and of the rest of long ingests; empty: there is one queue for all"""
    evaluate_queue_url: str = of_aws("BIO_MCP_EVALUATE_QUEUE_URL")
    """URL of the SQS queue of the rest of long evaluations; empty: there is one queue for all"""
    export_queue_url: str = of_aws("BIO_MCP_EXPORT_QUEUE_URL")
    """URL of the SQS queue of the rest of long exports; empty: there is one queue for all"""
    dead_letters_url: str = of_aws("BIO_MCP_DEAD_LETTERS_URL")
    """URL of the SQS queue of calls that were given up, for `bio-mcp admin letters`"""
    load_machine: str = of_aws("BIO_MCP_LOAD_MACHINE")
    """ARN of the state machine that takes the steps of bulk loads, which a stack with LoadsAtOnce has"""
    bucket: str = of_aws("BIO_MCP_BUCKET")
    """S3 bucket of what is too large for a table, and of the inbox"""
    event_bus: str = of_aws("BIO_MCP_EVENT_BUS")
    """EventBridge bus that receives changes of the corpus"""
    index_tier: Literal["opensearch", "s3"] = setting("BIO_MCP_INDEX_TIER", "opensearch", mode="aws")
    """where passages are searched: in an OpenSearch, or by each process itself, in a copy of the index that
    BIO_MCP_BUCKET has"""
    index_refresh_s: int = setting("BIO_MCP_INDEX_REFRESH_S", 10, mode="aws")
    """seconds after which a copy of the index looks for what is new"""
    index_limit_mb: int = setting("BIO_MCP_INDEX_LIMIT_MB", 300, mode="aws")
    """megabytes that an index in S3 may have, some 22,000 papers"""
    opensearch_url: str = setting("BIO_MCP_OPENSEARCH_URL", "")
    """https address of the OpenSearch endpoint; in the embedded mode of a node that has the index, in place of this
    machine's memory"""
    opensearch_service: Literal["es", "aoss", "none"] = setting("BIO_MCP_OPENSEARCH_SERVICE", "es")
    """what requests to OpenSearch are signed for: es (a domain), aoss (Serverless) or none (a node of one's own)"""
    opensearch_shards: int = setting("BIO_MCP_OPENSEARCH_SHARDS", 1)
    """shards of the index where OpenSearch makes a new one; one for each 500,000 papers"""
    opensearch_vectors: Literal["float", "byte", "paper"] = setting("BIO_MCP_OPENSEARCH_VECTORS", "float")
    """vectors that a new index in OpenSearch holds in memory: float, byte (a quarter) or paper (one a paper); found
    papers are scored by all vectors, whichever it is"""
    functions: tuple[str, ...] = setting("BIO_MCP_FUNCTIONS", ())
    """Lambda functions that the MCP endpoint calls, as search=NAME,get_doc=NAME, ... with a name or ARN for each
    module of tools; empty: it runs the tools in its own process"""
    metrics: str = of_aws("BIO_MCP_METRICS")
    """CloudWatch namespace of the metrics of calls; empty: none are recorded"""
    trace_calls: Literal["on", "off"] = setting("BIO_MCP_TRACE_CALLS", "off", mode="aws")
    """on: calls of tools and their requests to services are subsegments of the function's trace in X-Ray"""
    xray_daemon: str = setting("AWS_XRAY_DAEMON_ADDRESS", "")
    """set by Lambda: where subsegments are sent"""
    heartbeat_url: str = of_aws("BIO_MCP_HEARTBEAT_URL")
    """URL of the endpoint that the heartbeat's function speaks to; empty: MCP_RESOURCE_URL"""
    initialization: str = setting("AWS_LAMBDA_INITIALIZATION_TYPE", "")
    """set by Lambda; snap-start: a snapshot is made of the function at its start"""

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> "Settings":
        """Read the environment; variables that are unset or empty leave the default.

        Raises `Misconfigured`, which names the variable, for a value that cannot be read.
        """
        given = {each: env.get(each.metadata["env"], "") for each in fields(cls)}
        filled_in = {each: text for each, text in given.items() if text and not NOT_FILLED_IN.fullmatch(text)}
        return cls(**{each.name: value_of(each, text) for each, text in filled_in.items()})

    def variables(self) -> tuple[dict[str, str], dict[str, str]]:
        """The variables whose values are not the defaults: those that anybody may read, and those with a secret."""
        public: dict[str, str] = {}
        secret: dict[str, str] = {}
        for each in fields(self):
            if (value := getattr(self, each.name)) != each.default:
                path = str(value.expanduser().absolute()) if isinstance(value, Path) else ""
                text = path or (",".join(value) if isinstance(value, tuple) else str(value))
                hidden = each.metadata["secret"] or ("://" in text and "@" in urlsplit(text).netloc)
                (secret if hidden else public)[each.metadata["env"]] = text
        return public, secret

    @staticmethod
    def trace_header() -> str:
        """The ids that X-Ray has of the invocation that runs, which Lambda sets anew for each; "" elsewhere."""
        return os.environ.get("_X_AMZN_TRACE_ID", "")

    @property
    def environment_of_programs(self) -> Mapping[str, str]:
        """What a program that we start needs of the environment: no key and no secret is in it."""
        return {name: os.environ[name] for name in PROGRAMS_NEED if name in os.environ}

    @property
    def converter_url(self) -> str:
        """Address of the PMC ID Converter.

        With an `NCBI_BASE_URL` that is not NCBI's, it is at that host too: a stand-in for NCBI never sends ids to the
        real one.
        """
        ours = (urlsplit(self.ncbi_base_url).hostname or "").endswith("ncbi.nlm.nih.gov")
        return self.ncbi_converter_url or (NCBI_CONVERTER if ours else urljoin(self.ncbi_base_url, CONVERTER_PATH))

    def needed(self, name: str) -> str:
        """The value of the setting `name`. Raises `Misconfigured`, which names its variable, when it is empty."""
        if value := getattr(self, name):
            return str(value)
        [field] = [each for each in fields(self) if each.name == name]
        raise Misconfigured(f"{field.metadata['env']} is not set; mode {self.mode} needs it (docs/settings.md)")

    def function(self, module: str) -> str:
        """Name or ARN of the Lambda function of the tools in `module`. Raises `Misconfigured` when none is named."""
        named = {name.strip(): value.strip() for name, _, value in (each.partition("=") for each in self.functions)}
        if function := named.get(module):
            return function
        raise Misconfigured(f"BIO_MCP_FUNCTIONS names no function for {module}; it takes {module}=NAME among others")

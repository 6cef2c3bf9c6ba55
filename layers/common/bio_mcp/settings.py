"""Settings: configuration, read from the environment once. No other module reads the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin, urlsplit
from uuid import UUID

from bio_mcp import directories
from bio_mcp.errors import Misconfigured
from bio_mcp.limit_settings import LimitSettings
from bio_mcp.literature.eutils import EUTILS_URL
from bio_mcp.retrieval.passages import NAMESPACE
from bio_mcp.setting_fields import setting, text_of, value_of

CONVERTER_PATH = "/tools/idconv/api/v1/articles/"
NCBI_CONVERTER = f"https://pmc.ncbi.nlm.nih.gov{CONVERTER_PATH}"


PROGRAMS_NEED = (
    "PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(LimitSettings):
    """Every setting. Lists are comma-separated."""

    mode: Literal["embedded", "aws"] = setting(
        "BIO_MCP_MODE", "embedded", "embedded: everything in one data directory; aws: in services of AWS"
    )
    home: Path = setting("BIO_MCP_HOME", directories.HOME, "data directory of the embedded mode")
    models: Path = setting(
        "BIO_MCP_MODELS",
        directories.models(),
        "directory that holds the embedding models; ~/.bio-mcp/models where the Python environment has none",
    )
    openai_base_url: str = setting(
        "OPENAI_BASE_URL", "https://api.openai.com/v1", "any endpoint that speaks OpenAI's embeddings API"
    )
    openai_api_key: str = setting("OPENAI_API_KEY", "", "key for that endpoint", secret=True)
    index_name: str = setting("BIO_MCP_INDEX", "pubmed_chunk", "name of the passage index")
    chunk_namespace: UUID = setting("BIO_MCP_CHUNK_NAMESPACE", NAMESPACE, "UUID namespace of chunk ids")

    answer_tau: float = setting(
        "BIO_MCP_ANSWER_TAU",
        0.57,
        "least confidence, 0 to 1, of an answer of rag_answer that is given: below it the answer is withheld",
    )

    ncbi_base_url: str = setting("NCBI_BASE_URL", EUTILS_URL, "base URL of the E-utilities")
    ncbi_files_url: str = setting(
        "NCBI_FILES_URL", "https://ftp.ncbi.nlm.nih.gov/pubmed/", "address of the folders baseline and updatefiles"
    )
    ncbi_converter_url: str = setting(
        "NCBI_ID_CONVERTER_URL",
        "",
        "address of the PMC ID Converter, which translates PMIDs, PMCIDs and DOIs; empty: NCBI's own, or the one at "
        "the host of an NCBI_BASE_URL that is not NCBI's",
    )
    ncbi_api_key: str = setting(
        "NCBI_API_KEY",
        "",
        "NCBI key: 10 requests a second instead of 3; or its place on AWS: secretsmanager:NAME or ssm:NAME",
        secret=True,
    )
    ncbi_admin_email: str = setting("NCBI_ADMIN_EMAIL", "", "e-mail that NCBI may write to; sent with each request")
    ncbi_tool: str = setting("NCBI_TOOL_IDENTIFIER", "bio-mcp", "tool name sent with each request")
    ncbi_delay_ms: int = setting(
        "NCBI_REQUEST_DELAY_MS", 0, "least milliseconds between two requests; 0: 120 with a key, 370 without"
    )
    ncbi_max_retries: int = setting("NCBI_MAX_RETRIES", 5, "retries of a request that failed for the moment")

    zotero_api_url: str = setting(
        "ZOTERO_API_URL",
        "",
        "address of Zotero's API: empty for zotero.org, http://127.0.0.1:23119/api for a Zotero that runs here",
    )
    zotero_library_id: str = setting(
        "ZOTERO_LIBRARY_ID", "", "number of the library at Zotero: the user's, or the group's"
    )
    zotero_library_type: Literal["user", "group"] = setting(
        "ZOTERO_LIBRARY_TYPE", "user", "user or group: whose number ZOTERO_LIBRARY_ID is"
    )
    zotero_api_key: str = setting(
        "ZOTERO_API_KEY",
        "",
        "key of zotero.org that may read the library; or its place on AWS: secretsmanager:NAME or ssm:NAME",
        secret=True,
    )
    zotero_data_dir: str = setting(
        "ZOTERO_DATA_DIR",
        "",
        "Zotero's data directory: its database is read where no address or key is given, its files also by a Zotero "
        "that runs here",
    )
    zotero_linked_dir: str = setting(
        "ZOTERO_LINKED_DIR", "", "folder below which files that are linked in Zotero are read; empty: no such file is"
    )

    cache: Literal["on", "off"] = setting(
        "BIO_MCP_CACHE", "on", "on: NCBI's answers to the live tools are cached; off: NCBI is always asked"
    )
    cache_records_s: int = setting(
        "BIO_MCP_CACHE_RECORDS_S",
        21_600,
        "seconds that a record, summary or full text is cached, hence how late a retraction may be seen; 0: not at all",
    )
    cache_searches_s: int = setting(
        "BIO_MCP_CACHE_SEARCHES_S", 300, "seconds that the result of a search is cached; 0: not at all"
    )
    cache_links_s: int = setting(
        "BIO_MCP_CACHE_LINKS_S",
        86_400,
        "seconds that related articles, headings, ids and matches are cached; 0: not at all",
    )
    cache_info_s: int = setting(
        "BIO_MCP_CACHE_INFO_S", 3_600, "seconds that PubMed's description of itself is cached; 0: not at all"
    )
    cache_mb: int = setting(
        "BIO_MCP_CACHE_MB", 256, "megabytes of the embedded mode's cache.sqlite3, which may be deleted at any time"
    )

    calls_days: int = setting(
        "BIO_MCP_CALLS_DAYS",
        30,
        "days that calls are stored with their arguments, for `bio-mcp replay` to repeat them; 0: no call is stored",
    )
    calls_mb: int = setting(
        "BIO_MCP_CALLS_MB", 128, "megabytes of the embedded mode's calls.sqlite3, which may be deleted at any time"
    )

    parse_seconds: int = setting(
        "BIO_MCP_PARSE_SECONDS",
        1_800,
        "seconds that reading one file may take, recognition of its scanned pages included",
    )
    parse_memory_mb: int = setting("BIO_MCP_PARSE_MEMORY_MB", 1_024, "megabytes of memory that reading a file may take")
    parse_pages: int = setting("BIO_MCP_PARSE_PAGES", 2_000, "pages of the longest PDF that is read")
    tesseract: str = setting("BIO_MCP_TESSERACT", "tesseract", "program that recognises text in scanned pages")
    ingest_roots: tuple[str, ...] = setting(
        "BIO_MCP_INGEST_ROOTS",
        (),
        "folders below which a client over HTTP may name files to ingest; the command line and stdio may read whatever "
        "their user may",
    )
    ingest_hosts: tuple[str, ...] = setting(
        "BIO_MCP_INGEST_HOSTS",
        (),
        "hosts that documents may be fetched from over https: name, name:port, or *.name for all below it; those of "
        "private addresses are refused",
    )
    ingest_buckets: tuple[str, ...] = setting(
        "BIO_MCP_INGEST_BUCKETS", (), "S3 buckets that documents may be read from"
    )

    eval_baseline: str = setting(
        "BIO_MCP_EVAL_BASELINE",
        "",
        "file of figures that `bio-mcp eval run` compares its own with, to fail where one is worse; empty: none",
    )

    http_host: str = setting("MCP_HTTP_HOST", "127.0.0.1", "address that `serve` listens on")
    http_port: int = setting("MCP_HTTP_PORT", 3010, "port that `serve` listens on")
    allowed_hosts: tuple[str, ...] = setting(
        "MCP_ALLOWED_HOSTS",
        (),
        "Host headers accepted besides loopback's and MCP_RESOURCE_URL's: name, name:port or name:* for any port; a "
        "leading *. stands for one label or more",
    )
    allowed_origins: tuple[str, ...] = setting(
        "MCP_ALLOWED_ORIGINS",
        (),
        "Origins of browsers that may call; loopback's may as well, where only loopback is served",
    )
    resource_url: str = setting(
        "MCP_RESOURCE_URL",
        "",
        "public URL of the endpoint, such as https://mcp.example.org/mcp; tokens are made for it",
    )
    auth_secret: str = setting(
        "MCP_AUTH_SECRET_KEY",
        "",
        "secret of HS256 access tokens, at least 32 random bytes; without it or MCP_AUTH_JWKS_URL only this machine "
        "is served; or its place on AWS, read again as it rotates: secretsmanager:NAME or ssm:NAME",
        secret=True,
    )
    auth_jwks_url: str = setting(
        "MCP_AUTH_JWKS_URL", "", "https address of the issuer's public keys, for RS256 access tokens instead"
    )
    auth_issuer: str = setting(
        "MCP_AUTH_ISSUER", "", "issuer (iss) that a token must name; HS256 tokens need none while this is empty"
    )
    auth_audience: str = setting(
        "MCP_AUTH_AUDIENCE", "", "audience (aud) that a token must name; empty: MCP_RESOURCE_URL, or else bio-mcp"
    )
    auth_scopes: tuple[str, ...] = setting(
        "MCP_AUTH_REQUIRED_SCOPES",
        (),
        "scopes that a token must carry, all of them; with bio:read among them, no token writes that does not say so",
    )
    auth_default_scopes: tuple[str, ...] = setting(
        "MCP_AUTH_DEFAULT_SCOPES",
        ("read", "live", "sync", "ingest"),
        "what a token may do that names none of read, live, sync, ingest and admin",
    )
    auth_read_scope: str = setting(
        "MCP_AUTH_READ_SCOPE", "bio:read", "another issuer's name for the scopes read and live together"
    )
    auth_write_scope: str = setting(
        "MCP_AUTH_WRITE_SCOPE", "bio:write", "another issuer's name for all scopes together"
    )
    public_read: Literal["on", "off"] = setting(
        "BIO_MCP_PUBLIC_READ",
        "off",
        "on: whoever reaches the endpoint may search and read papers and the graph without a token; projects stay "
        "closed, but those of the tenant public",
    )
    calls_per_minute: int = setting(
        "MCP_CALLS_PER_MINUTE",
        1_200,
        "requests a minute, also all at once, that a token's subject, or an address without one, may make of each "
        "process; 0: without a limit",
    )
    http_workers: int = setting(
        "MCP_HTTP_WORKERS", 0, "processes that `serve` answers with, some 300 MB each; 0: one per core, four at most"
    )
    max_request_kb: int = setting(
        "MCP_MAX_REQUEST_KB", 5_000, "kilobytes of the largest HTTP request that is read; a longer one is answered 413"
    )
    tool_names: Literal["portable", "contract"] = setting(
        "BIO_MCP_TOOL_NAMES", "portable", "names that tools/list shows: portable or contract"
    )
    listed_tools: tuple[str, ...] = setting(
        "BIO_MCP_TOOLS",
        ("default",),
        "what tools/list shows: default, all, families (rag, pubmed, projects, review, ttm) and single tools, mixed; a "
        "client may ask for others by ?tools=",
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "MCP_LOG_LEVEL", "info", "debug, info, warning or error"
    )
    otlp_endpoint: str = setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "",
        "address of an OpenTelemetry collector (OTLP over HTTP, such as http://localhost:4318) for spans and durations "
        "of MCP requests, if the extra otel is installed",
    )

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> "Settings":
        """Read the environment; variables that are unset or empty leave the default.

        Raises `Misconfigured`, which names the variable, for a value that cannot be read.
        """
        given = {each.name: value_of(each, text) for each in fields(cls) if (text := text_of(each, env))}
        return cls(**given)

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
        env, meaning = field.metadata["env"], field.metadata["meaning"]
        raise Misconfigured(f"{env} is not set; mode {self.mode} takes it: {meaning}")

    def function(self, module: str) -> str:
        """Name or ARN of the Lambda function of the tools in `module`. Raises `Misconfigured` when none is named."""
        named = {name.strip(): value.strip() for name, _, value in (each.partition("=") for each in self.functions)}
        if function := named.get(module):
            return function
        raise Misconfigured(f"BIO_MCP_FUNCTIONS names no function for {module}; it takes {module}=NAME among others")

"""The settings of mode aws: names of tables, queues and services."""

from dataclasses import dataclass
from typing import Literal

from bio_mcp.setting_fields import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsSettings:
    """A part of `Settings`."""

    table_documents: str = setting("BIO_MCP_TABLE_DOCUMENTS", "", "DynamoDB table of the papers", mode="aws")
    table_checkpoints: str = setting("BIO_MCP_TABLE_CHECKPOINTS", "", "DynamoDB table of the watermarks", mode="aws")
    table_jobs: str = setting("BIO_MCP_TABLE_JOBS", "", "DynamoDB table of the jobs and their cursors", mode="aws")
    table_news: str = setting("BIO_MCP_TABLE_NEWS", "", "DynamoDB table of what queries found", mode="aws")
    table_leases: str = setting("BIO_MCP_TABLE_LEASES", "", "DynamoDB table of who works on what", mode="aws")
    table_audit: str = setting("BIO_MCP_TABLE_AUDIT", "", "DynamoDB table of the changes made by hand", mode="aws")
    table_pace: str = setting("BIO_MCP_TABLE_PACE", "", "DynamoDB table of the turns at NCBI", mode="aws")
    table_cache: str = setting("BIO_MCP_TABLE_CACHE", "", "DynamoDB table of NCBI's cached answers", mode="aws")
    table_projects: str = setting("BIO_MCP_TABLE_PROJECTS", "", "DynamoDB table of the projects", mode="aws")
    table_project_documents: str = setting(
        "BIO_MCP_TABLE_PROJECT_DOCUMENTS", "", "DynamoDB table of the documents of projects", mode="aws"
    )
    table_graph: str = setting("BIO_MCP_TABLE_GRAPH", "", "DynamoDB table of the graph", mode="aws")
    table_answers: str = setting("BIO_MCP_TABLE_ANSWERS", "", "DynamoDB table of the answers given", mode="aws")
    table_screenings: str = setting(
        "BIO_MCP_TABLE_SCREENINGS", "", "DynamoDB table of the records and decisions of reviews", mode="aws"
    )
    table_calls: str = setting("BIO_MCP_TABLE_CALLS", "", "DynamoDB table of the log of calls", mode="aws")
    table_authorizations: str = setting(
        "BIO_MCP_TABLE_AUTHORIZATIONS", "", "DynamoDB table of who signed in and which clients may call", mode="aws"
    )
    table_budgets: str = setting(
        "BIO_MCP_TABLE_BUDGETS", "", "DynamoDB table of what callers and tenants have used", mode="aws"
    )
    queue_url: str = setting("BIO_MCP_QUEUE_URL", "", "URL of the SQS queue of calls to be made later", mode="aws")
    ingest_queue_url: str = setting(
        "BIO_MCP_INGEST_QUEUE_URL",
        "",
        "URL of the SQS queue of files in the inbox and of the rest of long ingests; empty: there is one queue for all",
        mode="aws",
    )
    evaluate_queue_url: str = setting(
        "BIO_MCP_EVALUATE_QUEUE_URL",
        "",
        "URL of the SQS queue of the rest of long evaluations; empty: there is one queue for all",
        mode="aws",
    )
    export_queue_url: str = setting(
        "BIO_MCP_EXPORT_QUEUE_URL",
        "",
        "URL of the SQS queue of the rest of long exports; empty: there is one queue for all",
        mode="aws",
    )
    load_machine: str = setting(
        "BIO_MCP_LOAD_MACHINE",
        "",
        "ARN of the state machine that takes the steps of bulk loads, which a stack with LoadsAtOnce has",
        mode="aws",
    )
    bucket: str = setting(
        "BIO_MCP_BUCKET",
        "",
        "S3 bucket of what is too large for a table, and of the inbox",
        mode="aws",
    )
    event_bus: str = setting("BIO_MCP_EVENT_BUS", "", "EventBridge bus that receives changes of the corpus", mode="aws")
    index_tier: Literal["opensearch", "s3"] = setting(
        "BIO_MCP_INDEX_TIER",
        "opensearch",
        "where passages are searched: in an OpenSearch, or by each process itself, in a copy of the index that "
        "BIO_MCP_BUCKET has",
        mode="aws",
    )
    index_refresh_s: int = setting(
        "BIO_MCP_INDEX_REFRESH_S", 10, "seconds after which a copy of the index looks for what is new", mode="aws"
    )
    index_limit_mb: int = setting(
        "BIO_MCP_INDEX_LIMIT_MB", 300, "megabytes that an index in S3 may have, some 25,000 papers", mode="aws"
    )
    opensearch_url: str = setting(
        "BIO_MCP_OPENSEARCH_URL",
        "",
        "https address of the OpenSearch endpoint; in the embedded mode of a node that has the index, "
        "in place of this machine's memory",
    )
    opensearch_service: Literal["es", "aoss", "none"] = setting(
        "BIO_MCP_OPENSEARCH_SERVICE",
        "es",
        "what requests to OpenSearch are signed for: es (a domain), aoss (Serverless) or none (a node of one's own)",
    )
    opensearch_shards: int = setting(
        "BIO_MCP_OPENSEARCH_SHARDS",
        1,
        "shards of the index where OpenSearch makes a new one; one for each 500,000 papers",
    )
    opensearch_vectors: Literal["float", "byte", "paper"] = setting(
        "BIO_MCP_OPENSEARCH_VECTORS",
        "float",
        "vectors that a new index in OpenSearch holds in memory: float, byte (a quarter) or paper (one a paper); "
        "found papers are scored by all vectors, whichever it is",
    )
    functions: tuple[str, ...] = setting(
        "BIO_MCP_FUNCTIONS",
        (),
        "Lambda functions that the MCP endpoint calls, as search=NAME,get_doc=NAME, ... with a name or ARN for each "
        "module of tools; empty: it runs the tools in its own process",
    )
    metrics: str = setting(
        "BIO_MCP_METRICS", "", "CloudWatch namespace of the metrics of calls; empty: none are recorded", mode="aws"
    )
    heartbeat_url: str = setting(
        "BIO_MCP_HEARTBEAT_URL",
        "",
        "URL of the endpoint that the heartbeat's function speaks to; empty: MCP_RESOURCE_URL",
        mode="aws",
    )
    initialization: str = setting(
        "AWS_LAMBDA_INITIALIZATION_TYPE",
        "",
        "set by Lambda; snap-start: a snapshot is made of the function at its start",
    )

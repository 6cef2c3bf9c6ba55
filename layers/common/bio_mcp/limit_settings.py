"""The settings of what callers may use."""

from dataclasses import dataclass

from bio_mcp.setting_fields import setting
from bio_mcp.source_settings import SourceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings(SourceSettings):
    """A part of `Settings`."""

    caller_budgets: tuple[str, ...] = setting(
        "BIO_MCP_CALLER_BUDGETS",
        ("calls=100", "ncbi=20000", "sources=10000", "embeddings=1000000", "model_tokens=1000000"),
        "what a token's subject may use: calls a second; requests to NCBI (ncbi) and to the services of "
        "BIO_MCP_SOURCES (sources), embedded texts (embeddings) and tokens of the language model (model_tokens) a day; "
        "NAME:ncbi=5000 for one subject; a unit that is not named is not limited, and with none nothing is",
    )
    tenant_budgets: tuple[str, ...] = setting(
        "BIO_MCP_TENANT_BUDGETS",
        ("public:calls=20", "public:embeddings=100000"),
        "the same of all callers of a tenant together; public is the tenant of those who read without a token",
    )
    address_budgets: tuple[str, ...] = setting(
        "BIO_MCP_ADDRESS_BUDGETS",
        ("calls=5", "embeddings=2000", "model_tokens=0"),
        "the same of each address that reads without a token",
    )
    sync_max_records: int = setting(
        "BIO_MCP_SYNC_MAX_RECORDS",
        50_000,
        "records that PubMed may have for a new sync before it asks for confirmation, by max_records; 0: never asks",
    )

"""What callers may use, from the settings."""

import re
from collections.abc import Mapping, Sequence

from bio_mcp.errors import Misconfigured
from bio_mcp.metering import PERIOD_S, Limits
from bio_mcp.ports.budgets import Budgets
from bio_mcp.settings import Settings

ENTRY = re.compile(rf"(?:.+:)?(?:{'|'.join(PERIOD_S)})=[0-9]+")
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
            units = ", ".join(PERIOD_S)
            raise Misconfigured(
                f"{name} holds {entry!r}; it takes none, or UNIT=NUMBER and NAME:UNIT=NUMBER of {units}"
            )
    return {key: int(number) for key, _, number in (entry.rpartition("=") for entry in entries)}

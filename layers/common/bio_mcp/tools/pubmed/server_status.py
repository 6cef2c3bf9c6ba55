"""Status of this server, its connection to NCBI, and PubMed's own statistics."""

import re
from datetime import datetime

from pydantic import Field

from bio_mcp import __version__
from bio_mcp.literature.clock import instant, utc
from bio_mcp.literature.eutils import request_url
from bio_mcp.ports.pubmed import ConnectionStatus, EntrezDatabase
from bio_mcp.tool import Response

MCP_VERSION = "2026-07-28"  # the newest revision that the doors speak


class NcbiCompliance(Response):
    """How requests identify themselves to NCBI, and at which rate."""

    apiUsageStatus: str
    toolIdentifier: str
    ncbiUsagePolicyUrl: str
    currentRateLimitAdherence: str


class OperationalStatus(Response):
    """Connection to NCBI, as the last request ended.

    `ncbiStatus` is Nominal, Failing or Unknown (nothing asked yet); `budgetLeft` is the requests left in this second.
    """

    lastNcbiConnectivityCheck: str | None
    ncbiStatus: str
    internalQueueLength: int
    budgetLeft: int | None
    lastSuccess: str | None
    lastFailure: str | None


class ServerStatus(Response):
    """This server and its connection to NCBI."""

    serverName: str
    serverVersion: str
    description: str
    contactEmail: str | None
    mcpSpecVersion: str
    ncbiCompliance: NcbiCompliance
    supportedEutilities: list[str]
    operationalStatus: OperationalStatus
    documentationUrl: str


class AvailableField(Response):
    """A search field of PubMed; `name` is its tag."""

    name: str
    fullName: str
    description: str
    isDate: bool
    isNumerical: bool
    termCount: str | None
    isHidden: bool


class AvailableLink(Response):
    """A kind of link from PubMed records to a database."""

    name: str
    description: str
    dbTo: str


class PubmedStatistics(Response):
    """PubMed as EInfo describes it; `lastUpdate` is ISO 8601 UTC."""

    databaseName: str
    menuName: str = ""
    description: str
    totalRecordCount: int = Field(ge=0)
    lastUpdate: str
    availableSearchFields: list[AvailableField]
    availableLinkNames: list[AvailableLink]
    eInfoUrl: str


def describe_server(contact: ConnectionStatus) -> ServerStatus:
    """Describe the server and its connection to NCBI; asks nobody."""
    key = "with API key" if contact.keyed else "without API key"
    return ServerStatus(
        serverName="bio-mcp",
        serverVersion=__version__,
        description="Biomedical literature over MCP: PubMed live by NCBI's E-utilities, and a corpus of one's own.",
        contactEmail=contact.email,
        mcpSpecVersion=MCP_VERSION,
        ncbiCompliance=NcbiCompliance(
            apiUsageStatus="NCBI API Key in use" if contact.keyed else "no NCBI API key: 3 requests/sec",
            toolIdentifier=contact.tool,
            ncbiUsagePolicyUrl="https://www.ncbi.nlm.nih.gov/books/NBK25497/",
            currentRateLimitAdherence=f"Targeting <{contact.limit} requests/sec ({key}) via request queuing.",
        ),
        supportedEutilities=["ESearch", "EFetch", "ESummary", "ELink", "EInfo", "ESpell"],
        operationalStatus=_operational(contact),
        documentationUrl="docs/tools.md",
    )


def _operational(contact: ConnectionStatus) -> OperationalStatus:
    """The connection's status: Failing when the last request failed, Unknown before the first."""
    status = "Unknown" if contact.last is None else "Nominal" if contact.last == contact.answered else "Failing"
    return OperationalStatus(
        lastNcbiConnectivityCheck=_instant(contact.last),
        ncbiStatus=status,
        internalQueueLength=contact.waiting,
        budgetLeft=contact.left,
        lastSuccess=_instant(contact.answered),
        lastFailure=_instant(contact.failed),
    )


def _instant(moment: datetime | None) -> str | None:
    return instant(moment) if moment else None


def statistics(database: EntrezDatabase) -> PubmedStatistics:
    """Translate EInfo's description of PubMed to the contract."""
    return PubmedStatistics(
        databaseName="PubMed" if database.name == "pubmed" else database.name,
        menuName=database.menu_name,
        description=database.description,
        totalRecordCount=database.count,
        lastUpdate=_updated(database.last_update),
        availableSearchFields=[
            AvailableField(
                name=field.name,
                fullName=field.full_name,
                description=field.description,
                isDate=field.is_date,
                isNumerical=field.is_numerical,
                termCount=None if field.terms is None else str(field.terms),
                isHidden=field.is_hidden,
            )
            for field in database.fields
        ],
        availableLinkNames=[
            AvailableLink(name=link.name, description=link.description, dbTo=link.db_to) for link in database.links
        ],
        eInfoUrl=request_url("einfo", db="pubmed"),
    )


def _updated(printed: str) -> str:
    """Convert "2025/06/25 07:12", US Eastern, to ISO 8601 UTC; other forms are returned as printed."""
    match = re.fullmatch(r"(\d{4})/(\d\d)/(\d\d)(?: (\d\d:\d\d))?", printed.strip())
    return utc("-".join(match.groups()[:3]) + (f"T{match[4]}" if match[4] else "")) if match else printed

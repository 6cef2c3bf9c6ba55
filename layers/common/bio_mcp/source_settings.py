"""The settings of services about papers beside NCBI."""

from dataclasses import dataclass

from bio_mcp.language_model_settings import LanguageModelSettings
from bio_mcp.setting_fields import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings(LanguageModelSettings):
    """A part of `Settings`."""

    literature_sources: tuple[str, ...] = setting(
        "BIO_MCP_SOURCES",
        ("icite", "crossref", "europepmc", "unpaywall"),
        "services beside NCBI that tools may ask, each by tools alone that name it: icite, crossref, europepmc, "
        "unpaywall; none: no service",
    )
    sources_email: str = setting(
        "BIO_MCP_SOURCES_EMAIL",
        "",
        "e-mail that goes with each request to Crossref, which is then faster, and to Unpaywall, which is not asked "
        "without one",
    )
    icite_url: str = setting("BIO_MCP_ICITE_URL", "https://icite.od.nih.gov/api", "address of NIH iCite's API")
    crossref_url: str = setting("BIO_MCP_CROSSREF_URL", "https://api.crossref.org", "address of Crossref's REST API")
    europe_pmc_url: str = setting(
        "BIO_MCP_EUROPE_PMC_URL",
        "https://www.ebi.ac.uk/europepmc/webservices/rest",
        "address of Europe PMC's REST API",
    )
    unpaywall_url: str = setting("BIO_MCP_UNPAYWALL_URL", "https://api.unpaywall.org/v2", "address of Unpaywall's API")

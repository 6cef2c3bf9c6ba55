"""The settings of services about papers beside NCBI."""

from dataclasses import dataclass

from bio_mcp.language_model_settings import LanguageModelSettings
from bio_mcp.setting_fields import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings(LanguageModelSettings):
    """A part of `Settings`."""

    literature_sources: tuple[str, ...] = setting(
        "BIO_MCP_SOURCES",
        ("icite", "crossref"),
        "services beside NCBI that tools may ask, each by tools alone that name it: icite, crossref; none: no service",
    )
    sources_email: str = setting(
        "BIO_MCP_SOURCES_EMAIL",
        "",
        "e-mail that these services may write to; it goes with each request to Crossref, which is then faster",
    )
    icite_url: str = setting("BIO_MCP_ICITE_URL", "https://icite.od.nih.gov/api", "address of NIH iCite's API")
    crossref_url: str = setting("BIO_MCP_CROSSREF_URL", "https://api.crossref.org", "address of Crossref's REST API")

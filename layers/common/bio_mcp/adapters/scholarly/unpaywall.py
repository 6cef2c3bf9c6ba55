"""Unpaywall's API, version 2: where legal copies are, by DOI."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from bio_mcp.adapters.scholarly.fields import objects, text
from bio_mcp.adapters.scholarly.rest import RestApi
from bio_mcp.deadline import Deadline
from bio_mcp.ports.open_access import Copies, Copy


class Unpaywall:
    """The port `OpenAccess`."""

    def __init__(self, api: RestApi) -> None:
        self._api = api

    def copies(self, doi: str, *, deadline: Deadline) -> Copies:
        answer = self._api.json(_path(doi), deadline=deadline, check=self._check)
        listed = [*objects([answer.get("best_oa_location")]), *objects(answer.get("oa_locations"))]
        return Copies(doi, text(answer.get("title")), tuple(dict.fromkeys(filter(None, map(_copy, listed)))))

    def _check(self, answer: Mapping[str, Any]) -> None:
        if not isinstance(answer.get("is_oa"), bool):
            raise self._api.unreadable()


def _path(doi: str) -> str:
    """The DOI as a path; its dots are kept from leading to another one, where the e-mail would be sent, too."""
    whole = quote(doi, safe="/", errors="replace")
    return "/".join(each.replace(".", "%2E") if each in (".", "..") else each for each in whole.split("/"))


def _copy(location: Mapping[str, Any]) -> Copy | None:
    """The copy; None where no address of the web names it."""
    pdf, page = _address(location.get("url_for_pdf")), _address(location.get("url_for_landing_page"))
    if not (url := page or _address(location.get("url")) or pdf):
        return None
    return Copy(
        url=url,
        pdf_url=pdf,
        version=text(location.get("version")),
        host=text(location.get("host_type")),
        licence=text(location.get("license")),
    )


def _address(value: Any) -> str | None:
    try:
        parts = urlsplit(text(value))
    except ValueError:
        return None
    return parts.geturl() if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc else None

"""The public addresses of NCBI's E-utilities."""

from urllib.parse import urlencode

EUTILS_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"


def request_url(utility: str, **params: str | int) -> str:
    """Return the address at which anybody can repeat a request: without key, e-mail and tool."""
    return f"{EUTILS_URL}{utility}.fcgi?{urlencode(params, safe=',')}"

"""PMID, PMCID and DOI in the spellings that people and programs use, to the one that is stored and compared."""

import re
from urllib.parse import unquote

from bio_mcp.errors import InvalidInput

_PMID = re.compile(
    r"(?:pmid[:\s]\s*|pubmed[:\s]\s*|paper://pmid/|https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)?"
    r"([1-9][0-9]{0,8})(?:v[0-9]{1,2})?/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID = re.compile(
    r"(?:pmcid[:\s]\s*|https?://(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc)/articles/)?"
    r"PMC([1-9][0-9]{0,8})(?:\.[0-9]{1,2})?/?",
    re.IGNORECASE | re.ASCII,
)
_DOI_PREFIX = re.compile(r"(?:doi:?\s*|info:doi/|https?://(?:dx\.|www\.)?doi\.org/)+", re.IGNORECASE | re.ASCII)
_DOI = re.compile(r"10\.[0-9]{3,9}(?:\.[0-9]+)*/[^\s\x00-\x1f]+")
_LONGEST_DOI = 512


def pmid(text: str) -> str:
    """`384001`, `pmid:384001`, `PMID: 384001` or a PubMed address -> `384001`. Raises `InvalidInput`.

    At most nine digits without a leading zero: NLM has numbered PubMed to eight so far.
    """
    found = _PMID.fullmatch(text.strip())
    if not found:
        raise InvalidInput('Not a PMID: give up to nine digits without a leading zero, such as "pmid:384001".')
    return found[1]


def pmcid(text: str) -> str:
    """`pmc6108041`, `PMCID: PMC6108041` or an address in PMC -> `PMC6108041`, its version left out."""
    found = _PMCID.fullmatch(text.strip())
    if not found:
        raise InvalidInput('Not a PMCID: give "PMC" and digits, such as "PMC6108041".')
    return f"PMC{found[1]}"


def doi(text: str) -> str:
    """A DOI, bare, prefixed or as its resolver's address -> lower case, as DOIs compare without case."""
    stripped = text.strip()
    address = _DOI_PREFIX.match(stripped)
    bare = stripped[address.end() :] if address else stripped
    if address and "/" in address[0]:
        bare = unquote(bare)
    if len(bare) > _LONGEST_DOI or not _DOI.fullmatch(bare):
        raise InvalidInput('Not a DOI: it starts with "10.", such as "10.1056/NEJMoa2034577".')
    return bare.lower()

"""Normalise PMID, PMCID and DOI from the spellings that people and programs use."""

import re
from urllib.parse import unquote

from bio_mcp.errors import InvalidInput

_BARE_PMID = re.compile(r"0*([1-9][0-9]{0,8})", re.ASCII)
_PMID = re.compile(
    r"(?:pmid[:\s]\s*|pubmed[:\s]\s*|paper://pmid/|https?://(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)?"
    r"([0-9]+)(?:v[0-9]{1,2})?/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID = re.compile(
    r"(?:pmcid[:\s]\s*|https?://(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc)/articles/)?"
    r"PMC([1-9][0-9]{0,8})(?:\.[0-9]{1,2})?/?",
    re.IGNORECASE | re.ASCII,
)
_PREPRINT = re.compile(
    r"(?:https?://(?:www\.)?europepmc\.org/article/)?(?:PPR[/:])?PPR([1-9][0-9]{0,11})", re.IGNORECASE | re.ASCII
)
_DOI_PREFIX = re.compile(r"(?:doi:?\s*|info:doi/|https?://(?:dx\.|www\.)?doi\.org/)+", re.IGNORECASE | re.ASCII)
_DOI = re.compile(r"10\.[0-9]{3,9}(?:\.[0-9]+)*/[^\s\x00-\x1f]+")
_LONGEST_DOI = 512


def bare_pmid(text: str) -> str:
    """Normalise the digits of a PMID: `0384001` to `384001`.

    A PMID has at most nine digits, leading zeros aside; NLM has numbered PubMed to eight digits so far. Raises
    `InvalidInput` for anything else, so for a prefix and for spaces.
    """
    match = _BARE_PMID.fullmatch(text)
    if not match:
        raise InvalidInput(f"{text[:40]!r} is not a PMID; a PMID is digits only, at most nine, for example 384001")
    return match[1]


def is_pmid(text: str) -> bool:
    """Whether `text` is a PMID in its normal form, as it is stored and compared."""
    match = _BARE_PMID.fullmatch(text)
    return match is not None and match[1] == text


def parse_pmid(text: str) -> str:
    """Normalise `384001`, `pmid:384001`, `PMID: 384001` or a PubMed address to `384001`, by the rule of `bare_pmid`.

    A version suffix (`384001v2`) is dropped. Raises `InvalidInput`.
    """
    match = _PMID.fullmatch(text.strip())
    return bare_pmid(match[1] if match else text)


def pmcid(text: str) -> str:
    """Normalise `pmc6108041`, `PMCID: PMC6108041` or an address in PMC to `PMC6108041`.

    A version (`PMC6108041.2`) is dropped. Raises `InvalidInput`.
    """
    match = _PMCID.fullmatch(text.strip())
    if not match:
        raise InvalidInput('Not a PMCID: give "PMC" and digits, such as "PMC6108041".')
    return f"PMC{match[1]}"


def doi(text: str) -> str:
    """Normalise a DOI to lower case without a prefix or resolver address, since DOIs compare without case.

    Percent-encoding is undone in addresses only; a bare DOI may hold a literal `%`. Raises `InvalidInput` for text that
    is no DOI, or one of more than 512 characters.
    """
    stripped = text.strip()
    address = _DOI_PREFIX.match(stripped)
    bare = stripped[address.end() :] if address else stripped
    if address and "/" in address[0]:
        bare = unquote(bare)
    if len(bare) > _LONGEST_DOI or not _DOI.fullmatch(bare):
        raise InvalidInput('Not a DOI: it starts with "10.", such as "10.1056/NEJMoa2034577".')
    return bare.lower()


def preprint_id(text: str) -> str | None:
    """Normalise a preprint's id in Europe PMC, `ppr204727` or `PPR/PPR204727`, to `PPR204727`; None for other text."""
    match = _PREPRINT.fullmatch(text.strip())
    return f"PPR{match[1]}" if match else None

"""Identifiers of papers and trials: their normal form, and the public addresses that they have."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import quote, unquote, urlencode

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.records import Article

LONGEST_PMID = 9  # digits
_BARE_PMID = re.compile(rf"0*([1-9][0-9]{{0,{LONGEST_PMID - 1}}})", re.ASCII)
_PMID = re.compile(
    r"(?:(?:pmid|pubmed)[:\s]\s*)?([0-9]+)(?:v[0-9]{1,2})?"
    r"|(?:paper://pmid/|(?:https?://)?(?:www\.)?(?:europepmc\.org/(?:article|abstract)/MED/|"
    r"(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/(?:\?term=)?))"
    r"([0-9]+)(?:v[0-9]{1,2})?/?(?:[?#&]\S{0,200})?",
    re.IGNORECASE | re.ASCII,
)
_PMCID = re.compile(
    r"(?:pmcid[:\s]\s*)?PMC ?([1-9][0-9]{0,8})(?:\.[0-9]{1,2})?"
    r"|(?:https?://)?(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc)/articles/"
    r"PMC([1-9][0-9]{0,8})(?:\.[0-9]{1,2})?/?(?:[?#&]\S{0,200})?",
    re.IGNORECASE | re.ASCII,
)
_PREPRINT = re.compile(
    r"(?:https?://(?:www\.)?europepmc\.org/article/)?(?:PPR[/:])?PPR([1-9][0-9]{0,11})", re.IGNORECASE | re.ASCII
)
_DOI_PREFIX = re.compile(r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:?\s*|info:doi/)+", re.IGNORECASE | re.ASCII)
_DOI = re.compile(r"10\.[0-9]{3,9}(?:\.[0-9]+)*/[^\s\x00-\x1f]+")
_LONGEST_DOI = 512
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


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
    return bare_pmid(match[1] or match[2] if match else text)


def pmcid(text: str) -> str:
    """Normalise `pmc6108041`, `PMCID: PMC6108041` or an address in PMC to `PMC6108041`.

    A version (`PMC6108041.2`) is dropped. Raises `InvalidInput`.
    """
    match = _PMCID.fullmatch(text.strip())
    if not match:
        raise InvalidInput('Not a PMCID: give "PMC" and digits, such as "PMC6108041".')
    return f"PMC{match[1] or match[2]}"


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


def normal(parse: Callable[[str], str], text: object) -> str | None:
    """The id in its normal form, by one of the functions above; None for what is none."""
    try:
        return parse(str(text)) if text else None
    except InvalidInput:
        return None


def paper_identifiers(article: Article) -> list[str]:
    """The paper's `doi:10.1/x` and `pmcid:PMC1`, normalised; what a record gives that is neither is left out."""
    found = (("doi", normal(doi, article.doi)), ("pmcid", normal(pmcid, article.pmcid)))
    return [f"{kind}:{number}" for kind, number in found if number]


def year_in(text: str) -> str:
    """The first year in `text`; "" without one."""
    found = _YEAR.search(text)
    return found[1] if found else ""


def pubmed_page(pmid: str) -> str:
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def pmc_page(pmcid: str) -> str:
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"


def doi_page(doi: str) -> str:
    return f"https://doi.org/{doi}"


def europe_pmc_page(source: str, number: str) -> str:
    return f"https://europepmc.org/article/{source}/{number}"


EUTILS_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"


def request_url(base: str, utility: str, **params: str | int) -> str:
    """Return the address at which anybody can repeat a request to the server at `base`: without key, e-mail and
    tool."""
    return f"{base}{utility}.fcgi?{urlencode(params, safe=',')}"


_NUMBER = re.compile(r"[A-Za-z]{0,12}[-A-Za-z0-9/._]{3,40}", re.ASCII)
_ICTRP = "https://trialsearch.who.int/Trial2.aspx?TrialID={}"  # WHO's portal, which has every primary registry
# By the name that NLM gives the databank. Of databanks, these are the registries of trials.
_REGISTRIES: Mapping[str, str] = MappingProxyType(
    {
        "ClinicalTrials.gov": "https://clinicaltrials.gov/study/{}",
        "ISRCTN": "https://www.isrctn.com/{}",
        "EudraCT": "https://www.clinicaltrialsregister.eu/ctr-search/search?query=eudract_number:{}",
        "ANZCTR": "https://www.anzctr.org.au/{}.aspx",
        "DRKS": "https://drks.de/search/en/trial/{}",
        **dict.fromkeys(
            "ChiCTR CRiS CTRI IRCT JapicCTI JMACCT JPRN NTR PACTR RBR ReBec REPEC RPCEC SLCTR TCTR".split(), _ICTRP
        ),
        "UMIN CTR": _ICTRP,
    }
)


def registrations(article: Article) -> list[dict[str, str]]:
    """The trials that the record names, each once, in its order: `registry`, `number` ("NCT01234567") and `url`.

    Numbers of no known form are left out.
    """
    found: list[dict[str, str]] = []
    for bank in article.databanks:
        address = _REGISTRIES.get(bank.name)
        for accession in bank.accessions:
            number = "".join(accession.split())  # some records have spaces in it
            if address and _NUMBER.fullmatch(number) and any(each.isdigit() for each in number):
                trial = {"registry": bank.name, "number": number, "url": address.format(quote(number, safe=""))}
                found += [trial] if trial not in found else []
    return found

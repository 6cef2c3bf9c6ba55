"""Registrations of clinical trials that a record carries, and where each is read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from bio_mcp.literature.records import Article

Address = Callable[[str], str]
_NUMBER = re.compile(r"[A-Za-z]{0,12}[-A-Za-z0-9/._]{3,40}", re.ASCII)


def _at(base: str, rest: str = "") -> Address:
    return lambda number: f"{base}{quote(number, safe='')}{rest}"


_ICTRP = _at("https://trialsearch.who.int/Trial2.aspx?TrialID=")  # WHO's portal, which has every primary registry

# By the name that NLM gives the databank. Of databanks, these are the registries of trials.
_REGISTRIES: Mapping[str, Address] = MappingProxyType(
    {
        "ClinicalTrials.gov": _at("https://clinicaltrials.gov/study/"),
        "ISRCTN": _at("https://www.isrctn.com/"),
        "EudraCT": _at("https://www.clinicaltrialsregister.eu/ctr-search/search?query=eudract_number:"),
        "ANZCTR": _at("https://www.anzctr.org.au/", ".aspx"),
        "DRKS": _at("https://drks.de/search/en/trial/"),
    }
    | dict.fromkeys(
        (
            *("ChiCTR", "CRiS", "CTRI", "IRCT", "JapicCTI", "JMACCT", "JPRN", "NTR", "PACTR", "RBR", "ReBec", "REPEC"),
            *("RPCEC", "SLCTR", "TCTR", "UMIN CTR"),
        ),
        _ICTRP,
    )
)


@dataclass(frozen=True, slots=True)
class Registration:
    """A trial by its registry and number ("NCT01234567"), with the address of its page."""

    registry: str
    number: str
    url: str

    @property
    def values(self) -> dict[str, str]:
        """As JSON values."""
        return {"registry": self.registry, "number": self.number, "url": self.url}


def registrations(article: Article) -> list[Registration]:
    """The trials that the record names, each once, in its order. Numbers of no known form are left out."""
    found = [
        Registration(bank.name, number, address(number))
        for bank in article.databanks
        if (address := _REGISTRIES.get(bank.name))
        for number in map(_bare, bank.accessions)
        if number
    ]
    return list(dict.fromkeys(found))


def _bare(accession: str) -> str | None:
    """The number without the spaces that some records have in it; None for what is none."""
    number = "".join(accession.split())
    return number if _NUMBER.fullmatch(number) and any(each.isdigit() for each in number) else None

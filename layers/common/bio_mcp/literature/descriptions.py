"""What a work is, as a list of references, a library, the corpus or a document describes it."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.citing.names import names, nlm
from bio_mcp.literature.records import Article


@dataclass(frozen=True, slots=True)
class Description:
    """A work, as one place knows it. `authors` are family names first ("Doe J"); ids are in their normal form."""

    title: str | None = None
    citekey: str | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    url: str | None = None
    year: int | None = None
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str | None = None

    def over(self, other: "Description") -> "Description":
        """This description, with what it lacks from `other`."""
        chosen: dict[str, Any] = {
            each.name: getattr(self, each.name) or getattr(other, each.name) for each in fields(self)
        }
        return Description(**chosen)

    @property
    def identifiers(self) -> frozenset[str]:
        """The names by which the work is known anywhere: `pmid:1`, `pmcid:PMC1`, `doi:10.1/x`, `citekey:doe2020`."""
        named = (("pmid", self.pmid), ("pmcid", self.pmcid), ("doi", self.doi), ("citekey", self.citekey))
        return frozenset(f"{kind}:{value}" for kind, value in named if value)


def of_article(article: Article) -> Description:
    """The work that PubMed has a record of."""
    return Description(
        title=article.title or article.vernacular_title,
        doi=normal(identifiers.doi, article.doi),
        pmid=article.pmid,
        pmcid=normal(identifiers.pmcid, article.pmcid),
        year=article.publication_date.year if article.publication_date else None,
        authors=tuple(map(nlm, names(article.authors))),
    )


def normal(parse: Callable[[str], str], text: object) -> str | None:
    """The id in its normal form, by one of the functions of `identifiers`; None for what is none."""
    try:
        return parse(str(text)) if text else None
    except InvalidInput:
        return None

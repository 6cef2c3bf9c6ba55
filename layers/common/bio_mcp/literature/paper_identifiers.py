"""The identifiers by which a paper is known beside its PMID."""

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.records import Article


def paper_identifiers(article: Article) -> list[str]:
    """The paper's `doi:10.1/x` and `pmcid:PMC1`, normalised; what a record gives that is neither is left out."""
    return normal_identifiers(article.doi, article.pmcid)


def normal_identifiers(doi: str | None, pmcid: str | None) -> list[str]:
    """The same, of the texts that a record has in their place."""
    found = []
    for kind, normal, text in (("doi", identifiers.doi, doi), ("pmcid", identifiers.pmcid, pmcid)):
        if not text:
            continue
        try:
            found.append(f"{kind}:{normal(text)}")
        except InvalidInput:
            continue
    return found

"""The identifiers by which a paper is known beside its PMID."""

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.records import Article


def paper_identifiers(article: Article) -> list[str]:
    """The paper's `doi:10.1/x` and `pmcid:PMC1`, normalised; what a record gives that is neither is left out."""
    found = []
    for kind, normal, text in (("doi", identifiers.doi, article.doi), ("pmcid", identifiers.pmcid, article.pmcid)):
        try:
            found.append(f"{kind}:{normal(text or '')}")
        except InvalidInput:
            continue
    return found

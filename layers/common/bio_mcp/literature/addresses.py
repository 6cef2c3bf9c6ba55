"""Public web addresses of a paper."""


def pubmed_page(pmid: str) -> str:
    """Address of the record in PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def pmc_page(pmcid: str) -> str:
    """Address of the full text in PubMed Central."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"


def doi_page(doi: str) -> str:
    """Address that resolves to the publisher's page."""
    return f"https://doi.org/{doi}"

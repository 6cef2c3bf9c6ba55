"""Public web addresses of papers and of what they name."""


def pubmed_page(pmid: str) -> str:
    """Address of the record in PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def pmc_page(pmcid: str) -> str:
    """Address of the full text in PubMed Central."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"


def doi_page(doi: str) -> str:
    """Address that resolves to the publisher's page."""
    return f"https://doi.org/{doi}"


def europe_pmc_page(source: str, number: str) -> str:
    """Address of the record in Europe PMC."""
    return f"https://europepmc.org/article/{source}/{number}"

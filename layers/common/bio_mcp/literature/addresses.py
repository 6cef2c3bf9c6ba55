"""Where anybody can read of a paper."""


def pubmed_page(pmid: str) -> str:
    """The record of a PMID at PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"


def pmc_page(pmcid: str) -> str:
    """The full text of a PMCID in PubMed Central."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"


def doi_page(doi: str) -> str:
    """What a DOI resolves to, as its publisher has it."""
    return f"https://doi.org/{doi}"

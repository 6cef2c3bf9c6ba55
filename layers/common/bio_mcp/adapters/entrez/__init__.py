"""PubMed by NCBI's E-utilities."""

"""Keeping a corpus equal to what PubMed has for a query. Works over ports only."""

"""Caching of PubMed's answers, behind any `Cache`."""

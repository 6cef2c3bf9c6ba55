"""Caching of PubMed's answers, in any `bio_mcp.cache.Cache`."""

"""Keeping PubMed's answers for a while, in any `bio_mcp.cache.Cache`."""

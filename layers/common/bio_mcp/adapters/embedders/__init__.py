"""Embedding models behind `bio_mcp.ports.Embeddings`, and how the default one is put on the machine."""

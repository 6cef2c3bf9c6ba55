"""Cross-encoders behind `bio_mcp.ports.reranking`."""

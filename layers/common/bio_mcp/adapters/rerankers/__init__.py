"""Cross-encoders behind `bio_mcp.ports.models`."""

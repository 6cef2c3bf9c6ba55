"""How a paper is found: analysis, chunks, ranking, excerpts. Pure."""

"""The graph of herbs, constituents and indications: nodes, edges, names and paths. Pure."""

"""Passages in an OpenSearch domain, or in a node of one's own."""

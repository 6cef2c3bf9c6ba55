"""Syncing: bring a corpus up to date with PubMed, from queries and from files. Works over ports only."""

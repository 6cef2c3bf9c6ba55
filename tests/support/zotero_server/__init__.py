"""Zotero for tests: a library in memory, and a server that speaks its API."""

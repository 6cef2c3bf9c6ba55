"""Zotero for tests: a library in memory, a server that speaks its API, and the database of a Zotero that holds it."""

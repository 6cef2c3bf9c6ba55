"""Bulk loads: all of PubMed from NLM's files, many at a time, as if one had been applied after the other."""

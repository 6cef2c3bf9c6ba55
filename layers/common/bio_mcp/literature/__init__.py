"""Bibliographic records: their types, identifiers, PubMed XML, citations, evidence quality.

Pure functions over values. Nothing here asks a store, a service or the clock.
"""

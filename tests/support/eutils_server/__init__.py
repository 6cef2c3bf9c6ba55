"""A local NCBI: an HTTP server that answers the E-utilities from real PubMed records.

It shares no line with the product, so it cannot share a bug with it. Read the modules in this order to learn how
PubMed behaves: days (dates), records (what a record says), catalogue (what exists, and when), fields and query (the
search language), endpoints (each utility), answers (bodies as NCBI writes them), faults (how they fail).
"""

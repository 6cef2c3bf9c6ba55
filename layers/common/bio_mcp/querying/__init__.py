"""Reading PubMed itself, live: searches, records, and what is related to what."""

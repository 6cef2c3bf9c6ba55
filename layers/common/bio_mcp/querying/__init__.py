"""Live queries of PubMed: searches, records, related articles, ids, full text. Nothing here touches the corpus."""

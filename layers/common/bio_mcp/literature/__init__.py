"""What a paper is: records, identifiers, PubMed XML, quality. Pure."""

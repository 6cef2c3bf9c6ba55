"""Check references: which record each one means, what differs, and whether that paper was retracted.

The ladder, from the cheapest step: ids that a reference states; the corpus, by its title; NCBI's matcher, by its
imprint; a search of PubMed, by its title and by its fields. A reference leaves the ladder where a record confirms it.
"""

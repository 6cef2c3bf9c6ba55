"""The sync that keeps the standing of every paper fresh, also of those that no query of the corpus finds any more."""

QUERY_KEY = "bio-mcp/retractions"  # no query of a stack's may have a stroke in its key

# Publication type and the words that PubMed indexes for CommentsCorrections; what `retraction_status` reads.
TERM = (
    '"Retracted Publication"[pt] OR hasretractionin OR haspartialretractionin OR hasretractedandrepublishedin '
    "OR hasexpressionofconcernin"
)

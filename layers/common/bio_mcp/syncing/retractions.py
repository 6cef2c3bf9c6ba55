"""The sync that updates the retraction status of every paper, also of papers that no query finds any more."""

QUERY_KEY = "bio-mcp/retractions"  # no query of a stack's may have a stroke in its key

# Publication type and the words that PubMed indexes for CommentsCorrections; what `retraction_status` reads.
TERM = (
    '"Retracted Publication"[pt] OR hasretractionin OR haspartialretractionin OR hasretractedandrepublishedin '
    "OR hasexpressionofconcernin"
)

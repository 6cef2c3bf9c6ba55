"""Finding papers for a question: workflows over ports."""

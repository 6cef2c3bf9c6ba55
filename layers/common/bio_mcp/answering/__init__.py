"""Finding papers and answering from them: workflows over ports."""

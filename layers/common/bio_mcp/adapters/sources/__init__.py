"""Where documents are read from, each place behind its guard."""
